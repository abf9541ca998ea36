#pragma once
#include "checkpoint/encoder_config.h"

namespace faceter {

/// What a family does where its configuration is silent; 0: what read_grouped_sizes says.
struct LlamaBlock {
    std::int64_t head_dim = 0, key_heads = 0;
    double norm_epsilon = 1e-6;
};

/// Llama's block (Touvron et al., 2023): pre-norm with RMS norms, rotary positions, grouped heads of keys, gated feed-forward; read in both
/// directions. Errors: as the members' readers.
EncoderConfig read_llama_block(const Json& config, std::string_view name, const LlamaBlock& usual);

/// Decoders read forwards unless `is_causal` is false; a window (sliding_window) counts the token itself forwards, and does not in both
/// directions.
void read_direction(EncoderConfig& c, const Json& config, std::string_view name);

bool has_window(const Json& config);

/// transformers' Mistral and Qwen have a window of 4096 where the configuration does not name one; null is none.
Json with_usual_window(const Json& config);

}  // namespace faceter
