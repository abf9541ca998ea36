#include "text/token_roles.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/error.h"
#include "common/file.h"
#include "common/json_document.h"
#include "text/piece_trie.h"
#include "text/tokenizer_json.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_config_bytes = 16u << 20;

/// What transformers' classes name by themselves, by a part of the class's name; the first that fits counts.
struct ClassDefaults {
    std::string_view part;
    std::array<std::string_view, 5> tokens;
    std::string_view bos, eos;
};
constexpr std::array<ClassDefaults, 10> class_defaults = {{
    {"Roberta", {"<pad>", "<unk>", "<s>", "</s>", "<mask>"}, "<s>", "</s>"},  // XLMRoberta too
    {"Camembert", {"<pad>", "<unk>", "<s>", "</s>", "<mask>"}, "<s>", "</s>"},
    {"MPNet", {"<pad>", "[UNK]", "<s>", "</s>", "<mask>"}, "<s>", "</s>"},
    {"T5", {"<pad>", "<unk>", "", "", ""}, "", "</s>"},
    {"Albert", {"<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"}, "[CLS]", "[SEP]"},
    {"Deberta", {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}, "[CLS]", "[SEP]"},
    {"Bert", {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}, "", ""},
    {"Llama", {"", "<unk>", "", "", ""}, "<s>", "</s>"},
    {"GPT2", {"", "<|endoftext|>", "", "", ""}, "<|endoftext|>", "<|endoftext|>"},
    {"Qwen2", {"<|endoftext|>", "", "", "", ""}, "", "<|endoftext|>"},
}};

void take_class_defaults(TokenRoles& roles) {
    for (const ClassDefaults& defaults : class_defaults) {
        if (roles.tokenizer_class.find(defaults.part) == std::string::npos) continue;
        roles.tokens = {};
        for (std::size_t i = 0; i < 5; ++i) roles.tokens[i] = defaults.tokens[i];
        roles.bos_token = defaults.bos;
        roles.eos_token = defaults.eos;
        return;
    }
}

/// Calls read(root) where the file is there.
template <typename Read>
bool read_if_there(const fs::path& path, const Read& read) {
    if (!fs::exists(path)) return false;
    with_json_document(read_file(path, max_config_bytes), path.string(), read);
    return true;
}

void take_tokens(const JsonElement& config, TokenRoles& roles) {
    for (std::size_t i = 0; i < role_keys.size(); ++i) roles.tokens[i] = token_content(config, role_keys[i], roles.tokens[i]);
    roles.bos_token = token_content(config, "bos_token", roles.bos_token);
    roles.eos_token = token_content(config, "eos_token", roles.eos_token);
}

/// Whether a release names code of its own for its tokenizer.
bool names_own_code(const JsonElement& config, std::string_view code) {
    JsonElement map, named;
    simdjson::dom::array classes;
    if (!find_member(config, "auto_map", map) || !map.is_object() || !find_member(map, "AutoTokenizer", named) || named.get(classes))
        return false;
    std::string_view text;
    return std::any_of(classes.begin(), classes.end(),
                       [&](const JsonElement one) { return !one.get(text) && text.find(code) != std::string_view::npos; });
}

/// The roles of transformers, in its order.
constexpr std::array<std::string_view, 7> special_keys = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                          "pad_token", "cls_token", "mask_token"};

AddedToken named_token(std::string_view content, std::string_view name) {
    check_piece(content, name);
    return special_token(content);
}

AddedToken to_token(const JsonElement& value, std::string_view what, std::string_view name) {
    std::string_view text;
    if (!value.get(text)) return named_token(text, name);
    AddedToken token = named_token(member_text(value, "content", fmt::format("{}: {}", name, what)), name);
    token.single_word = member_or(value, "single_word", false, name);
    token.lstrip = member_or(value, "lstrip", false, name);
    token.rstrip = member_or(value, "rstrip", false, name);
    token.normalized = member_or(value, "normalized", false, name);
    return token;
}

/// What tokenizer_config.json and special_tokens_map.json name together.
struct NamedTokens {
    std::vector<AddedToken> listed;                     ///< added_tokens_decoder
    std::array<AddedToken, special_keys.size()> roles;  ///< no content: none
    std::vector<AddedToken> further, extra;
    bool has_extra = false, has_decoder = false;
    bool mask_takes_blank = false;  ///< in front of it, where its flags are not said: of the class

    void take_roles(const JsonElement& file, std::string_view name) {
        JsonElement member;
        std::string_view text;
        for (std::size_t i = 0; i < special_keys.size(); ++i)
            if (find_member(file, special_keys[i], member) && (member.is_object() || member.is_string()))
                roles[i] = to_token(member, special_keys[i], name);
        if (find_member(file, "mask_token", member) && member.is_string()) roles.back().lstrip = mask_takes_blank;
        simdjson::dom::object members;
        if (file.get(members)) return;
        for (const auto& [key, value] : members)
            if (key.ends_with("_token") && std::find(special_keys.begin(), special_keys.end(), key) == special_keys.end() &&
                !value.get(text))
                further.push_back(named_token(text, name));
    }
    static std::vector<AddedToken> list_of(const JsonElement& file, std::string_view key, std::string_view name) {
        std::vector<AddedToken> tokens;
        JsonElement member;
        if (!find_member(file, key, member)) return tokens;
        simdjson::dom::array list;
        if (member.get(list)) throw data_error("{}: {} is no list of tokens", name, key);
        for (const JsonElement one : list) tokens.push_back(to_token(one, key, name));
        return tokens;
    }
    /// extra_special_tokens: a list, or names with a token each, which are further roles.
    std::vector<AddedToken> take_extra(const JsonElement& file, std::string_view name) {
        constexpr std::string_view key = "extra_special_tokens";
        JsonElement member;
        simdjson::dom::object named;
        if (!find_member(file, key, member) || member.get(named)) return list_of(file, key, name);
        for (const auto& [role, value] : named) further.push_back(to_token(value, role, name));
        return {};
    }
    void take_config(const JsonElement& config, std::string_view name) {
        JsonElement member;
        if (member_or(config, "split_special_tokens", false, name))
            throw data_error(
                "{}: split_special_tokens is true, by which special tokens in a text are read as text; that is not supported, set it to "
                "false",
                name);
        const std::string_view kind = member_or(config, "tokenizer_class", std::string_view(), name);
        mask_takes_blank = kind.starts_with("MPNet") || kind.starts_with("Camembert");
        has_decoder = find_member(config, "added_tokens_decoder", member);
        listed = read_added_tokens_decoder(config, name);
        take_roles(config, name);
        extra = take_extra(config, name);
        if (extra.empty()) extra = list_of(config, "additional_special_tokens", name);
        has_extra = !extra.empty();
    }
    /// added_tokens.json, of slow tokenizers before transformers 4.34: token -> id. Those with a role, and the extra ones, are special.
    void take_added(const JsonElement& file, std::string_view name) {
        simdjson::dom::object members;
        if (file.get(members)) throw data_error("{}: is no map of tokens and their ids", name);
        for (const auto& [content, value] : members) {
            AddedToken token = named_token(content, name);
            const auto is_it = [&](const AddedToken& other) { return other.content == token.content; };
            const auto same = [&](const auto& tokens) { return std::find_if(tokens.begin(), tokens.end(), is_it); };
            if (const auto role = same(roles); role != roles.end())
                token = *role;
            else if (const auto one = same(extra); one != extra.end())
                token = *one;
            else
                token.special = false, token.normalized = true;
            token.id = to_id(value, content, name);
            listed.push_back(std::move(token));
        }
        std::stable_sort(listed.begin(), listed.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    }
    void take_map(const JsonElement& map, std::string_view name) {
        take_roles(map, name);
        const std::vector<AddedToken> more = take_extra(map, name);
        has_extra |= !more.empty();
        extra.insert(extra.end(), more.begin(), more.end());
        if (!has_extra) extra = list_of(map, "additional_special_tokens", name);
    }
};

}  // namespace

std::vector<AddedToken> read_named_tokens(const std::filesystem::path& folder) {
    NamedTokens named;
    const fs::path config_path = folder / "tokenizer_config.json", map_path = folder / "special_tokens_map.json",
                   added_path = folder / "added_tokens.json";
    read_if_there(config_path, [&](const JsonElement& config) { named.take_config(config, config_path.string()); });
    if (!named.has_decoder) {
        read_if_there(map_path, [&](const JsonElement& map) { named.take_map(map, map_path.string()); });
        read_if_there(added_path, [&](const JsonElement& file) { named.take_added(file, added_path.string()); });
    }
    std::vector<AddedToken> all = std::move(named.listed);
    all.insert(all.end(), named.roles.begin(), named.roles.end());
    all.insert(all.end(), named.further.begin(), named.further.end());
    all.insert(all.end(), named.extra.begin(), named.extra.end());
    return all;
}

std::string add_named_tokens(const std::filesystem::path& folder, std::vector<AddedToken>& tokens) {
    std::set<std::string> known{""};
    for (const AddedToken& token : tokens) known.insert(token.content);
    std::string added;
    for (AddedToken& token : read_named_tokens(folder)) {
        if (!known.insert(token.content).second) continue;
        added +=
            fmt::format("\n{}\t{}{}{}{}{}", token.content, token.single_word, token.lstrip, token.rstrip, token.normalized, token.special);
        tokens.push_back(std::move(token));
    }
    return added;
}

namespace {

std::string said_of_model(const std::filesystem::path& folder, const char* key) {
    std::string said;
    const fs::path path = folder / "config.json";
    read_if_there(path, [&](const JsonElement& config) { said = member_or(config, key, std::string_view(), path.string()); });
    return said;
}

}  // namespace

std::string class_of_model(const std::filesystem::path& folder) {
    static const std::map<std::string, std::string> usual = {
        {"bert", "BertTokenizer"},    {"distilbert", "BertTokenizer"},   {"nomic_bert", "BertTokenizer"},
        {"electra", "BertTokenizer"}, {"mpnet", "MPNetTokenizer"},       {"roberta", "RobertaTokenizer"},
        {"qwen3", "Qwen2Tokenizer"},  {"gemma3_text", "GemmaTokenizer"}, {"deberta-v2", "DebertaV2Tokenizer"}};
    if (std::string named = said_of_model(folder, "tokenizer_class"); !named.empty()) return named;
    const auto found = usual.find(said_of_model(folder, "model_type"));
    return found == usual.end() ? "" : found->second;
}

bool is_read_as_it_is(const std::filesystem::path& folder) {
    return said_of_model(folder, "model_type") == "modernbert";  // tokenization_auto.py
}

TokenRoles read_token_roles(const std::filesystem::path& folder) {
    TokenRoles roles;
    const fs::path config_path = folder / "tokenizer_config.json", map_path = folder / "special_tokens_map.json";
    read_if_there(config_path, [&](const JsonElement& config) {
        roles.tokenizer_class = member_or(config, "tokenizer_class", std::string_view(), config_path.string());
        take_class_defaults(roles);
    });
    roles.configured |= read_if_there(map_path, [&](const JsonElement& map) { take_tokens(map, roles); });
    roles.configured |= read_if_there(config_path, [&](const JsonElement& config) {
        const std::string name = config_path.string();
        take_tokens(config, roles);
        roles.add_prefix_space = member_or(config, "add_prefix_space", false, name);
        JsonElement member;
        if (find_member(config, "truncation_side", member)) roles.truncate_left = member_text(config, "truncation_side", name) == "left";
        if (find_member(config, "add_bos_token", member)) roles.add_bos_token = member_or(config, "add_bos_token", true, name);
        if (find_member(config, "add_eos_token", member)) roles.add_eos_token = member_or(config, "add_eos_token", false, name);
        roles.own_code_adds_ends = names_own_code(config, "tokenization_qwen.Qwen2Tokenizer");
        if (find_member(config, "extra_ids", member)) {
            const std::int64_t extra_ids = member_or(config, "extra_ids", std::int64_t{0}, name);
            if (extra_ids < 0 || extra_ids > 100'000)
                throw data_error("{}: extra_ids is {}; it is a number of tokens, up to 100000", name, extra_ids);
            roles.extra_ids = static_cast<std::size_t>(extra_ids);
        }
    });
    return roles;
}

}  // namespace faceter
