#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "checkpoint/tokenizer_folder.h"
#include "commands.h"
#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/inner_path.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/strings.h"
#include "compare/model_card.h"
#include "machine.h"
#include "memory_need.h"
#include "named_model.h"
#include "start_folder.h"

namespace faceter::worker {
namespace {

std::string positions_of(const EncoderConfig& config) {
    std::vector<std::string> kinds;
    if (config.max_positions > 0) kinds.emplace_back("absolute");
    if (config.rotary_dim > 0) kinds.emplace_back("rotary");
    if (config.relative_buckets > 0) kinds.emplace_back("relative");
    if (config.disentangled.span > 0) kinds.emplace_back("disentangled");
    return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, " and "));
}

/// What a token sees: those before it alone, or both sides; in how many blocks no further than a window.
Json describe_attention(const EncoderConfig& config) {
    Json attention = {{"causal", config.reach.after == 0}, {"positions", positions_of(config)}};
    const auto windows = std::count(config.local.begin(), config.local.end(), true);
    attention["windowed_blocks"] = windows;
    if (windows > 0) attention.update({{"tokens_before", config.local_reach.before}, {"tokens_after", config.local_reach.after}});
    return attention;
}

/// Its own, or of the model that its run began with.
std::string licence_of_opened(const OpenedModel& opened) {
    const fs::path folder = opened.run ? opened.run->folder() : opened.model->folder.folder;
    const std::string own = licence_of(folder);
    return own.empty() ? licence_of(first_start(folder)) : own;
}

Json describe_model(const OpenedModel& opened, bool tensors) {
    const EmbeddingModel& model = *opened.model;
    const EncoderConfig& config = model.encoders.front()->config();
    Json mixtures = Json::array();
    for (std::size_t i = 0; i < model.encoders.front()->blocks().size(); ++i)
        if (const Block& block = model.encoders.front()->blocks()[i]; block.is_mixture())
            mixtures.push_back({{"block", i}, {"experts", block.experts.size()}});
    Json adapters = Json::array();
    for (const Adapter& adapter : model.encoders.front()->adapters())
        adapters.push_back({{"name", adapter.name}, {"rank", adapter.config.rank}});
    Json routes = Json::array();
    for (const auto& [key, route] : model.routes)
        routes.push_back({{"task", key.first},
                          {"role", role_name(key.second)},
                          {"instruction", route.instruction},
                          {"encoder", route.encoder},
                          {"expert", route.path.expert},
                          {"adapter", route.path.adapter},
                          {"routed", route.routed}});
    Json described = {{"folder", model.folder.folder.string()},
                      {"type", model.folder.model_type},
                      {"layers", config.num_layers},
                      {"hidden_dim", config.hidden_dim},
                      {"heads", config.num_heads},
                      {"key_heads", config.num_key_heads},
                      {"head_dim", config.head_dim},
                      {"intermediate_dim", config.intermediate_dim},
                      {"attention", describe_attention(config)},
                      {"vocabulary", config.vocab_size},
                      {"max_length", model.max_length},
                      {"pooling", pooling_name(model.folder.pooling)},
                      {"normalised", model.folder.normalize},
                      {"encoders", model.encoders.size()},
                      {"mixture_blocks", mixtures},
                      {"routes", routes},
                      {"prompts", model.folder.prompts},
                      {"default_prompt", model.folder.default_prompt},
                      {"licence", licence_of_opened(opened)},
                      {"memory_to_embed", memory_to_embed(model)},
                      {"memory_to_train", memory_to_train(model)},
                      {"adapters", adapters}};
    std::vector<std::string> remarks = config.remarks;
    if (const auto remark = remark_on_home(model.folder.encoder_folder)) remarks.push_back(*remark);
    if (const auto remark = remark_on_steps(model.folder.encoder_folder)) remarks.push_back(*remark);
    if (!remarks.empty()) described["remarks"] = fmt::format("{}", fmt::join(remarks, " "));
    described.update(model_measurements(model));
    if (tensors) {
        described["tensors"] = Json::array();
        for (const NamedTensor& t : model.named_tensors())
            described["tensors"].push_back({{"name", t.name}, {"shape", t.tensor.sizes().vec()}});
    }
    return described;
}

/// What becomes of its products with --compute: how near the vectors come on a sample, and what is kept from it for that.
Json describe_compute(const ComputeReport& report) {
    return {{"compute", compute_name(report.compute)},   {"native", report.native}, {"products", report.num_products},
            {"smallest_cosine", report.smallest_cosine}, {"kept", report.kept},     {"kept_in", report.kept_in}};
}

/// Files of an export that are not those that were verified; nothing where the folder is none.
std::optional<std::vector<std::string>> changed_since_export(const fs::path& folder) {
    const fs::path file = folder / "faceter_export.json";
    if (!fs::exists(file)) return std::nullopt;
    const Json record = read_json(file);
    std::vector<std::string> changed;
    for (const char* kind : {"weights_sha256", "files_sha256"}) {  // the others' are not in records of version 0.1
        const Json hashes = json_or<Json>(record, kind, Json::object(), file.string());
        for (const auto& [name, hash] : hashes.items()) {
            const fs::path path = name;
            if (!is_inner_path(path)) throw data_error("{}: the path {} leaves the folder", file.string(), faceter::quoted(name));
            if (!fs::is_regular_file(folder / path))
                changed.push_back(name + " (missing)");
            else if (hash != sha256_file(folder / path))
                changed.push_back(name);
        }
    }
    return changed;
}

std::string plain(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void print_text(const Json& described) {
    for (const auto& [key, value] : described.items()) {
        if (!value.is_array()) {
            say(stdout, "{:24} {}\n", key, plain(value));
            continue;
        }
        if (!value.empty()) say(stdout, "{}\n", key);
        for (const Json& entry : value) {
            std::string line = "   ";
            for (const auto& [k, v] : entry.items()) line += fmt::format(" {}={}", k, plain(v));
            say(stdout, "{}\n", line);
        }
    }
}

}  // namespace

void add_describe(CLI::App& app, int& exit_code) {
    struct Options {
        ModelOptions model;
        bool json = false, tensors = false;
    };
    const auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("describe", "Print what a model or a run is made of: sizes, experts, routes, cost.");
    command->footer("Example:\n  faceter describe --model minilm\n  faceter describe --model minilm --compute int8");
    add_model_options(*command, options->model, false);
    add_compute_option(*command, options->model);
    command->add_flag("--json", options->json, "Print JSON");
    command->add_flag("--tensors", options->tensors, "List every tensor with its shape");
    command->callback([=, &exit_code] {
        OpenedModel opened = open_model(options->model, false);
        Json described = describe_model(opened, options->tensors);
        if (options->model.compute != "float32")
            described["computed"] = Json::array({describe_compute(prepare_to_embed(opened, options->model, false))});
        const fs::path folder = opened.model->folder.folder;
        const auto changed = changed_since_export(folder);
        if (changed) described["as_exported"] = changed->empty();
        if (options->json)
            fmt::print("{}\n", json_text(described, 1));
        else
            print_text(described);
        if (changed && !changed->empty())
            throw data_error(
                "{}: is not the export that was verified: {} changed since; copy the folder again, or export the run again. Where the "
                "change was wanted, remove faceter_export.json",
                folder.string(), join(*changed, ", "));
        exit_code = 0;
    });
}

}  // namespace faceter::worker
