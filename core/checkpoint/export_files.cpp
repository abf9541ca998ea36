#include <array>

#include "checkpoint/model_folder.h"
#include "checkpoint/tokenizer_folder.h"
#include "common/error.h"
#include "common/file.h"
#include "text/tokenizer_ends.h"

namespace faceter {
namespace {

/// Whatever of these lies in a model folder belongs to its tokenizer.
constexpr std::array tokenizer_files = {"tokenizer.json",
                                        "tokenizer_config.json",
                                        "vocab.txt",
                                        "special_tokens_map.json",
                                        "added_tokens.json",
                                        "spiece.model",
                                        "sentencepiece.bpe.model",
                                        "tokenizer.model",
                                        "spm.model",
                                        "vocab.json",
                                        "merges.txt"};

/// Without the code that a release names for its tokenizer: its files are not written, and the ends that it adds are in tokenizer.json.
std::string without_code(const fs::path& source) {
    const std::string text = read_file(source);
    if (text.find("\"auto_map\"") == std::string::npos) return text;
    Json config = parse_json(text, source.string());
    return config.is_object() && config.erase("auto_map") > 0 ? config.dump(2) + "\n" : text;
}

/// A folder for this program alone is read here as the model in memory, whose router's gates are held against its tokenizer.
std::string tokenizer_file(const fs::path& source, const ModelFolder& like) {
    if (source.filename() == "tokenizer.json") return tokenizer_json_with_ends(source.parent_path());
    const bool is_config = source.filename() == "tokenizer_config.json" && fs::exists(source.parent_path() / "tokenizer.json");
    return is_config && !like.only_faceter ? without_code(source) : read_file(source);
}

void write_json(const fs::path& path, const Json& json) { write_file_atomic(path, json.dump(2) + "\n"); }

/// In the spelling that every version of sentence-transformers from 2 on reads.
Json modules(const ModelFolder& model) {
    Json list = Json::array();
    const auto add = [&](const std::string& path, const std::string& type) {
        list.push_back({{"idx", list.size()}, {"name", std::to_string(list.size())}, {"path", path}, {"type", type}});
    };
    const std::string theirs = "sentence_transformers.models.";
    if (model.only_faceter) add("", own_module_type);  // the first: nothing is loaded before it is refused
    add("", theirs + "Transformer");
    add("1_Pooling", theirs + "Pooling");
    for (const DenseModule& dense : model.dense) add(dense.name, theirs + "Dense");
    if (model.normalize) add(std::to_string(list.size()) + "_Normalize", theirs + "Normalize");
    return list;
}

Json dense_config(const DenseModule& dense) {
    return {{"in_features", dense.in_features},
            {"out_features", dense.out_features},
            {"bias", dense.bias},
            {"activation_function", dense.tanh ? "torch.nn.modules.activation.Tanh" : "torch.nn.modules.linear.Identity"}};
}

std::int64_t embedding_dim(const ModelFolder& model) {
    for (const char* key : {"hidden_size", "d_model", "n_embd", "dim"})
        if (model.config.contains(key)) return json_at<std::int64_t>(model.config, key, "config.json");
    throw data_error("{}: config.json gives no hidden_size, so the pooling configuration cannot be written", model.folder.string());
}

Json pooling_config(const ModelFolder& model) {
    return {{"word_embedding_dimension", embedding_dim(model)},
            {"pooling_mode_cls_token", model.pooling == Pooling::cls},
            {"pooling_mode_mean_tokens", model.pooling == Pooling::mean},
            {"pooling_mode_max_tokens", model.pooling == Pooling::max},
            {"pooling_mode_mean_sqrt_len_tokens", model.pooling == Pooling::mean_sqrt_length},
            {"pooling_mode_weightedmean_tokens", model.pooling == Pooling::weighted_mean},
            {"pooling_mode_lasttoken", model.pooling == Pooling::last_token},
            {"include_prompt", model.include_prompt}};
}

Json sentence_transformers_config(const ModelFolder& model) {
    Json prompts = Json::object();
    for (const auto& [name, prompt] : model.prompts) prompts[name] = prompt;
    return {{"__version__", {{"sentence_transformers", "3.0.0"}}},
            {"prompts", prompts},
            {"default_prompt_name", model.default_prompt.empty() ? Json() : Json(model.default_prompt)},
            {"similarity_fn_name", similarity_name(model.similarity)}};
}

}  // namespace

void write_sentence_transformers_files(const std::filesystem::path& out, const ModelFolder& like) {
    write_json(out / "config.json", like.config);
    write_json(out / "modules.json", modules(like));
    make_directories(out / "1_Pooling");
    write_json(out / "1_Pooling" / "config.json", pooling_config(like));
    for (const DenseModule& dense : like.dense) {
        make_directories(out / dense.name);
        write_json(out / dense.name / "config.json", dense_config(dense));
    }
    write_json(out / "sentence_bert_config.json", {{"max_seq_length", like.max_seq_length}, {"do_lower_case", like.lowercase_first}});
    write_json(out / "config_sentence_transformers.json", sentence_transformers_config(like));
    const fs::path home = tokenizer_home(like.encoder_folder);
    for (const char* name : tokenizer_files)
        if (const fs::path source = home / name; fs::exists(source)) write_file_atomic(out / name, tokenizer_file(source, like));
}

}  // namespace faceter
