#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>

namespace faceter {

/// What the small files beside a tokenizer say: tokenizer_config.json and special_tokens_map.json.
struct TokenRoles {
    bool configured = false;      ///< one of the files is there
    std::string tokenizer_class;  ///< "XLMRobertaTokenizer", ...; empty where it is not said
    std::array<std::string, 5>
        tokens;  ///< in the order of SpecialTokens: what the files name, else what the class does by itself; empty: none
    std::string bos_token, eos_token;
    std::optional<bool> truncate_left;  ///< nothing where no file says it
    bool add_prefix_space = false;
    std::optional<bool> add_bos_token, add_eos_token;
    std::optional<std::size_t> extra_ids;  ///< T5's sentinels
};

/// Reads the files of a folder that are there. Throws a data error where one is broken.
TokenRoles read_token_roles(const std::filesystem::path& folder);

/// For a tokenizer without those files: the usual names that `has(token)` knows.
template <typename Has>
void guess_roles(TokenRoles& roles, const Has& has) {
    static constexpr const char* usual[5][2] = {
        {"[PAD]", "<pad>"}, {"[UNK]", "<unk>"}, {"[CLS]", "<s>"}, {"[SEP]", "</s>"}, {"[MASK]", "<mask>"}};
    for (std::size_t i = 0; i < 5; ++i)
        for (const char* token : usual[i])
            if (!roles.configured && roles.tokens[i].empty() && has(token)) roles.tokens[i] = token;
}

}  // namespace faceter
