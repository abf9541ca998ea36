#include "checkpoint/encoder_config.h"
#include "common/error.h"

// NomicBERT, dense (v1, v1.5: gated, no biases) and with token-routed blocks (v2): rotary positions, post-norm, fused query, key and value.
// Its configuration is GPT-2's with additions; the hub's newer files carry transformers' own keys beside them, with the same values.

namespace faceter {
namespace {

/// The rows of the first tensor whose name ends so: released code rounds n_inner and the vocabulary up, so the tensors know best.
std::int64_t rows_of(const Weights& weights, std::string_view ending, std::int64_t otherwise) {
    for (const std::string& name : weights.names())
        if (name.ends_with(ending) && weights.find(name)->shape.size() == 2) return static_cast<std::int64_t>(weights.find(name)->shape[0]);
    return otherwise;
}

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
    const Json native = json_or<Json>(config, "rope_parameters", Json::object(), name);
    c.rotary.base = json_or<double>(config, "rotary_emb_base", json_or<double>(native, "rope_theta", 10000, name), name);
    if (config.contains("rotary_scaling_factor") && !config["rotary_scaling_factor"].is_null()) {
        c.rotary_scaling = json_at<double>(config, "rotary_scaling_factor", name);
        refuse_unless(c.rotary_scaling > 0 && c.rotary_scaling < 1e6, config, "rotary_scaling_factor", name, "a positive factor");
    }
    c.trained_positions = size_member(config, "max_trained_positions", name, 2048);
}

void read_experts(EncoderConfig& c, const Json& config, std::string_view name, const Weights& weights) {
    const auto experts = json_or<std::int64_t>(config, "num_experts", 0, name),
               every = json_or<std::int64_t>(config, "moe_every_n_layers", 0, name);
    if (experts <= 0 || every <= 0) return;
    refuse_unless(experts <= 4096, config, "num_experts", name, "at most 4096");
    c.routed = {experts, size_member(config, "moe_top_k", name, 1), every,
                json_or<bool>(config, "moe_normalize_expert_weights", false, name)};
    refuse_unless(c.routed.top_k <= experts, config, "moe_top_k", name, "at most num_experts");
    const std::int64_t rows = experts * c.intermediate_dim * (c.gated ? 2 : 1);
    if (rows_of(weights, "mlp.experts.mlp.w1", rows) != rows)
        throw data_error("{}: mlp.experts.mlp.w1 of {} does not hold {} experts of {} rows", name, weights.description(), experts,
                         c.intermediate_dim);
    for (const std::string& tensor : weights.names()) c.routed.up_bias |= tensor.ends_with("mlp.experts.mlp.b1");
}

EncoderConfig read_nomic(const Json& config, std::string_view name, const Weights& weights) {
    refuse_the_rest(config, name);
    EncoderConfig c;
    c.num_layers = either_size(config, "n_layer", "num_hidden_layers", name);
    c.hidden_dim = either_size(config, "n_embd", "hidden_size", name);
    c.num_heads = either_size(config, "n_head", "num_attention_heads", name);
    const auto activation = json_or<std::string>(config, "activation_function", "swiglu", name);
    c.gated = activation == "swiglu" || activation == "geglu";
    refuse_unless(activation == "swiglu" || activation == "geglu" || activation == "gelu", config, "activation_function", name,
                  "swiglu, geglu or gelu");
    c.activation = activation == "swiglu" ? Activation::silu : Activation::gelu;
    c.intermediate_dim =
        rows_of(weights, c.gated ? "mlp.fc11.weight" : "mlp.fc1.weight", size_member(config, "n_inner", name, 4 * c.hidden_dim));
    c.vocab_size = rows_of(weights, "embeddings.word_embeddings.weight", size_member(config, "vocab_size", name));
    c.num_token_types = json_or<std::int64_t>(config, "type_vocab_size", 2, name);
    refuse_unless(c.num_token_types >= 0 && c.num_token_types <= 1024, config, "type_vocab_size", name, "0 to 1024");
    c.length_limit = config.contains("n_positions") ? size_member(config, "n_positions", name) : 0;
    c.head_dim = head_dim_member(c, name, "n_embd", "n_head");
    c.qkv_bias = c.attention_output_bias = json_or<bool>(config, "qkv_proj_bias", false, name);
    c.up_bias = json_or<bool>(config, "mlp_fc1_bias", false, name);
    c.down_bias = json_or<bool>(config, "mlp_fc2_bias", false, name);
    c.norm_epsilon = json_or<double>(config, "layer_norm_epsilon", 1e-12, name);
    c.hidden_dropout = probability_member(config, "resid_pdrop", name, 0);
    c.attention_dropout = probability_member(config, "attn_pdrop", name, 0);
    read_rotary(c, config, name);
    read_experts(c, config, name, weights);
    EncoderNames& n = c.names;
    n.prefixes = {"", "bert."};
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
    return c;
}

const BackboneFamily nomic("nomic_bert", read_nomic);

}  // namespace
}  // namespace faceter
