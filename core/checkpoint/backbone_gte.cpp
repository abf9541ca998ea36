#include <cmath>

#include "checkpoint/encoder_config.h"
#include "common/error.h"

// GTE (gte-*-v1.5, gte-multilingual, snowflake-arctic-embed-m-v2.0; Zhang et al., 2024): BERT's post-norm block with rotary positions and a
// gated feed-forward whose activation is on the second half. The hub's releases came with code of their own (model_type 'new').

namespace faceter {
namespace {

EncoderNames gte_names() {
    EncoderNames n;
    n.prefixes = {"", "gte.", "model."};
    n.word = "embeddings.word_embeddings";
    n.token_type = "embeddings.token_type_embeddings";
    n.embedding_norm = "embeddings.LayerNorm";
    n.block = "layers.{}.";
    n.qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
    n.attention_output = "self_attn.o_proj";
    n.attention_norm = "post_attention_layernorm";
    n.up = {"mlp.up_proj", "mlp.gate_proj"};
    n.down = "mlp.down_proj";
    n.mlp_norm = "post_mlp_layernorm";
    return n;
}

EncoderNames released_names() {
    EncoderNames n = gte_names();
    n.prefixes = {"", "new."};
    n.block = "encoder.layer.{}.";
    n.qkv = {"attention.qkv_proj"};
    n.attention_output = "attention.o_proj";
    n.attention_norm = "attn_ln";
    n.up = {"mlp.up_gate_proj"};
    n.mlp_norm = "mlp_ln";
    return n;
}

EncoderConfig read_gte(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c;
    read_common_sizes(c, config, name);
    c.length_limit = size_member(config, "max_position_embeddings", name, 8192);
    c.num_token_types = json_or<std::int64_t>(config, "type_vocab_size", 1, name);
    refuse_unless(c.num_token_types >= 0 && c.num_token_types <= 1024, config, "type_vocab_size", name, "0 to 1024");
    c.activation = activation_member(config, "hidden_act", name, "gelu");
    c.gated = c.gate_second = true;
    c.up_bias = false;
    c.norm_epsilon = json_or<double>(config, "layer_norm_eps", 1e-12, name);
    c.rotary_dim = c.head_dim;
    c.rotary = rotary_member(config, name, 160000);
    c.hidden_dropout = probability_member(config, "hidden_dropout_prob", name, 0.1);
    c.attention_dropout = probability_member(config, "attention_probs_dropout_prob", name, 0);
    c.names = gte_names();
    c.released = released_names();
    return c;
}

bool is_release(const Json& config) { return config.is_object() && config.contains("model_type") && config.at("model_type") == "new"; }

/// NTK scaling by a factor is a larger base together with frequencies divided by factor^(2 / head_dim), whatever the length: what
/// transformers writes as linear scaling.
Json native_rotary(const Json& config, std::string_view name) {
    Json rotary = {{"rope_type", "default"}, {"rope_theta", json_or<double>(config, "rope_theta", 10000, name)}};
    const Json scaling = json_or<Json>(config, "rope_scaling", Json(), name);
    if (scaling.is_null()) return rotary;
    const auto type = json_or<std::string>(scaling, "type", "", name);
    refuse_unless((type == "ntk" && !scaling.contains("mixed_b")) || type == "linear", config, "rope_scaling", name, "ntk or linear");
    const auto factor = json_at<double>(scaling, "factor", name);
    const auto head_dim = static_cast<double>(size_member(config, "hidden_size", name)) /
                          static_cast<double>(size_member(config, "num_attention_heads", name));
    rotary["rope_type"] = "linear";
    rotary["factor"] = type == "linear" ? factor : std::pow(factor, 2 / head_dim);
    if (type == "ntk") rotary["rope_theta"] = factor * rotary["rope_theta"].get<double>();
    return rotary;
}

Json native_gte(const Json& config, std::string_view name) {
    const auto positions = json_or<std::string>(config, "position_embedding_type", "rope", name);
    refuse_unless(positions == "rope", config, "position_embedding_type", name, "rope");
    for (const char* key : {"logn_attention_scale", "logn_attention_clip1"})
        refuse_unless(!json_or<bool>(config, key, false, name), config, key, name, "false");
    refuse_unless(json_or<std::string>(config, "layer_norm_type", "layer_norm", name) == "layer_norm", config, "layer_norm_type", name,
                  "layer_norm");
    Json native = config;
    for (const char* key : {"auto_map", "position_embedding_type", "rope_theta", "rope_scaling", "logn_attention_scale",
                            "logn_attention_clip1", "layer_norm_type", "pack_qkv", "unpad_inputs", "use_memory_efficient_attention"})
        native.erase(key);
    native["model_type"] = "gte";
    native["architectures"] = Json::array({"GteModel"});
    native["rope_parameters"] = native_rotary(config, name);
    return native;
}

const BackboneFamily gte("gte", read_gte);
const ReleasedLayout release(is_release, native_gte);

}  // namespace
}  // namespace faceter
