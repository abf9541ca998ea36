#pragma once
#include "checkpoint/encoder_config.h"

/// Scalings of rotary positions that a configuration asks for by rope_scaling (rope_parameters), in float32 as transformers computes them
/// (modeling_rope_utils.py): they fill in `rotary`'s frequencies and amplitude. `parameters` has original_max_position_embeddings. Errors
/// (data): a member that is missing or makes no sense.
namespace faceter {

/// YaRN (Peng et al., 2024): pairs that turn often keep their frequency, those that turn seldom are slowed down by `factor`, those between
/// a part of it; cosines and sines grow with the factor's logarithm. `longest`: max_position_embeddings, which says a factor of null.
void scale_by_yarn(Rotary& rotary, const Json& parameters, std::string_view name, std::int64_t rotary_dim, std::int64_t longest);
/// Llama 3.1: the same by wavelengths, between original_max_position_embeddings / low_freq_factor and / high_freq_factor.
void scale_by_llama3(Rotary& rotary, const Json& parameters, std::string_view name, std::int64_t rotary_dim);

}  // namespace faceter
