#pragma once
#include <memory>

#include "checkpoint/model_folder.h"
#include "model/encoder.h"

namespace faceter {

/// From absolute to rotary positions, as mNomic-BERT was made from XLM-R (Nomic Embed v2, section 4.1).
struct RotaryConversion {
    double base = 10000;
    std::int64_t max_positions = 2048;  ///< longest text afterwards, in tokens
};

/// NomicBERT's config.json of the same encoder without its table of positions: biases, norms, token types and activation stay, queries and
/// keys are turned by their place. `config` is the encoder's own, for the ids of its special tokens. Errors (data): an encoder that has no
/// such table (NomicBERT, T5, ModernBERT), or other positions beside it (MPNet), or an activation or heads that NomicBERT has no form for.
Json rotary_config(const EncoderConfig& encoder, const Json& config, const RotaryConversion& conversion);

/// The encoder of that configuration with every weight of `from` but the positions. What it computes is another function until it is
/// trained on: by masked-language modelling, in the paper.
std::unique_ptr<Encoder> with_rotary_positions(const Encoder& from, const Json& rotary_config, const std::vector<DenseModule>& heads);

}  // namespace faceter
