#pragma once
#include <simdjson.h>

#include <array>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/piece_model.h"

namespace faceter {

// What the kinds of tokenizer.json have in common. `name` stands in front of messages.

using JsonElement = simdjson::dom::element;

/// Member `key` of an object that is there and not null.
bool find_member(const JsonElement& object, std::string_view key, JsonElement& member);
/// A number from 0 to 1073741823; the message names `what` has it.
std::int32_t to_id(const JsonElement& value, std::string_view what, std::string_view name);
/// model.vocab as an object of pieces and their ids; not empty.
Vocabulary read_vocabulary(const JsonElement& model, std::string_view name);
std::vector<AddedToken> read_added_tokens(const JsonElement& root, std::string_view name);
/// The same of a tokenizer_config.json (added_tokens_decoder), in the order of their ids.
std::vector<AddedToken> read_added_tokens_decoder(const JsonElement& config, std::string_view name);
/// A token that is looked for in the text as it comes.
AddedToken special_token(std::string_view content);
/// The ids around a text that post_processor says: TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel (none) and Sequence.
SpecialIds read_post_processor(const JsonElement& root, std::string_view name);
/// Whether truncation.direction is "Left": what counts where tokenizer_config.json names no truncation_side.
bool truncates_left(const JsonElement& root, std::string_view name);
/// A special token in a configuration: "[CLS]" or {"content": "[CLS]", ...}; `fallback` where it is missing or null.
std::string_view token_content(const JsonElement& config, std::string_view key, std::string_view fallback);

/// The keys of the roles of SpecialTokens, in its order.
inline constexpr std::array<std::string_view, 5> role_keys = {"pad_token", "unk_token", "cls_token", "sep_token", "mask_token"};

}  // namespace faceter
