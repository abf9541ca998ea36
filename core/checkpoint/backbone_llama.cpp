#include "checkpoint/config_members.h"
#include "checkpoint/encoder_config.h"
#include "checkpoint/rotary_scaling.h"
#include "common/error.h"

// Llama's block (Touvron et al., 2023) and what shares it: pre-norm with RMS norms, rotary positions, grouped heads of keys, gated
// feed-forward. Mistral (e5-mistral) has a causal window, Qwen2 (gte-Qwen2) biases on query, key and value, Qwen3 (Qwen3-Embedding) norms
// of each head's query and key; EuroBERT is the same read in both directions.

namespace faceter {
namespace {

EncoderNames llama_names() {
    EncoderNames n;
    n.prefixes = {"", "model."};
    n.word = "embed_tokens";
    n.final_norm = "norm";
    n.block = "layers.{}.";
    n.qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
    n.attention_output = "self_attn.o_proj";
    n.attention_norm = "input_layernorm";
    n.up = {"mlp.gate_proj", "mlp.up_proj"};
    n.down = "mlp.down_proj";
    n.mlp_norm = "post_attention_layernorm";
    return n;
}

/// What a family does where its configuration is silent.
struct Usual {
    std::int64_t head_dim = 0, key_heads = 0;
    double norm_epsilon = 1e-6;
};

EncoderConfig read_llama_like(const Json& config, std::string_view name, const Usual& usual) {
    EncoderConfig c;
    read_grouped_sizes(c, config, name, usual.head_dim, usual.key_heads);
    c.length_limit = size_member(config, "max_position_embeddings", name, 32768);
    c.rotary_dim = c.head_dim;
    c.rotary = c.local_rotary = rotary_member(take_dynamic_ntk(c, config, name), name, 10000, c.rotary_dim);
    c.pre_norm = true;
    c.norm = Norm::rms;
    c.norm_epsilon = json_or<double>(config, "rms_norm_eps", usual.norm_epsilon, name);
    c.norm_bias = c.up_bias = c.down_bias = false;
    c.qkv_bias = c.attention_output_bias = json_or<bool>(config, "attention_bias", false, name);
    c.activation = activation_member(config, "hidden_act", name, "silu");
    c.gated = true;
    c.attention_dropout = probability_member(config, "attention_dropout", name, 0);
    c.names = llama_names();
    return c;
}

bool has_window(const Json& config) { return config.contains("sliding_window") && !config.at("sliding_window").is_null(); }

/// Decoders read forwards unless `is_causal` is false; a window counts the token itself forwards, and does not in both directions.
void read_direction(EncoderConfig& c, const Json& config, std::string_view name) {
    const bool causal = json_or<bool>(config, "is_causal", true, name);
    if (causal) c.reach.after = c.local_reach.after = 0;
    if (!has_window(config)) return;
    const std::int64_t window = size_member(config, "sliding_window", name);
    c.local_reach.before = causal ? window - 1 : window;
    if (!causal) c.local_reach.after = window;
}

/// Qwen's windows: off unless use_sliding_window is set, then in the blocks from max_window_layers on or those that layer_types names.
void read_qwen_window(EncoderConfig& c, const Json& config, std::string_view name) {
    Json own = config;
    if (!json_or<bool>(config, "use_sliding_window", false, name)) own.erase("sliding_window");
    read_direction(c, own, name);
    if (const auto named = local_member(c, config, name)) {
        c.local = *named;
    } else if (has_window(own)) {
        const auto first = json_or<std::int64_t>(config, "max_window_layers", 28, name);
        for (std::int64_t i = 0; i < c.num_layers; ++i) c.local.push_back(i >= first);
    }
}

EncoderConfig read_qwen3(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_like(config, name, {128, 32});
    read_qwen_window(c, config, name);
    c.names.query_norm = "self_attn.q_norm";
    c.names.key_norm = "self_attn.k_norm";
    return c;
}

EncoderConfig read_qwen2(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_like(config, name, {0, 32});
    read_qwen_window(c, config, name);
    c.qkv_bias = true;
    c.attention_output_bias = false;
    return c;
}

EncoderConfig read_mistral(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_like(config, name, {0, 8});
    c.qkv_bias = c.attention_output_bias = false;
    read_direction(c, config, name);
    if (has_window(config)) c.local.assign(static_cast<std::size_t>(c.num_layers), true);
    return c;
}

EncoderConfig read_llama(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_like(config, name, {});
    read_direction(c, Json{{"is_causal", json_or<bool>(config, "is_causal", true, name)}}, name);
    c.up_bias = c.down_bias = json_or<bool>(config, "mlp_bias", false, name);
    return c;
}

EncoderConfig read_eurobert(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_like(config, name, {0, 0, 1e-5});
    c.up_bias = c.down_bias = json_or<bool>(config, "mlp_bias", false, name);
    return c;
}

const BackboneFamily qwen3("qwen3", read_qwen3), qwen2("qwen2", read_qwen2), mistral("mistral", read_mistral), llama("llama", read_llama),
    eurobert("eurobert", read_eurobert);

const FamilyMembers qwen_members({"qwen2", "qwen3"},
                                 "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings "
                                 "num_key_value_heads head_dim rope_theta rope_scaling rope_parameters rms_norm_eps attention_bias "
                                 "hidden_act attention_dropout is_causal use_sliding_window sliding_window max_window_layers layer_types"),
    mistral_members({"mistral"},
                    "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings "
                    "num_key_value_heads head_dim rope_theta rope_scaling rope_parameters rms_norm_eps attention_bias hidden_act "
                    "attention_dropout is_causal sliding_window"),
    llama_members(
        {"llama", "eurobert"},
        "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings num_key_value_heads "
        "head_dim rope_theta rope_scaling rope_parameters rms_norm_eps attention_bias hidden_act attention_dropout is_causal mlp_bias");

}  // namespace
}  // namespace faceter
