#include "export_leftovers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "common/error.h"
#include "common/strings.h"

namespace faceter::worker {
namespace {

constexpr const char* record_name = "faceter_export.json";

/// A file that this program, sentence-transformers or transformers reads of a model's folder.
bool is_of_a_model(const fs::path& file) {
    constexpr std::array<std::string_view, 20> names = {"config.json",
                                                        "modules.json",
                                                        "config_sentence_transformers.json",
                                                        "sentence_bert_config.json",
                                                        "tokenizer.json",
                                                        "spiece.model",
                                                        "vocab.txt",
                                                        "special_tokens_map.json",
                                                        "added_tokens.json",
                                                        "vocab.json",
                                                        "merges.txt",
                                                        "tokenizer.model",
                                                        "sentencepiece.bpe.model",
                                                        "spm.model",
                                                        "faceter.json",
                                                        "adapter_config.json",
                                                        "router.json",
                                                        "tokenizer_config.json",
                                                        "model.safetensors.index.json",
                                                        "pytorch_model.bin"};
    const std::string name = file.filename().string(), kind = file.extension().string();
    return kind == ".safetensors" || kind.starts_with(".onnx") || std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the program looks there for parts of a model: "1_Pooling", "onnx", "adapters/0".
bool may_hold_parts(const fs::path& folder) {
    const std::string name = folder.filename().string();
    const bool numbered = !name.empty() && name[0] >= '0' && name[0] <= '9';
    return numbered || name == "onnx" || name == "adapters" || name == "gates" || name == "base" ||
           fs::exists(folder / "adapter_config.json") || folder.parent_path().filename() == "gates";
}

/// Of the export in a folder; null: none that can be read is there.
Json source_of(const fs::path& folder) try {
    return json_or<Json>(read_json(folder / record_name), "source", Json(), record_name);
} catch (const Error&) {
    return Json();
}

/// Files of a model below `place` that `staged` has none in place of; other exports in folders below are their own.
void collect(const fs::path& place, const fs::path& staged, std::vector<fs::path>& files) {
    for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
        const fs::path own = staged / entry.path().filename();
        if (entry.is_directory()) {
            if (may_hold_parts(entry.path()) && !fs::exists(entry.path() / record_name)) collect(entry.path(), own, files);
        } else if (is_of_a_model(entry.path()) && !fs::exists(own)) {
            files.push_back(entry.path());
        }
    }
}

/// A folder for each route goes below `place`: a model in it, of another run, would go on being the one that is read by its name.
void require_no_model_above(const fs::path& place, const fs::path& staged) {
    if (!fs::is_directory(place)) return;
    const auto run_of = [](const fs::path& folder) {
        const Json source = source_of(folder);
        return source.is_object() ? json_or<Json>(source, "run", Json(), record_name) : Json();
    };
    for (const fs::directory_entry& part : fs::directory_iterator(staged))
        if (part.is_directory() && fs::exists(part.path() / record_name) && run_of(part.path()) == run_of(place)) return;
    if (fs::exists(place / "config.json"))
        throw usage_error(
            "{}: holds another model, which would be read where this folder is named, beside the folders of this export; remove its "
            "files, or give another folder. Nothing was written",
            place.string());
}

void require_none_in(const fs::path& place, const fs::path& staged) {
    if (fs::is_directory(place) && source_of(place) != source_of(staged)) require_none_of_another_model(place, staged);
}

}  // namespace

void require_none_of_another_model(const fs::path& place, const fs::path& staged) {
    if (!fs::is_directory(place)) return;
    std::vector<fs::path> files;
    collect(place, staged, files);
    if (files.empty()) return;
    std::sort(files.begin(), files.end());
    std::vector<std::string> names;
    for (const fs::path& file : files) names.push_back(file.lexically_relative(place).string());
    throw usage_error(
        "{}: {} of another model there would be read with this one, which writes none in {} place; remove {}, or give another "
        "folder. Nothing was written",
        place.string(), join(names, ", "), names.size() == 1 ? "its" : "their", names.size() == 1 ? "it" : "them");
}

void require_no_leftovers(const fs::path& place, const fs::path& staged) {
    fs::exists(staged / record_name) ? require_none_in(place, staged) : require_no_model_above(place, staged);
    for (const fs::directory_entry& entry : fs::directory_iterator(staged))
        if (entry.is_directory() && fs::exists(entry.path() / record_name)) require_none_in(place / entry.path().filename(), entry.path());
}

}  // namespace faceter::worker
