#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "text/added_vocabulary.h"
#include "text/normalizer.h"
#include "text/piece_model.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace faceter {

/// Everything that a tokenizer of steps is made of.
struct PipelineSettings {
    Vocabulary vocabulary;
    std::vector<AddedToken> added_tokens;
    NormalizerChain normalizers;
    std::vector<std::unique_ptr<PreTokenizerStep>> pre_tokenizers;
    std::unique_ptr<PieceModel> model;
    bool pieces_are_words = true;  ///< false where a piece's ids are not worth remembering
    bool truncate_left = false;
    SpecialIds special;
    /// Names of the tokens with a role, in the order of SpecialTokens; empty where there is none.
    std::array<std::string, 5> roles;
    std::string description;  ///< a text of all that ids depend on; its hash is the fingerprint
};

/// A tokenizer as Hugging Face's `tokenizers` put it together: added tokens are cut out, the rest is normalised, cut into pieces, each
/// piece goes through the model (or a bounded cache of words), and special tokens go around.
class PipelineTokenizer : public Tokenizer {
  public:
    explicit PipelineTokenizer(PipelineSettings settings);
    ~PipelineTokenizer() override;

    void encode(std::string_view text, std::size_t max_length, std::vector<std::int32_t>& ids) const override;
    std::size_t vocab_size() const override { return vocabulary_.size(); }
    SpecialTokens special() const override { return special_; }
    std::size_t num_special() const override { return settings_.special.before.size() + settings_.special.after.size(); }
    std::string id_to_piece(int id) const override { return vocabulary_.id_to_piece(id); }
    int piece_to_id(std::string_view piece) const override { return vocabulary_.piece_to_id(piece); }
    std::string fingerprint() const override { return fingerprint_; }

  private:
    struct Scratch;
    void encode_content(std::string_view text, Scratch& scratch, std::size_t limit) const;
    void encode_segment(std::string_view text, bool at_start, Scratch& scratch, std::size_t limit) const;
    void encode_normalized(std::string_view text, bool at_start, Scratch& scratch, std::size_t limit) const;
    void encode_piece(std::string_view piece, Scratch& scratch) const;
    void encode_word(std::string_view word, Scratch& scratch) const;

    PipelineSettings settings_;
    AddedVocabulary vocabulary_;
    SpecialTokens special_;
    std::string fingerprint_;
    std::uint64_t serial_;  // tells this tokenizer's word caches from another's
};

}  // namespace faceter
