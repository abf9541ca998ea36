#include "checkpoint/config_members.h"
#include "checkpoint/nomic_experts.h"
#include "checkpoint/rotary_post_norm.h"
#include "common/error.h"

// NomicBERT, dense (v1, v1.5: gated, no biases) and with token-routed blocks (v2): rotary positions, post-norm, fused query, key and value.
// Its configuration is GPT-2's with additions; the hub's newer files carry transformers' own keys beside them, with the same values, and
// what transformers saves has those keys and its own names alone.

namespace faceter {
namespace {

std::int64_t either_size(const Json& config, const char* own, const char* native, std::string_view name) {
    return size_member(config, config.contains(own) ? own : native, name);
}

void refuse_the_rest(const Json& config, std::string_view name) {
    for (const char* key : {"causal", "prenorm", "parallel_block", "rotary_emb_interleaved", "use_rms_norm",
                            "scale_attn_by_inverse_layer_idx", "expert_choice_router"})
        refuse_unless(!json_or<bool>(config, key, false, name), config, key, name, "false");
    refuse_unless(json_or<double>(config, "ffn_div", 1, name) == 1, config, "ffn_div", name, "1");
    refuse_unless(json_or<std::int64_t>(config, "num_shared_experts", 0, name) == 0, config, "num_shared_experts", name, "0");
    if (config.contains("rotary_emb_scale_base"))
        refuse_unless(config["rotary_emb_scale_base"].is_null(), config, "rotary_emb_scale_base", name, "null");
}

void read_rotary(EncoderConfig& c, const Json& config, std::string_view name) {
    const double fraction = json_or<double>(config, "rotary_emb_fraction", 1, name);
    refuse_unless(fraction >= 0 && fraction <= 1, config, "rotary_emb_fraction", name, "a share of the head, 0 to 1,");
    c.rotary_dim = static_cast<std::int64_t>(static_cast<double>(c.head_dim) * fraction);
    if (c.rotary_dim == 0)
        throw data_error(
            "{}: rotary_emb_fraction {} turns nothing of a head; the released code reads a table of positions then "
            "(embeddings.position_embeddings), which no NomicBERT here has. Use a model with rotary positions",
            name, fraction);
    const bool released = config.contains("rotary_emb_base") || config.contains("n_embd");
    c.rotary = rotary_member(config, name, 1000);
    if (released)
        c.rotary.base = json_or<double>(config, "rotary_emb_base", config.contains("rope_parameters") ? c.rotary.base : 10000, name);
    if (config.contains("rotary_scaling_factor") && !config["rotary_scaling_factor"].is_null()) {
        c.rotary_scaling = json_at<double>(config, "rotary_scaling_factor", name);
        refuse_unless(c.rotary_scaling > 0 && c.rotary_scaling < 1e6, config, "rotary_scaling_factor", name, "a positive factor");
    }
    c.trained_positions = size_member(config, "max_trained_positions", name, 2048);
}

/// The hub's files name the whole feed-forward, transformers' own the activation of a gated one.
void read_activation(EncoderConfig& c, const Json& config, std::string_view name) {
    if (!config.contains("activation_function") && config.contains("hidden_act")) {
        c.gated = true;
        c.activation = activation_member(config, "hidden_act", name, "silu");
        return;
    }
    const auto activation = json_or<std::string>(config, "activation_function", "swiglu", name);
    c.gated = activation == "swiglu" || activation == "geglu";
    refuse_unless(c.gated || activation == "gelu", config, "activation_function", name, "swiglu, geglu or gelu");
    c.activation = activation == "swiglu" ? Activation::silu : Activation::gelu;
}

/// Those of a dense model that transformers has saved.
EncoderNames native_names() {
    EncoderNames n = rotary_post_norm_names();
    n.prefixes = {"", "nomic_bert.", "model."};
    n.up = {"mlp.gate_proj", "mlp.up_proj"};
    n.down = "mlp.down_proj";
    return n;
}

EncoderConfig read_nomic(const Json& config, std::string_view name, const Weights& weights) {
    refuse_the_rest(config, name);
    EncoderConfig c;
    c.num_layers = either_size(config, "n_layer", "num_hidden_layers", name);
    c.hidden_dim = either_size(config, "n_embd", "hidden_size", name);
    c.num_heads = either_size(config, "n_head", "num_attention_heads", name);
    read_activation(c, config, name);
    c.intermediate_dim =
        tensor_rows(weights, c.gated ? "mlp.fc11.weight" : "mlp.fc1.weight",
                    size_member(config, "n_inner", name, size_member(config, "intermediate_size", name, 4 * c.hidden_dim)));
    c.vocab_size = tensor_rows(weights, "embeddings.word_embeddings.weight", size_member(config, "vocab_size", name));
    c.num_token_types = json_or<std::int64_t>(config, "type_vocab_size", 2, name);
    refuse_unless(c.num_token_types >= 0 && c.num_token_types <= 1024, config, "type_vocab_size", name, "0 to 1024");
    for (const char* key : {"max_position_embeddings", "n_positions"})
        if (config.contains(key)) c.length_limit = size_member(config, key, name);
    const bool own_head = config.contains("head_dim") && !config["head_dim"].is_null();
    c.head_dim = own_head ? size_member(config, "head_dim", name) : head_dim_member(c, name, "n_embd", "n_head");
    c.qkv_bias = c.attention_output_bias = json_or<bool>(config, "qkv_proj_bias", false, name);
    c.up_bias = json_or<bool>(config, "mlp_fc1_bias", false, name);
    c.down_bias = json_or<bool>(config, "mlp_fc2_bias", false, name);
    c.norm_epsilon = json_or<double>(config, "layer_norm_epsilon", json_or<double>(config, "layer_norm_eps", 1e-12, name), name);
    // The release's code drops embeddings by resid_pdrop as well; nothing reads embd_pdrop.
    c.dropout.set_hidden(probability_member(config, "resid_pdrop", name, probability_member(config, "hidden_dropout_prob", name, 0)));
    c.dropout.attention =
        probability_member(config, "attn_pdrop", name, probability_member(config, "attention_probs_dropout_prob", name, 0));
    read_rotary(c, config, name);
    read_nomic_experts(c, config, name, weights);
    EncoderNames& n = c.names;
    n.prefixes = {"", "bert.", "nomic_bert."};
    n.word = "embeddings.word_embeddings";
    n.token_type = c.num_token_types > 0 ? "embeddings.token_type_embeddings" : "";
    n.embedding_norm = "emb_ln";
    n.block = "encoder.layers.{}.";
    n.qkv = {"attn.Wqkv"};
    n.attention_output = "attn.out_proj";
    n.attention_norm = "norm1";
    n.up =
        c.gated ? std::vector<std::string>{"mlp.fc12", "mlp.fc11"} : std::vector<std::string>{"mlp.fc1"};  // fc2(fc11(x) * silu(fc12(x)))
    n.down = "mlp.fc2";
    n.mlp_norm = "norm2";
    if (c.gated && c.routed.every == 0) c.released = native_names();  // read beside the release's own, which are written
    return c;
}

const BackboneFamily nomic("nomic_bert", read_nomic);

const FamilyMembers members(
    {"nomic_bert"},
    "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings type_vocab_size hidden_act "
    "layer_norm_eps hidden_dropout_prob attention_probs_dropout_prob head_dim rope_parameters n_layer n_embd n_head n_inner n_positions "
    "activation_function layer_norm_epsilon attn_pdrop embd_pdrop resid_pdrop qkv_proj_bias mlp_fc1_bias mlp_fc2_bias causal prenorm "
    "parallel_block rotary_emb_base rotary_emb_fraction rotary_emb_interleaved rotary_emb_scale_base rotary_scaling_factor "
    "max_trained_positions use_rms_norm scale_attn_by_inverse_layer_idx scale_attn_weights reorder_and_upcast_attn expert_choice_router "
    "ffn_div num_shared_experts num_experts moe_top_k moe_every_n_layers moe_normalize_expert_weights moe_impl moe_resid_pdrop "
    "router_aux_loss_coef add_router fused_bias_fc fused_dropout_add_ln pad_vocab_size_multiple use_flash_attn use_xentropy "
    "dense_seq_output last_layer_subset");

}  // namespace
}  // namespace faceter
