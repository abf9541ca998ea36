#pragma once
#include <set>

#include "common/json.h"
#include "model/encoder.h"
#include "text/tokenizer.h"

namespace faceter {

/// Which tokens a model has to guess, and what stands in their place (Devlin et al., 2019, section 3.1; Nomic Embed v2, section 4.1).
struct MaskingSettings {
    double rate = 0.3;          ///< share of the tokens that are guessed
    double mask_share = 0.8;    ///< of these, so many are replaced by the mask token,
    double random_share = 0.1;  ///< so many by another token; the rest stays as it is
    static MaskingSettings from_json(const Json& settings);
};

/// What a tokenizer says about masking.
struct MaskVocabulary {
    std::int64_t mask = 0, size = 0;
    std::set<std::int64_t> special;  ///< never guessed, never put in place of another
    /// Errors (data): a tokenizer without a mask token, or one that the model has no embedding for.
    explicit MaskVocabulary(const Tokenizer& tokenizer);
    MaskVocabulary() = default;
};

struct MaskedTokens {
    at::Tensor ids;      ///< [T]: those of the batch with masks in place
    at::Tensor rows;     ///< [M] packed rows that are guessed, ascending
    at::Tensor targets;  ///< [M] the ids that stood there
};
/// Draws are keyed by seed, step and the sequence's key: a step that is taken again, in other company or in other parts, masks the same
/// tokens. Where they spare every token there are no rows.
MaskedTokens mask_tokens(const PackedBatch& batch, const MaskVocabulary& vocabulary, const MaskingSettings& settings, std::uint64_t seed,
                         std::int64_t step);

}  // namespace faceter
