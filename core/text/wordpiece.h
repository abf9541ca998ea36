#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/bert_normalizer.h"
#include "text/piece_trie.h"
#include "text/tokenizer.h"
#include "text/word_cache.h"

namespace faceter {

/// Everything that a BERT-style WordPiece tokenizer's files say.
struct WordPieceSettings {
    std::vector<std::pair<std::string, std::int32_t>> vocabulary;  ///< in file order; the last of equal pieces counts
    std::string unk_token = "[UNK]";
    std::string continuing_prefix = "##";
    std::size_t max_chars_per_word = 100;  ///< a longer word is unknown
    BertNormalizer normalizer;
    std::vector<AddedToken> added_tokens;  ///< ids as in Hugging Face: the vocabulary's where it has the content, else numbered on
    SpecialIds around;                     ///< special tokens around a text
    bool truncate_left = false;
    std::array<std::string, 5> special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};  ///< in the order of SpecialTokens
};

/// WordPiece (Schuster and Nakajima, "Japanese and Korean voice search", 2012) as Hugging Face's BERT tokenizers run it.
class WordPieceTokenizer : public Tokenizer {
  public:
    /// Throws a data error (`name` in front) where the unknown token is missing or an id is negative.
    WordPieceTokenizer(WordPieceSettings settings, std::string_view name);
    ~WordPieceTokenizer() override;

    void encode(std::string_view text, std::size_t max_length, std::vector<std::int32_t>& ids) const override;
    std::size_t vocab_size() const override { return vocab_size_; }
    SpecialTokens special() const override { return special_; }
    std::size_t num_special() const override { return settings_.around.before.size() + settings_.around.after.size(); }
    std::string id_to_piece(int id) const override;
    int piece_to_id(std::string_view piece) const override;
    std::string fingerprint() const override { return fingerprint_; }

  private:
    class Sink;
    struct Scratch;
    void number_added_tokens();
    void fill_tries();
    bool encode_content(std::string_view text, Sink& sink) const;
    bool encode_segment(std::string_view text, Sink& sink) const;
    void encode_normalized(std::string_view text, Sink& sink) const;
    void split_normalized(std::string_view text, Sink& sink) const;

    WordPieceSettings settings_;
    PieceTrie pieces_, added_ids_;
    PieceTrie::Node continuation_ = PieceTrie::none;  // after the continuing prefix
    std::int32_t unk_ = -1;
    AddedTokenFinder raw_tokens_, normalized_tokens_;
    CharTable table_, split_table_;  // normalise and split; split alone
    std::size_t max_word_bytes_;
    std::array<std::int32_t, 128> single_ids_{};                 // of one ASCII character as a word
    std::vector<std::pair<std::int32_t, std::uint32_t>> by_id_;  // (id, index into the vocabulary, then the added tokens), sorted
    std::size_t vocab_size_ = 0;
    SpecialTokens special_;
    std::string fingerprint_;
    std::uint64_t serial_;  // tells this tokenizer's word caches from another's
};

}  // namespace faceter
