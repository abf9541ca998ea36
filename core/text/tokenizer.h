#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

/// Ids of the tokens with a role; -1 where the vocabulary has none.
struct SpecialTokens {
    int pad = -1, unk = -1, cls = -1, sep = -1, mask = -1;
};

/// Text -> ids, identical to the Hugging Face fast tokenizer of the same folder. Immutable after loading; every member is thread safe.
class Tokenizer {
  public:
    virtual ~Tokenizer() = default;

    /// Appends the ids of `text` with the special tokens around it to `ids` (whose content is kept), at most `max_length` ids in all:
    /// the text's ids are cut so that the special tokens fit (Hugging Face's truncation); 0: no limit. Bytes that are not UTF-8
    /// count as U+FFFD, as Python's errors="replace" reads them. Throws a settings error where max_length is below num_special().
    virtual void encode(std::string_view text, std::size_t max_length, std::vector<std::int32_t>& ids) const = 0;

    /// One more than the largest id.
    virtual std::size_t vocab_size() const = 0;
    virtual SpecialTokens special() const = 0;
    /// How many special tokens encode() puts around a text.
    virtual std::size_t num_special() const = 0;
    /// The piece as the vocabulary writes it ("##ing"); empty for an id without one.
    virtual std::string id_to_piece(int id) const = 0;
    /// The id of a piece as the vocabulary writes it; -1 where there is none.
    virtual int piece_to_id(std::string_view piece) const = 0;
    /// Hexadecimal hash of the vocabulary and all settings that ids depend on: a key for caches.
    virtual std::string fingerprint() const = 0;
};

/// Reads tokenizer.json, else vocab.txt (BERT), sentencepiece.bpe.model (XLM-R), spiece.model (T5), tokenizer.model (Llama), spm.model
/// (DeBERTa), or vocab.json and merges.txt (RoBERTa, GPT-2, Qwen2), with tokenizer_config.json and special_tokens_map.json. Of the
/// truncation and padding that a tokenizer.json carries the side alone counts, where no truncation_side is named: the caller says
/// max_length. `lowercase_first` is sentence_bert_config.json's do_lower_case (ModelFolder has it): the text is lower-cased even where the
/// tokenizer's own files do not say so. Throws a data error: nothing there, a kind that is not supported (named), or a broken file.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& model_folder, bool lowercase_first = false);

}  // namespace faceter
