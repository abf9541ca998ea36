#pragma once
#include <array>

#include "text/charsmap.h"
#include "text/normalizer.h"
#include "text/piece_model.h"
#include "text/piece_trie.h"
#include "text/sentencepiece_file.h"

namespace faceter {

// What the sentencepiece library makes of a text with a .model file. It differs from what Hugging Face's tokenizers make of the
// tokenizer.json that was converted from it: the longest key of the charsmap counts, not the shortest of a grapheme; sums are in float; the
// text is not split into words first; control symbols in the text are text.

/// The library's Normalizer.
std::unique_ptr<NormalizerStep> make_sentencepiece_normalizer(const SentencePieceFile& file, std::string_view name);

/// The library's segmentation: unigram (Viterbi in float) or BPE (the pair of highest score first), with user-defined symbols, byte
/// fallback, and unknown pieces in a row as one.
class SentencePieceModel : public PieceModel {
  public:
    /// `ids`: what id i of the file is called outside. Throws a data error (`name` in front): another algorithm, byte_fallback without
    /// all its pieces.
    SentencePieceModel(const SentencePieceFile& file, std::vector<std::int32_t> ids, std::string_view name);
    void encode(std::string_view piece, std::vector<std::int32_t>& ids) const override;

  private:
    struct Part {
        std::int32_t id;
        std::string_view text;
    };
    struct Scratch;
    void add_pieces(const SentencePieceFile& file, std::string_view name);
    void segment_unigram(std::string_view text, Scratch& scratch) const;
    void segment_bpe(std::string_view text, Scratch& scratch) const;
    void start_symbols(std::string_view text, Scratch& scratch) const;
    void append_unmerged(std::string_view text, Scratch& scratch) const;
    std::int32_t find_id(std::string_view piece) const;

    std::vector<float> scores_;
    std::vector<SentencePieceFile::Type> types_;
    PieceTrie trie_;     // normal and user-defined pieces; for BPE unused ones too
    PieceTrie symbols_;  // user-defined pieces
    bool has_symbols_ = false, bpe_, byte_fallback_;
    std::array<std::int32_t, 256> byte_ids_;
    std::vector<std::int32_t> ids_;
    std::int32_t unk_id_ = 0;
    float unk_score_ = 0, max_score_ = 0;
};

}  // namespace faceter
