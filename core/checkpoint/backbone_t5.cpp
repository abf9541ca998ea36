#include "checkpoint/config_members.h"
#include "checkpoint/encoder_config.h"
#include "common/error.h"

// The encoder of T5 (Raffel et al., 2020): INSTRUCTOR, GTR, Sentence-T5. Pre-norm with RMS norms, a relative position bias shared by all
// blocks, logits that are not scaled, no biases; the size of a head is independent of the model's.

namespace faceter {
namespace {

EncoderConfig read_t5(const Json& given, std::string_view name, const Weights&) {
    const Json config = under_own_names(
        given,
        {{"num_hidden_layers", "num_layers"}, {"hidden_size", "d_model"}, {"num_attention_heads", "num_heads"}, {"head_dim", "d_kv"}});
    EncoderConfig c;
    c.num_layers = size_member(config, "num_layers", name);
    c.hidden_dim = size_member(config, "d_model", name);
    c.num_heads = size_member(config, "num_heads", name);
    c.head_dim = size_member(config, "d_kv", name);
    c.intermediate_dim = size_member(config, "d_ff", name);
    c.vocab_size = size_member(config, "vocab_size", name);
    c.pre_norm = true;
    c.norm = Norm::rms;
    c.norm_bias = c.qkv_bias = c.attention_output_bias = c.up_bias = c.down_bias = false;
    c.norm_epsilon = json_or<double>(config, "layer_norm_epsilon", 1e-6, name);
    c.attention_scale = 1;
    c.relative_buckets = size_member(config, "relative_attention_num_buckets", name, 32);
    c.relative_max_distance = size_member(config, "relative_attention_max_distance", name, 128);
    if (c.relative_buckets < 4 || c.relative_max_distance <= c.relative_buckets / 4)
        throw data_error(
            "{}: {} position buckets up to a distance of {}; at least 4, and a distance beyond a quarter of them, were expected", name,
            c.relative_buckets, c.relative_max_distance);
    const bool multilingual = json_or<std::string>(config, "model_type", "t5", name) == "mt5";
    const auto projection = json_or<std::string>(config, "feed_forward_proj", multilingual ? "gated-gelu" : "relu", name);
    refuse_unless(projection == "relu" || projection == "gelu" || projection == "silu" || projection == "gated-gelu" ||
                      projection == "gated-silu" || projection == "gated-relu",
                  config, "feed_forward_proj", name, "relu, gelu, silu, gated-gelu, gated-silu or gated-relu");
    const bool gated = projection.starts_with("gated-");
    // "gated-gelu" means the tanh form, for the sake of the first checkpoints that had it.
    const std::string usual = projection == "gated-gelu" ? "gelu_new" : projection.substr(gated ? 6 : 0);
    c.gated = json_or<bool>(config, "is_gated_act", gated, name);  // these go before what feed_forward_proj says
    c.activation = activation_member(config, "dense_act_fn", name, usual.c_str());
    c.dropout.inner = 0;
    c.dropout = c.dropout.everywhere(probability_member(config, "dropout_rate", name, 0.1));
    EncoderNames& n = c.names;
    n.word = "shared";
    n.word_alias = "encoder.embed_tokens";
    n.final_norm = "encoder.final_layer_norm";
    n.relative_bias = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias";
    n.block = "encoder.block.{}.";
    n.qkv = {"layer.0.SelfAttention.q", "layer.0.SelfAttention.k", "layer.0.SelfAttention.v"};
    n.attention_output = "layer.0.SelfAttention.o";
    n.attention_norm = "layer.0.layer_norm";
    n.up = c.gated ? std::vector<std::string>{"layer.1.DenseReluDense.wi_0", "layer.1.DenseReluDense.wi_1"}
                   : std::vector<std::string>{"layer.1.DenseReluDense.wi"};
    n.down = "layer.1.DenseReluDense.wo";
    n.mlp_norm = "layer.1.layer_norm";
    return c;
}

const BackboneFamily t5("t5", read_t5), mt5("mt5", read_t5);

const FamilyMembers members({"t5", "mt5"},
                            "num_layers num_decoder_layers d_model num_heads d_kv d_ff vocab_size layer_norm_epsilon feed_forward_proj "
                            "relative_attention_num_buckets relative_attention_max_distance dropout_rate n_positions is_gated_act "
                            "dense_act_fn scale_decoder_outputs num_hidden_layers hidden_size num_attention_heads head_dim");

}  // namespace
}  // namespace faceter
