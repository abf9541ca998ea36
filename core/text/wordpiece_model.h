#pragma once
#include "text/piece_model.h"
#include "text/piece_trie.h"

namespace faceter {

/// Greedy longest match, for WordPiece models behind other steps than BERT's (those have WordPieceTokenizer).
class WordPieceModel : public PieceModel {
  public:
    struct Settings {
        std::string unk_token = "[UNK]", continuing_prefix = "##";
        std::size_t max_chars_per_word = 100;  ///< a longer word is unknown
    };
    /// Throws a data error (`name` in front) where the unknown token is not in the vocabulary.
    WordPieceModel(const Vocabulary& vocabulary, const Settings& settings, std::string_view name);
    void encode(std::string_view piece, std::vector<std::int32_t>& ids) const override;

  private:
    PieceTrie trie_;
    PieceTrie::Node continuation_ = PieceTrie::none;  // after the continuing prefix
    std::size_t max_chars_;
    std::int32_t unk_id_ = -1;
};

}  // namespace faceter
