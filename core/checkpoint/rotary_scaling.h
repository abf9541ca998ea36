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

/// original_max_position_embeddings into `parameters`, as transformers reads it: the configuration's own goes before theirs, and
/// max_position_embeddings stands for both.
void take_original_length(Json& parameters, const Json& config, std::string_view name);

/// Whether a configuration's rotary positions are turned slower the longer a text is (dynamic NTK): max_position_embeddings is no limit.
bool grows_with_length(const Json& config);
/// Whether a text of as many tokens as max_position_embeddings, or max_seq_length (`named`, which goes on behind them), has positions that
/// depend on its length.
bool turns_by_length(const EncoderConfig& encoder, std::size_t named);
/// rotary_member() into `encoder`, whose rotary_dim is known, and what depends on a text's length. Dynamic NTK: trained_positions takes the
/// place of length_limit. LongRoPE (Ding et al., 2024): a factor for each pair, one set up to trained_positions and one for longer texts,
/// whose frequencies follow each other; cosines and sines grow with the logarithm of `factor`. Errors (data): what is missing or makes no
/// sense.
void read_rotary(EncoderConfig& encoder, const Json& config, std::string_view name, double usual_base);

}  // namespace faceter
