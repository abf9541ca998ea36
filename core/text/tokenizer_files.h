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

/// Where do_lower_case, strip_accents and tokenize_chinese_chars of a tokenizer_config.json count.
enum class BertFlags {
    never,         ///< beside a tokenizer.json that is read as it is
    of_its_class,  ///< where a class of BERT's is named
    of_its_model,  ///< and where none is named: the model has one by itself
    always,        ///< a folder without tokenizer.json
};
/// Whether a class of transformers 5 makes its normaliser from these flags.
bool goes_by_bert_flags(std::string_view kind);
/// Takes over what a tokenizer_config.json says: names of the special tokens and the truncation side, BERT's flags where they count, and
/// added_tokens_decoder where they always do.
void apply_tokenizer_config(std::string_view text, std::string_view name, BertFlags flags, WordPieceSettings& settings);
/// For a vocab.txt, after its configuration was applied: the special tokens become added tokens and [CLS] and [SEP] go around a text.
void add_bert_specials(WordPieceSettings& settings, std::string_view name);

}  // namespace faceter
