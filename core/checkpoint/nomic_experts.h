#pragma once
#include "checkpoint/encoder_config.h"

namespace faceter {

/// The rows of the first tensor whose name ends so: released code rounds n_inner and the vocabulary up, so the tensors know best.
std::int64_t tensor_rows(const Weights& weights, std::string_view ending, std::int64_t otherwise);

/// The token-routed blocks of Nomic Embed v2 (Nussbaum and Duderstadt, 2025). Errors (data): more experts or choices than can be, a tensor
/// of experts that is not of the size that the configuration says.
void read_nomic_experts(EncoderConfig& c, const Json& config, std::string_view name, const Weights& weights);

}  // namespace faceter
