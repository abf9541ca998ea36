#include "checkpoint/config_members.h"
#include "checkpoint/encoder_config.h"
#include "common/error.h"

// ModernBERT (Warner et al., 2024): pre-norm, rotary positions, gated feed-forward, local attention in two blocks of three, no biases by
// default.

namespace faceter {
namespace {

/// Newer files nest the base of a kind of block under rope_parameters, older ones have a key of their own. transformers' class takes no
/// rope_theta for both.
Rotary rotary_of(Json config, const char* kind, const char* old_key, double usual, std::int64_t rotary_dim, std::string_view name) {
    config.erase("rope_theta");
    return rotary_member(config, name, json_or<double>(config, old_key, usual, name), rotary_dim, kind);
}

EncoderConfig read_modernbert(const Json& config, std::string_view name, const Weights&) {
    refuse_rotary_without_kinds(config, name);
    EncoderConfig c;
    read_common_sizes(c, config, name);
    c.length_limit = size_member(config, "max_position_embeddings", name, 8192);
    c.rotary_dim = c.head_dim;
    c.pre_norm = true;
    c.first_attention_norm = false;
    c.norm_bias = json_or<bool>(config, "norm_bias", false, name);
    c.qkv_bias = c.attention_output_bias = json_or<bool>(config, "attention_bias", false, name);
    c.up_bias = c.down_bias = json_or<bool>(config, "mlp_bias", false, name);
    c.norm_epsilon = json_or<double>(config, "norm_eps", 1e-5, name);
    c.activation = activation_member(config, "hidden_activation", name, "gelu");
    c.gated = true;
    c.rotary = rotary_of(config, "full_attention", "global_rope_theta", 160000, c.rotary_dim, name);
    c.local_rotary = rotary_of(config, "sliding_attention", "local_rope_theta", 10000, c.rotary_dim, name);
    const std::int64_t window = size_member(config, "local_attention", name, 128) / 2;
    c.local_reach = {window, window};
    const std::int64_t global_every = size_member(config, "global_attn_every_n_layers", name, 3);
    for (std::int64_t i = 0; i < c.num_layers; ++i) c.local.push_back(i % global_every != 0);
    if (const auto named = local_member(c, config, name)) c.local = *named;
    c.dropout.embeddings = probability_member(config, "embedding_dropout", name, 0);
    c.dropout.attention = c.dropout.attention_output = probability_member(config, "attention_dropout", name, 0);
    c.dropout.inner = probability_member(config, "mlp_dropout", name, 0);
    c.dropout.feed_forward_output = c.dropout.final_output = DropoutRates::nowhere;
    EncoderNames& n = c.names;
    n.prefixes = {"", "model."};
    n.word = "embeddings.tok_embeddings";
    n.embedding_norm = "embeddings.norm";
    n.final_norm = "final_norm";
    n.block = "layers.{}.";
    n.qkv = {"attn.Wqkv"};
    n.attention_output = "attn.Wo";
    n.attention_norm = "attn_norm";
    n.up = {"mlp.Wi"};
    n.down = "mlp.Wo";
    n.mlp_norm = "mlp_norm";
    return c;
}

const BackboneFamily modernbert("modernbert", read_modernbert);

const FamilyMembers members(
    {"modernbert"},
    "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings norm_eps layer_norm_eps "
    "norm_bias attention_bias mlp_bias hidden_activation local_attention global_attn_every_n_layers layer_types rope_scaling "
    "rope_parameters global_rope_theta local_rope_theta mlp_dropout attention_dropout embedding_dropout position_embedding_type "
    "decoder_bias deterministic_flash_attn reference_compile repad_logits_with_grad");

}  // namespace
}  // namespace faceter
