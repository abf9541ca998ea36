#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "text/added_tokens.h"

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
    bool own_code_adds_ends = false;       ///< gte-Qwen2's release: its own code puts there what these two ask for
    std::optional<std::size_t> extra_ids;  ///< T5's sentinels
};

/// The special tokens that these files name, in the order in which transformers 5 adds those that tokenizer.json lacks:
/// added_tokens_decoder (else added_tokens.json), the tokens with a role, further keys that end in _token, extra_special_tokens (else
/// additional_special_tokens). With an added_tokens_decoder special_tokens_map.json and added_tokens.json do not count. Throws a data error
/// where one is no token, and where split_special_tokens asks for special tokens in a text to be read as text.
std::vector<AddedToken> read_named_tokens(const std::filesystem::path& folder);
/// Appends those that the tokenizer does not have yet; a line for each, for its description.
std::string add_named_tokens(const std::filesystem::path& folder, std::vector<AddedToken>& tokens);

/// Reads the files of a folder that are there. Throws a data error where one is broken.
TokenRoles read_token_roles(const std::filesystem::path& folder);

/// The class of tokenizer that transformers 5 takes for the model whose config.json lies beside it where no other file names one: what that
/// file names, else that of its type; empty: it is not known to have one.
std::string class_of_model(const std::filesystem::path& folder);
/// Whether transformers reads tokenizer.json as it is, whatever class the files name, for the model whose config.json lies beside it.
bool is_read_as_it_is(const std::filesystem::path& folder);

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
