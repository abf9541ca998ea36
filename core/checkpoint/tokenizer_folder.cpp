#include "checkpoint/tokenizer_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/file.h"
#include "common/json.h"
#include "common/json_document.h"
#include "text/token_roles.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_json.h"

namespace faceter {
namespace {

constexpr std::array files = {"tokenizer.json",  "vocab.txt", "sentencepiece.bpe.model", "spiece.model", "spm.model",
                              "tokenizer.model", "vocab.json"};

bool has_tokenizer(const fs::path& folder) {
    std::error_code ignored;
    return std::any_of(files.begin(), files.end(), [&](const char* name) { return fs::exists(folder / name, ignored); });
}

fs::path folder_above(const fs::path& folder) {
    const fs::path own = absolute_path(folder);
    return own.filename().empty() ? own.parent_path().parent_path() : own.parent_path();
}

struct TokenizerClass {
    std::string name;    ///< without "Fast"; empty where tokenizer.json counts as it is
    bool asked = false;  ///< another would be taken if the files named it
};

/// That of transformers 5 for a folder (AutoTokenizer.from_pretrained).
TokenizerClass class_of(const fs::path& folder) {
    constexpr std::uint64_t max_config_bytes = 16u << 20;
    const auto said = [&](const char* file, const char* key) {
        const fs::path path = folder / file;
        if (!fs::exists(path)) return std::string();
        const Json json = read_json(path, max_config_bytes);
        return json.is_object() ? json_or(json, key, std::string(), path.string()) : std::string();
    };
    const std::string type = said("config.json", "model_type");
    if (type == "qwen2") return {"Qwen2Tokenizer"};  // whatever the files name
    if (type == "modernbert" || type == "mistral") return {};
    std::string named = said("tokenizer_config.json", "tokenizer_class");
    if (named.empty()) named = class_of_model(folder);
    return {named.ends_with("Fast") ? named.substr(0, named.size() - 4) : named, true};
}

bool has(const JsonElement& object, std::string_view key, std::string_view value, std::string_view name) {
    return member_or(object, key, std::string_view(), name) == value;
}

/// The only step, or those of a Sequence; none where there is nothing.
std::vector<JsonElement> steps_of(const JsonElement& root, std::string_view part, std::string_view list, std::string_view name) {
    JsonElement step, members;
    if (!find_member(root, part, step)) return {};
    simdjson::dom::array several;
    if (!has(step, "type", "Sequence", name) || !find_member(step, list, members) || members.get(several)) return {step};
    return {several.begin(), several.end()};
}

bool is_byte_level(const JsonElement& step, bool use_regex, std::string_view name) {
    return has(step, "type", "ByteLevel", name) && member_or(step, "use_regex", true, name) == use_regex;
}

bool has_steps_of_qwen2(const JsonElement& root, std::string_view name) {
    constexpr std::string_view words =
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    const auto normal = steps_of(root, "normalizer", "normalizers", name), steps = steps_of(root, "pre_tokenizer", "pretokenizers", name);
    JsonElement pattern;
    return normal.size() == 1 && has(normal[0], "type", "NFC", name) && steps.size() == 2 && has(steps[0], "type", "Split", name) &&
           find_member(steps[0], "pattern", pattern) && has(pattern, "Regex", words, name) && has(steps[0], "behavior", "Isolated", name) &&
           !member_or(steps[0], "invert", false, name) && is_byte_level(steps[1], false, name);
}

bool has_steps_of_gpt2(const JsonElement& root, std::string_view name) {
    const auto steps = steps_of(root, "pre_tokenizer", "pretokenizers", name);
    return steps_of(root, "normalizer", "normalizers", name).empty() && steps.size() == 1 && is_byte_level(steps[0], true, name);
}

/// Spaces become U+2581; the split at spaces that follows finds none, so a file without it gives the same ids.
bool has_steps_of_gemma(const JsonElement& root, std::string_view name) {
    const auto normal = steps_of(root, "normalizer", "normalizers", name), steps = steps_of(root, "pre_tokenizer", "pretokenizers", name);
    JsonElement replaced, split;
    return normal.size() == 1 && has(normal[0], "type", "Replace", name) && find_member(normal[0], "pattern", replaced) &&
           has(replaced, "String", " ", name) && has(normal[0], "content", "\u2581", name) &&
           (steps.empty() || (steps.size() == 1 && has(steps[0], "type", "Split", name) && find_member(steps[0], "pattern", split) &&
                              has(split, "String", " ", name)));
}

/// U+2581 in the place of spaces by one step of its own; files of transformers 4 put it in front of the text as a normalizer, which also
/// reaches what stands behind a special token.
bool has_steps_of_llama(const JsonElement& root, const fs::path& folder, std::string_view name) {
    const auto steps = steps_of(root, "pre_tokenizer", "pretokenizers", name);
    if (!steps_of(root, "normalizer", "normalizers", name).empty() || steps.size() != 1) return false;
    const fs::path path = folder / "tokenizer_config.json";
    const Json config = fs::exists(path) ? read_json(path, max_tokenizer_bytes) : Json::object();
    const bool prefixed = json_or(config, "add_prefix_space", Json(), path.string()) != Json(false);
    const char* scheme = !prefixed ? "never" : json_or(config, "legacy", false, path.string()) ? "always" : "first";
    return has(steps[0], "type", "Metaspace", name) && has(steps[0], "replacement", "\u2581", name) &&
           has(steps[0], "prepend_scheme", scheme, name) && !member_or(steps[0], "split", true, name);
}

/// No map of characters (NFKC) in front of the model, which the files of transformers 4 have.
bool has_steps_of_deberta(const JsonElement& root, std::string_view name) {
    auto steps = steps_of(root, "normalizer", "normalizers", name);
    if (!steps.empty() && has(steps.front(), "type", "Lowercase", name)) steps.erase(steps.begin());
    JsonElement replaced;
    return steps.size() == 3 && has(steps[0], "type", "Replace", name) && find_member(steps[0], "pattern", replaced) &&
           has(replaced, "Regex", R"(\s{2,}|[\n\r\t])", name) && has(steps[0], "content", " ", name) &&
           has(steps[1], "type", "NFC", name) && has(steps[2], "type", "Strip", name) && !member_or(steps[2], "strip_left", true, name);
}

}  // namespace

fs::path tokenizer_home(const fs::path& encoder_folder) {
    if (has_tokenizer(encoder_folder)) return encoder_folder;
    const fs::path above = folder_above(encoder_folder);
    std::error_code ignored;
    return has_tokenizer(above) && fs::exists(above / "config.json", ignored) ? above : encoder_folder;
}

std::optional<std::string> remark_on_home(const fs::path& encoder_folder) {
    const fs::path home = tokenizer_home(encoder_folder);
    if (home == encoder_folder) return std::nullopt;
    return fmt::format("{}: has no tokenizer; that of {} is used, with its pooling and prompts", encoder_folder.string(), home.string());
}

std::optional<std::string> remark_on_steps(const fs::path& encoder_folder) {
    const fs::path folder = tokenizer_home(encoder_folder), path = folder / "tokenizer.json";
    if (!fs::exists(path)) return std::nullopt;
    const TokenizerClass kind = class_of(folder);
    const std::string name = path.string();
    const bool qwen2 = kind.name == "Qwen2Tokenizer";
    const bool gemma = kind.name == "GemmaTokenizer";
    const bool bert = kind.name == "BertTokenizer" || kind.name == "DistilBertTokenizer" || kind.name == "MPNetTokenizer";
    const bool deberta = kind.name == "DebertaV2Tokenizer";
    const bool llama = kind.name == "LlamaTokenizer";
    if (!qwen2 && !gemma && !bert && !deberta && !llama && kind.name != "RobertaTokenizer" && kind.name != "GPT2Tokenizer")
        return std::nullopt;
    const std::string text = read_file(path, max_tokenizer_bytes);
    bool same = true;
    if (bert)
        same = tokenizer_json_kind(text, name) != "WordPiece of steps";
    else
        with_json_document(text, name, [&](const JsonElement root) {
            JsonElement model;
            const bool its_kind = find_member(root, "model", model) && has(model, "type", deberta ? "Unigram" : "BPE", name);
            same = !its_kind || (qwen2     ? has_steps_of_qwen2(root, name)
                                 : gemma   ? has_steps_of_gemma(root, name)
                                 : deberta ? has_steps_of_deberta(root, name)
                                 : llama   ? has_steps_of_llama(root, folder, name)
                                           : has_steps_of_gpt2(root, name));
        });
    if (same) return std::nullopt;
    return fmt::format(
        "{}: its normalizer or pre_tokenizer is not that of {}, the class that transformers 5 and sentence-transformers take for this "
        "folder; they put that class's steps in its place and give other ids for some texts. The file is followed here{}",
        name, kind.name,
        kind.asked ? "; to have its ids there, name PreTrainedTokenizerFast in tokenizer_config.json (tokenizer_class)" : "");
}

}  // namespace faceter
