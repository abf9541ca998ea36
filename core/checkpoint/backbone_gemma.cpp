#include <fmt/format.h>

#include <cmath>

#include "checkpoint/config_members.h"
#include "checkpoint/encoder_config.h"
#include "common/error.h"

// Gemma 3's text model (Gemma Team, 2025), as EmbeddingGemma has it (Vera et al., 2025): norms that scale with 1 + weight before and behind
// each half and of each head's query and key, word embeddings scaled by the root of their width, windows in five blocks of six with a
// rotary base of their own. Read in both directions where use_bidirectional_attention is set.

namespace faceter {
namespace {

EncoderNames gemma_names() {
    EncoderNames n;
    n.prefixes = {"", "model.", "language_model.", "language_model.model.", "model.language_model."};
    n.word = "embed_tokens";
    n.final_norm = "norm";
    n.block = "layers.{}.";
    n.qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
    n.query_norm = "self_attn.q_norm";
    n.key_norm = "self_attn.k_norm";
    n.attention_output = "self_attn.o_proj";
    n.attention_norm = "input_layernorm";
    n.attention_behind = "post_attention_layernorm";
    n.mlp_norm = "pre_feedforward_layernorm";
    n.up = {"mlp.gate_proj", "mlp.up_proj"};
    n.down = "mlp.down_proj";
    n.mlp_behind = "post_feedforward_layernorm";
    return n;
}

/// sliding_window counts both sides where the text is read in both directions, and the token itself where it is read forwards.
void read_reach(EncoderConfig& c, const Json& config, std::string_view name) {
    const std::int64_t window = size_member(config, "sliding_window", name, 4096);
    if (json_or<bool>(config, "use_bidirectional_attention", false, name)) {
        c.local_reach = {window / 2, window / 2};
    } else {
        c.reach.after = 0;
        c.local_reach = {window - 1, 0};
    }
    if (const auto named = local_member(c, config, name)) {
        c.local = *named;
        return;
    }
    const std::int64_t pattern = size_member(config, "sliding_window_pattern", name, 6);
    for (std::int64_t i = 0; i < c.num_layers; ++i) c.local.push_back((i + 1) % pattern != 0);
}

/// transformers halved sliding_window each time it saved a model that is read in both directions, until its pull request 47940.
void remark_on_window(EncoderConfig& c, const Json& config, std::string_view name) {
    constexpr std::int64_t released = 512;
    const bool is_embedding_gemma = c.num_layers == 24 && c.hidden_dim == 768 && c.num_heads == 3 && !c.reach.is_limited();
    const std::int64_t window = size_member(config, "sliding_window", name, 4096);
    if (!is_embedding_gemma || window == released) return;
    c.remarks.push_back(
        fmt::format("{}: sliding_window is {}, EmbeddingGemma's release has {}; versions of transformers halved it when they "
                    "saved a model, so set it to {} unless the model was trained with another",
                    name, window, released, released));
}

EncoderConfig read_gemma3(const Json& config, std::string_view name, const Weights&) {
    refuse_unless(json_or<bool>(config, "is_causal", true, name), config, "is_causal", name, "true (use_bidirectional_attention)");
    refuse_rotary_without_kinds(config, name);
    EncoderConfig c;
    read_grouped_sizes(c, config, name, 256, 4);
    c.length_limit = size_member(config, "max_position_embeddings", name, 131072);
    c.pre_norm = c.norm_plus_one = c.gated = true;
    c.norm = Norm::rms;
    c.norm_epsilon = json_or<double>(config, "rms_norm_eps", 1e-6, name);
    c.norm_bias = c.up_bias = c.down_bias = false;
    c.qkv_bias = c.attention_output_bias = json_or<bool>(config, "attention_bias", false, name);
    c.activation = activation_member(config, "hidden_activation", name, "gelu_pytorch_tanh");
    c.word_scale = std::sqrt(static_cast<double>(c.hidden_dim));
    const double scalar = json_or<double>(config, "query_pre_attn_scalar", 256, name);
    refuse_unless(scalar > 0, config, "query_pre_attn_scalar", name, "a positive number");
    c.attention_scale = 1 / std::sqrt(scalar);
    c.rotary_dim = c.head_dim;
    c.rotary = rotary_member(config, name, 1'000'000, c.rotary_dim);
    Json local = config;  // scaling and rope_theta are of full attention alone
    local.erase("rope_scaling");
    local["rope_theta"] = json_or<double>(config, "rope_local_base_freq", 10000, name);
    c.local_rotary = rotary_member(local, name, 10000, c.rotary_dim, "sliding_attention");
    read_reach(c, config, name);
    remark_on_window(c, config, name);
    c.dropout.attention = probability_member(config, "attention_dropout", name, 0);
    c.names = gemma_names();
    return c;
}

const BackboneFamily gemma3("gemma3_text", read_gemma3);

const FamilyMembers members({"gemma3_text"},
                            "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings "
                            "num_key_value_heads head_dim rope_theta rope_scaling rope_parameters rms_norm_eps attention_bias hidden_act "
                            "attention_dropout is_causal hidden_activation query_pre_attn_scalar sliding_window sliding_window_pattern "
                            "layer_types rope_local_base_freq use_bidirectional_attention attn_logit_softcapping");

}  // namespace
}  // namespace faceter
