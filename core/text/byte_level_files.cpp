#include <algorithm>

#include "common/error.h"
#include "common/file.h"
#include "common/json_document.h"
#include "common/strings.h"
#include "text/bpe.h"
#include "text/own_files.h"
#include "text/tokenizer_json.h"

namespace faceter {
namespace {

Vocabulary read_vocab_json(std::string_view text, std::string_view name) {
    Vocabulary vocabulary;
    with_json_document(text, name, [&](const JsonElement& root) {
        simdjson::dom::object pieces;
        if (root.get(pieces)) throw data_error("{}: is not a JSON object of pieces and their ids", name);
        for (const auto& [piece, id] : pieces) vocabulary.emplace_back(piece, to_id(id, piece, name));
    });
    if (vocabulary.empty()) throw data_error("{}: is empty", name);
    return vocabulary;
}

/// A merge a line, best first; the first line may be a comment.
std::vector<std::pair<std::string, std::string>> read_merges(std::string_view text, std::string_view name) {
    if (!is_valid_utf8(text)) throw data_error("{}: is not UTF-8; a merges.txt is a text file with a merge a line", name);
    std::vector<std::pair<std::string, std::string>> merges;
    std::size_t number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with("#version")) continue;
        const auto parts = split(line, ' ');
        if (parts.size() != 2 || parts[0].empty() || parts[1].empty())
            throw data_error("{}:{}: {} is not two pieces with a blank between", name, number, faceter::quoted(line));
        merges.emplace_back(parts[0], parts[1]);
    }
    return merges;
}

std::int32_t id_of(const Vocabulary& vocabulary, std::string_view piece) {
    const auto found = std::find_if(vocabulary.begin(), vocabulary.end(), [&](const auto& entry) { return entry.first == piece; });
    return found == vocabulary.end() ? -1 : found->second;
}

/// The tokens that the configuration lists, else those with a role; RoBERTa's mask takes the blank in front of it.
std::vector<AddedToken> added_tokens(const fs::path& folder, const TokenRoles& roles) {
    std::vector<AddedToken> tokens;
    if (const fs::path path = folder / "tokenizer_config.json"; fs::exists(path))
        with_json_document(read_file(path, 16u << 20), path.string(),
                           [&](const JsonElement& config) { tokens = read_added_tokens_decoder(config, path.string()); });
    if (!tokens.empty()) return tokens;
    std::vector<std::string> names{roles.bos_token, roles.eos_token};
    names.insert(names.end(), roles.tokens.begin(), roles.tokens.end());
    for (const std::string& name : names) {
        const bool known = std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& token) { return token.content == name; });
        if (name.empty() || known) continue;
        tokens.push_back(special_token(name));
        tokens.back().lstrip = name == "<mask>";
    }
    return tokens;
}

/// Whose tokenizer it is: the class that the configuration names, else what the vocabulary looks like.
enum class Family { roberta, gpt2, qwen2 };

Family family_of(const TokenRoles& roles, const Vocabulary& vocabulary, std::string_view name) {
    const std::string& klass = roles.tokenizer_class;
    const auto is = [&](std::string_view part) { return klass.find(part) != std::string::npos; };
    if (is("Roberta") || is("Longformer") || is("Bart")) return Family::roberta;
    if (is("Qwen2")) return Family::qwen2;
    if (is("GPT2")) return Family::gpt2;
    if (!klass.empty() && !klass.starts_with("PreTrainedTokenizer") && klass != "TokenizersBackend")
        throw data_error("{}: the tokenizer class {} is not supported without a tokenizer.json; RoBERTa's, GPT-2's and Qwen2's are", name,
                         faceter::quoted(klass));
    return id_of(vocabulary, "<s>") >= 0 && id_of(vocabulary, "</s>") >= 0 ? Family::roberta : Family::gpt2;
}

SpecialIds roberta_ids(const TokenRoles& roles, const Vocabulary& vocabulary, std::string_view name) {
    const auto id = [&](const std::string& given, const char* usual) {
        const std::string token = given.empty() ? usual : given;
        const std::int32_t found = id_of(vocabulary, token);
        if (found < 0) throw data_error("{}: the special token {} is not in the vocabulary", name, faceter::quoted(token));
        return found;
    };
    return {{id(roles.tokens[2], "<s>")}, {id(roles.tokens[3], "</s>")}};
}

}  // namespace

PipelineSettings read_byte_level_tokenizer(std::string_view vocabulary, std::string_view merges, const std::filesystem::path& folder,
                                           const TokenRoles& roles) {
    const std::string name = (folder / "vocab.json").string();
    PipelineSettings settings;
    BpeSettings bpe;
    bpe.vocabulary = read_vocab_json(vocabulary, name);
    bpe.merges = read_merges(merges, (folder / "merges.txt").string());
    bpe.byte_chars = true;
    if (!roles.tokens[1].empty()) bpe.unk_token = roles.tokens[1];
    const Family family = family_of(roles, bpe.vocabulary, name);
    settings.vocabulary = bpe.vocabulary;
    settings.added_tokens = added_tokens(folder, roles);
    if (family == Family::roberta) settings.special = roberta_ids(roles, bpe.vocabulary, name);
    if (family == Family::qwen2) settings.normalizers.add(make_unicode_form(UnicodeForm::nfc));
    if (roles.add_prefix_space && family != Family::qwen2) settings.pre_tokenizers.push_back(make_prefix_space());
    const WordPattern words = family == Family::qwen2 ? WordPattern::single : WordPattern::gpt2;
    settings.pre_tokenizers.push_back(make_word_split(words, SplitBehavior::isolated, false));
    settings.model = std::make_unique<BpeModel>(std::move(bpe), name);
    settings.description = fmt::format("byte level 1 {} {}\n", static_cast<int>(family), roles.add_prefix_space);
    for (const AddedToken& token : settings.added_tokens)
        settings.description +=
            fmt::format("{}\t{}{}{}{}\n", token.content, token.lstrip, token.rstrip, token.single_word, token.normalized);
    settings.description.append(vocabulary).append(merges);
    return settings;
}

}  // namespace faceter
