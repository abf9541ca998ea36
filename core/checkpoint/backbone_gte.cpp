#include <cmath>

#include "checkpoint/config_members.h"
#include "checkpoint/rotary_post_norm.h"
#include "common/error.h"

// GTE (gte-*-v1.5, gte-multilingual, snowflake-arctic-embed-m-v2.0; Zhang et al., 2024): BERT's post-norm block with rotary positions and a
// gated feed-forward whose activation is on the second half. The hub's releases came with code of their own (model_type 'new').

namespace faceter {
namespace {

EncoderNames released_names(EncoderNames n) {
    n.prefixes = {"", "new.", "gte."};  // transformers writes the released names behind its own prefix
    n.block = "encoder.layer.{}.";
    n.qkv = {"attention.qkv_proj"};
    n.attention_output = "attention.o_proj";
    n.attention_norm = "attn_ln";
    n.up = {"mlp.up_gate_proj"};
    n.mlp_norm = "mlp_ln";
    return n;
}

EncoderConfig read_gte(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_rotary_post_norm(config, name, {8192, 1e-12, 160000, 0});
    c.gated = c.gate_second = true;
    c.up_bias = false;
    c.names.prefixes = {"", "gte.", "model."};
    c.names.up = {"mlp.up_proj", "mlp.gate_proj"};
    c.names.down = "mlp.down_proj";
    c.released = released_names(c.names);
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
const FamilyMembers members({"gte"}, rotary_post_norm_members);
const ReleasedLayout release(is_release, native_gte);

}  // namespace
}  // namespace faceter
