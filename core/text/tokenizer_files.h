#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "text/tokenizer_json.h"
#include "text/wordpiece.h"

namespace faceter {

constexpr std::uint64_t max_tokenizer_bytes = 256u << 20;  ///< of a file that holds a vocabulary

/// The kind that a tokenizer.json names in model.type ("WordPiece", "BPE", "Unigram", "WordLevel"); "WordPiece of steps" where a WordPiece
/// model comes with other steps than BertNormalizer (or none) and BertPreTokenizer.
std::string tokenizer_json_kind(std::string_view text, std::string_view name);
/// What a BertNormalizer says.
BertNormalizer read_bert_normalizer(const JsonElement& element, std::string_view name);
/// Reads the text of a tokenizer.json of kind "WordPiece". Anything that would change the ids and is not supported is a data error that
/// names it. `name` stands in front of messages.
WordPieceSettings parse_wordpiece_json(std::string_view text, std::string_view name);
/// Reads vocab.txt (a piece a line, its id the line) for a BERT tokenizer; special tokens are those of BERT.
WordPieceSettings parse_wordpiece_vocabulary(std::string_view text, std::string_view name);

/// Takes over what a tokenizer_config.json says: names of the special tokens and the truncation side; do_lower_case,
/// strip_accents and tokenize_chinese_chars where it names a class of BERT's; with `bert_flags` these in any case,
/// and added_tokens_decoder (a folder without tokenizer.json).
void apply_tokenizer_config(std::string_view text, std::string_view name, bool bert_flags, WordPieceSettings& settings);
/// For a vocab.txt, after its configuration was applied: the special tokens become added tokens and [CLS] and [SEP] go around a text.
void add_bert_specials(WordPieceSettings& settings, std::string_view name);

}  // namespace faceter
