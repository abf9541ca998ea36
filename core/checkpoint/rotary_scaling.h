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

/// Whether a configuration's rotary positions are turned slower the longer a text is (dynamic NTK): max_position_embeddings is no limit.
bool grows_with_length(const Json& config);
/// The same into `encoder`: trained_positions takes the place of its length_limit. Returns the configuration without it, plain up to
/// max_position_embeddings; one that asks for nothing of the kind stays as it is. Errors (data): no factor, heads of 2 elements.
Json take_dynamic_ntk(EncoderConfig& encoder, const Json& config, std::string_view name);

}  // namespace faceter
