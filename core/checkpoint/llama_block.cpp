#include "checkpoint/llama_block.h"

#include "checkpoint/rotary_scaling.h"

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

}  // namespace

EncoderConfig read_llama_block(const Json& config, std::string_view name, const LlamaBlock& usual) {
    EncoderConfig c;
    read_grouped_sizes(c, config, name, usual.head_dim, usual.key_heads);
    c.length_limit = size_member(config, "max_position_embeddings", name, 32768);
    c.rotary_dim = c.head_dim;
    read_rotary(c, config, name, 10000);
    c.local_rotary = c.rotary;
    c.pre_norm = true;
    c.norm = Norm::rms;
    c.norm_epsilon = json_or<double>(config, "rms_norm_eps", usual.norm_epsilon, name);
    c.norm_bias = c.up_bias = c.down_bias = false;
    c.qkv_bias = c.attention_output_bias = json_or<bool>(config, "attention_bias", false, name);
    c.activation = activation_member(config, "hidden_act", name, "silu");
    c.gated = true;
    c.dropout.attention = probability_member(config, "attention_dropout", name, 0);
    c.names = llama_names();
    return c;
}

bool has_window(const Json& config) { return config.contains("sliding_window") && !config.at("sliding_window").is_null(); }

Json with_usual_window(const Json& config) {
    Json own = config;
    own.emplace("sliding_window", 4096);
    return own;
}

void read_direction(EncoderConfig& c, const Json& config, std::string_view name) {
    const bool causal = json_or<bool>(config, "is_causal", true, name);
    if (causal) c.reach.after = c.local_reach.after = 0;
    if (!has_window(config)) return;
    const std::int64_t window = size_member(config, "sliding_window", name);
    c.local_reach.before = causal ? window - 1 : window;
    if (!causal) c.local_reach.after = window;
}

}  // namespace faceter
