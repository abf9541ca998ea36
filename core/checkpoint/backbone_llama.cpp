#include "checkpoint/config_members.h"
#include "checkpoint/llama_block.h"

// Llama's block as it is, and in families that differ in little: Mistral (e5-mistral) has a causal window, EuroBERT is read in both
// directions.

namespace faceter {
namespace {

EncoderConfig read_mistral(const Json& given, std::string_view name, const Weights&) {
    const Json config = with_usual_window(given);
    EncoderConfig c = read_llama_block(config, name, {0, 8});
    c.qkv_bias = c.attention_output_bias = false;
    read_direction(c, config, name);
    if (has_window(config)) c.local.assign(static_cast<std::size_t>(c.num_layers), true);
    return c;
}

EncoderConfig read_llama(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_block(config, name, {});
    read_direction(c, Json{{"is_causal", json_or<bool>(config, "is_causal", true, name)}}, name);
    c.up_bias = c.down_bias = json_or<bool>(config, "mlp_bias", false, name);
    return c;
}

EncoderConfig read_eurobert(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_block(config, name, {0, 0, 1e-5});
    c.up_bias = c.down_bias = json_or<bool>(config, "mlp_bias", false, name);
    return c;
}

const BackboneFamily mistral("mistral", read_mistral), llama("llama", read_llama), eurobert("eurobert", read_eurobert);

const FamilyMembers mistral_members(
    {"mistral"},
    "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings "
    "num_key_value_heads head_dim rope_theta rope_scaling rope_parameters rms_norm_eps attention_bias hidden_act "
    "attention_dropout is_causal sliding_window"),
    llama_members(
        {"llama", "eurobert"},
        "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings num_key_value_heads "
        "head_dim rope_theta rope_scaling rope_parameters rms_norm_eps attention_bias hidden_act attention_dropout is_causal mlp_bias");

}  // namespace
}  // namespace faceter
