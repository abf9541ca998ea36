#pragma once
#include "text/piece_model.h"
#include "text/piece_trie.h"

namespace faceter {

/// A unigram language model's pieces with the logarithms of their probabilities; a piece's id is its place.
struct UnigramSettings {
    std::vector<std::pair<std::string, double>> pieces;
    std::int32_t unk_id = 0;
    bool byte_fallback = false;  ///< what is unknown becomes pieces "<0x00>" to "<0xFF>"
};

/// Unigram (Kudo, "Subword Regularization", 2018) as Hugging Face's tokenizers run it: the most probable segmentation by Viterbi over a
/// trie, in double precision; unknown characters in a row are one.
class UnigramModel : public PieceModel {
  public:
    /// Throws a data error (`name` in front): no pieces, unk_id beyond them, a score that is no finite number.
    UnigramModel(UnigramSettings settings, std::string_view name);
    void encode(std::string_view piece, std::vector<std::int32_t>& ids) const override;

  private:
    void append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const;
    std::vector<double> scores_;
    PieceTrie trie_;
    std::int32_t unk_id_;
    bool byte_fallback_;
    double unk_score_;
};

}  // namespace faceter
