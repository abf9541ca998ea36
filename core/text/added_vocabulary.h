#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/added_tokens.h"
#include "text/piece_model.h"
#include "text/piece_trie.h"

namespace faceter {

/// A vocabulary with the tokens added to it, numbered as Hugging Face's AddedVocabulary numbers them: with the vocabulary's id where it has
/// the content, else on from its size; the file's "id" does not count.
class AddedVocabulary {
  public:
    AddedVocabulary() = default;
    /// `normalize` is what the tokenizer does to a text before it is split (for tokens that are looked for in the normalised text).
    AddedVocabulary(Vocabulary vocabulary, std::vector<AddedToken> tokens, const std::function<std::string(std::string_view)>& normalize);

    /// Tokens that are looked for in the text as it comes, and those in the normalised text.
    const AddedTokenFinder& raw() const { return raw_; }
    const AddedTokenFinder& normalized() const { return normalized_; }
    std::size_t size() const { return size_; }  ///< one more than the largest id
    std::string id_to_piece(int id) const;
    int piece_to_id(std::string_view piece) const;

  private:
    void number_tokens();
    Vocabulary vocabulary_;
    std::vector<AddedToken> tokens_;
    PieceTrie ids_;                                              // both
    std::vector<std::pair<std::int32_t, std::uint32_t>> by_id_;  // id, index (the vocabulary, then the added tokens), sorted
    AddedTokenFinder raw_, normalized_;
    std::size_t size_ = 0;
};

}  // namespace faceter
