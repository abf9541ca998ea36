#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/safetensors.h"

#include "common/hash.h"
#include "conform/broken.h"
#include "conform/cell.h"

// What holds of a trained run: scores, embeddings of every route, and the folders that it is exported to.

namespace faceter::conform {
namespace {

constexpr double same_text = 1e-6, same_model = 1e-6, same_in_peer = 1e-5;

std::string line(const std::vector<std::string>& arguments) {
    std::string text = "faceter embed";
    for (const std::string& argument : arguments) text += " " + argument;
    return text;
}

void require(double apart, double bound, const std::string& what, const std::string& command) {
    if (!(apart <= bound)) throw Broken{fmt::format("{}: apart by {:.2g} (bound {:.2g})", what, apart, bound), command};
}

std::vector<std::string> of_folder(const fs::path& folder, const std::string& prompt) {
    std::vector<std::string> model = {"--model", folder.string()};
    if (!prompt.empty()) model.insert(model.end(), {"--task", prompt});
    return model;
}

/// The folder itself says so: a module that sentence-transformers does not know.
bool only_ours(const fs::path& folder) { return read_file(folder / "modules.json").find("faceter.") != std::string::npos; }

}  // namespace

/// `faceter evaluate` of the run gives what the run itself was scored with.
void Cell::evaluate() {
    const Outcome outcome =
        laboratory_.programs.faceter({"evaluate", "--model", first_->info().id, "--project", project_.string(), "--threads", "1", "--json",
                                      "--data", laboratory_.texts.similar.string(), "--data", laboratory_.texts.classes.string()});
    if (outcome.code != 0) throw Broken{outcome.said(), outcome.command};
    for (const Json& set : parse_json(outcome.out, "faceter evaluate").at("datasets")) {
        const std::string name = set.at("name");
        const double own = read_json(first_->results() / (name + ".json")).at("score").get<double>(), score = set.at("score").get<double>();
        if (!std::isfinite(score) || std::abs(own - score) > 1e-6)
            throw Broken{fmt::format("{} scores {} here and {} in the run", name, score, own), outcome.command};
    }
}

void Cell::embed_routes() {
    std::map<std::string, Embeddings> all;
    for (const Route& route : routes()) all[route.task] = embed(of_run(route.task), laboratory_.texts.to_embed);
    const Embeddings& first = all.begin()->second;
    for (const auto& [task, embeddings] : all)
        if (embeddings.dim != first.dim) throw Broken{fmt::format("{} has {} elements, another {}", task, embeddings.dim, first.dim), ""};
    embeddings_ = std::move(all);
}

/// Under a route drawn for the cell: all texts in the opposite order, and an ordinary, the empty and the longest text by themselves.
void Cell::company() {
    const Route& route = routes()[hash64(result_.name()) % routes().size()];
    const Embeddings& together = embeddings_.at(route.task);
    const std::vector<std::string>& texts = laboratory_.texts.to_embed;
    const Embeddings turned = embed(of_run(route.task), {texts.rbegin(), texts.rend()});
    for (std::size_t i = 0; i < texts.size(); ++i)
        require(row_difference(together, i, turned, texts.size() - 1 - i), same_text,
                fmt::format("text {} of {}, behind and before the others", i + 1, texts.size()), line(of_run(route.task)));
    for (const std::size_t i : {std::size_t{0}, texts.size() - 3, texts.size() - 2, texts.size() - 1})
        require(row_difference(together, i, embed(of_run(route.task), {texts[i]}), 0), same_text,
                fmt::format("text {} of {}, alone and in company", i + 1, texts.size()), line(of_run(route.task)));
}

std::vector<Cell::Exported> Cell::exported_routes(const fs::path& out) const {
    const fs::path file = out / "config_sentence_transformers.json";
    const Json prompts = fs::exists(file) ? json_or<Json>(read_json(file), "prompts", Json::object(), file.string()) : Json::object();
    std::vector<Exported> all;
    for (const Route& route : routes()) {
        if (const fs::path own = out / route.prompt; fs::is_directory(own))
            all.push_back({own, route.task, ""});
        else
            all.push_back({out, route.task, prompts.contains(route.prompt) ? route.prompt : ""});
    }
    return all;
}

bool Cell::has_routed_blocks() const {
    const SafetensorsFile weights(first_->folder() / "model/model.safetensors");
    return std::any_of(weights.tensors().begin(), weights.tensors().end(),
                       [](const TensorInfo& tensor) { return tensor.name.ends_with("mlp.router.layer.weight"); });
}

/// An exported folder embeds as the run does. Token-routed blocks have no form outside of this program but NomicBERT's: export may refuse
/// them.
void Cell::export_folders() {
    const fs::path out = folder_ / "exported";
    const Outcome outcome = laboratory_.programs.faceter({"export", first_->info().id, out.string(), "--project", project_.string()});
    if (outcome.code == 4 && has_routed_blocks()) {
        result_.limits["export"] = outcome.err;
        return;
    }
    if (outcome.code != 0) throw Broken{outcome.said(), outcome.command};
    exported_ = exported_routes(out);
    for (const Exported& route : exported_) {
        const std::vector<std::string> model = of_folder(route.folder, route.prompt);
        require(difference(embeddings_.at(route.task), embed(model, laboratory_.texts.to_embed)), same_model,
                fmt::format("the exported {} and the run", route.task), outcome.command + " && " + line(model));
    }
}

/// sentence-transformers gives the same embeddings. A folder that it cannot hold (one that says so; token-routed blocks, for which it has
/// released checkpoints' remote code alone) it must refuse: never answer as another model.
void Cell::compare_with_peer() {
    const bool routed = has_routed_blocks();
    for (const Exported& route : exported_) {
        const Json answer = laboratory_.peer(route.folder, route.prompt, laboratory_.texts.to_embed);
        const std::string command =
            fmt::format("SentenceTransformer('{}').encode(texts, prompt_name='{}')", route.folder.string(), route.prompt);
        if (answer.contains("error")) {
            if (!routed && !only_ours(route.folder)) throw Broken{answer.at("error").get<std::string>(), command};
            result_.limits["peers"] = "sentence-transformers cannot hold the exported folder, and refuses it";
        } else {
            require(difference(embeddings_.at(route.task), Embeddings::of_json(answer.at("embeddings"))), same_in_peer,
                    fmt::format("sentence-transformers on the exported {} and the run", route.task), command);
        }
    }
}

}  // namespace faceter::conform
