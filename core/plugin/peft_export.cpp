#include "plugin/peft_export.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "checkpoint/native_config.h"
#include "common/error.h"
#include "common/file_name.h"
#include "common/strings.h"
#include "eval/embedder.h"
#include "plugin/model_writer.h"

namespace faceter {
namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

/// Names the base that an adapter is opened on by itself (AutoPeftModel): where it was trained beside the adapters, the start model is
/// another.
void belong_to(const fs::path& base, const fs::path& adapter) {
    const fs::path file = adapter / "adapter_config.json";
    Json config = read_json(file);
    config["base_model_name_or_path"] = base.string();
    write_file_atomic(file, config.dump(2) + "\n");
}

/// T5's checkpoints call the word embeddings "shared", and transformers reads words by another module that its weights are tied to, which
/// an adapter of "shared" does not reach.
bool changes_words_read_elsewhere(const Encoder& encoder) {
    const auto changes_words = [](const Adapter& adapter) {
        return std::any_of(adapter.tables.begin(), adapter.tables.end(),
                           [](const TableUpdate& update) { return update.place.which == EmbeddingTable::word; });
    };
    return !encoder.config().names.word_alias.empty() && std::any_of(encoder.adapters().begin(), encoder.adapters().end(), changes_words);
}

}  // namespace

PeftExport::PeftExport(const EmbeddingModel& model, fs::path folder) : model_(model), folder_(std::move(folder)) {
    if (model.encoders.size() > 1 || encoder().adapters().empty())
        throw usage_error("the model has no adapters, and --to peft writes those of task LoRA and the gates of a router; leave out --to");
    const auto& blocks = encoder().blocks();
    if (std::any_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.is_mixture(); }))
        throw usage_error("the model's blocks have task experts, which no base of PEFT can hold; leave out --to");
    if (renames_layers(model.folder.model_type) && !model.folder.config.contains("auto_map"))
        throw usage_error(
            "transformers calls the layers of a {} otherwise than its checkpoint does, and PEFT finds them by their names; leave out --to",
            model.folder.model_type);
    if (changes_words_read_elsewhere(encoder()))
        throw usage_error(
            "an adapter changes the word embeddings ({}), by whose name transformers does not read the words of a {}: in PEFT it would do "
            "nothing; leave out --to",
            encoder().config().names.word, model.folder.model_type);
}

fs::path PeftExport::adapter_folder(std::size_t index) const {
    const std::string name = safe_file_name(encoder().adapters()[index].name);
    return folder_ / (folder_ / name == base_folder() ? name + "-adapter" : name);
}

void PeftExport::write(std::unique_ptr<EmbeddingModel> base, const fs::path& place) const {
    Encoder& plain = *base->encoders.front();
    for (std::size_t i = plain.adapters().size(); i-- > 0;) plain.remove_adapter(i);
    base->router = nullptr;
    base->tasks.clear();
    base->routes.clear();
    base->folder.prompts = prompts_of_tasks(model_);
    base->folder.default_prompt.clear();
    make_directories(base_folder());
    write_model(base_folder(), *base);
    for (std::size_t i = 0; i < encoder().adapters().size(); ++i) {
        if (fs::exists(adapter_folder(i)))
            throw usage_error("two adapters would lie in {}; rename one", adapter_folder(i).filename().string());
        make_directories(adapter_folder(i));
        encoder().write_adapter(i, adapter_folder(i));
        belong_to(place.empty() ? base_folder() : place, adapter_folder(i));
    }
}

std::vector<PeftExport::Part> PeftExport::parts() const {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < encoder().adapters().size(); ++i) {
        const std::size_t before = parts.size();
        for (const auto& [key, route] : model_.routes)
            if (route.path.adapter == static_cast<int>(i))
                parts.push_back({i, key.first + "." + std::string(role_name(key.second)), route.instruction});
        if (parts.size() == before) parts.push_back({i, "", ""});
    }
    return parts;
}

std::map<std::string, std::string> PeftExport::uses() const {
    std::map<std::string, std::string> uses;
    for (const Part& part : parts()) {
        std::string& prompts = uses[adapter_folder(part.adapter).filename().string()];
        prompts += (prompts.empty() ? "" : ", ") + part.prompt;
    }
    return uses;
}

at::Tensor PeftExport::expected(const Part& part) const {
    return embed_texts(model_, views_of(export_check_texts()), {part.instruction, 0, Path::of_adapter(static_cast<int>(part.adapter))});
}

std::string PeftExport::text_name(const Part& part, std::size_t text) const {
    return export_text_name(text) + (part.prompt.empty() ? "" : " under " + part.prompt) + " through the adapter " +
           encoder().adapters()[part.adapter].name;
}

ExportDifference PeftExport::by_faceter() const {
    const auto opened = open_folder_model(base_folder());
    const std::map<std::string, std::string>& prompts = opened->folder.prompts;
    if (prompts != prompts_of_tasks(model_))
        throw failure("the prompts of the exported base are not the instructions of the model's tasks; nothing was left");
    Encoder& again = *opened->encoders.front();
    ExportDifference difference;
    difference.by = "faceter";
    for (const Part& part : parts()) {
        const std::size_t own = again.add_adapter("exported", AdapterFolder::open(adapter_folder(part.adapter)));
        const std::string instruction = part.prompt.empty() ? "" : opened->folder.prompt(part.prompt);
        const Route route{instruction, 0, Path::of_adapter(static_cast<int>(own))};
        const at::Tensor found = embed_texts(*opened, views_of(export_check_texts()), route), wanted = expected(part);
        for (std::int64_t row = 0; row < found.size(0); ++row)
            difference.compare(wanted[row], found[row], text_name(part, static_cast<std::size_t>(row)));
        difference.texts += static_cast<std::size_t>(found.size(0));
        again.remove_adapter(own);
    }
    return difference;
}

std::vector<std::size_t> PeftExport::texts_with_tokens(const Part& part) const {
    std::vector<std::size_t> texts;
    for (std::size_t t = 0; t < export_check_texts().size(); ++t) {
        std::vector<std::int32_t> ids;
        model_.tokenizer->encode(part.instruction + export_check_texts()[t], model_.max_length, ids);
        if (!ids.empty()) texts.push_back(t);
    }
    return texts;
}

std::optional<ExportDifference> PeftExport::by_peft(std::string& why) const {
    const std::vector<Part> all = parts();
    std::vector<std::vector<std::size_t>> asked;  // texts of each
    Json request = Json::array();
    for (const Part& part : all) {
        asked.push_back(texts_with_tokens(part));
        Json texts = Json::array();
        for (const std::size_t text : asked.back()) texts.push_back(export_check_texts()[text]);
        request.push_back({{"prompt_name", part.prompt.empty() ? Json() : Json(part.prompt)},
                           {"texts", texts},
                           {"adapter", adapter_folder(part.adapter).string()}});
    }
    const auto answer = ask_sentence_transformers(base_folder(), request, why);
    if (!answer) return std::nullopt;
    ExportDifference difference;
    difference.by = "peft " + answer->peft_version;
    for (std::size_t p = 0; p < all.size(); ++p) {
        const at::Tensor wanted = expected(all[p]);
        for (std::size_t row = 0; row < asked[p].size(); ++row)
            difference.compare(wanted[static_cast<std::int64_t>(asked[p][row])], at::tensor(answer->vectors[p].at(row)),
                               text_name(all[p], asked[p][row]));
        difference.texts += asked[p].size();
    }
    return difference;
}

ExportProof PeftExport::prove(const Json& source, const ExportStep& step) const {
    ExportRecord record;
    step("opening it again and comparing");
    record.take(by_faceter(), {});
    step("comparing in PEFT");
    std::string why = "its pooling leaves the instruction's tokens out";
    const auto difference = model_.folder.include_prompt ? by_peft(why) : std::nullopt;
    difference ? record.take(*difference, {}) : record.miss("peft", why);
    return record.write(folder_, source);
}

}  // namespace faceter
