#include "text/token_roles.h"

#include "common/error.h"
#include "common/file.h"
#include "common/json_document.h"
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

}  // namespace

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
