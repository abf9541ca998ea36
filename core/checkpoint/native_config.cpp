#include "checkpoint/native_config.h"

namespace faceter {

Json with_native_members(const Json& config, const EncoderConfig& encoder) {
    if (json_or<std::string>(config, "model_type", "", "config.json") != "nomic_bert") return config;
    Json native = config;
    native.update({{"vocab_size", encoder.vocab_size},
                   {"hidden_size", encoder.hidden_dim},
                   {"num_hidden_layers", encoder.num_layers},
                   {"num_attention_heads", encoder.num_heads},
                   {"intermediate_size", encoder.intermediate_dim},
                   {"hidden_act", encoder.activation == Activation::silu ? "silu" : "gelu"},
                   {"hidden_dropout_prob", encoder.hidden_dropout},
                   {"attention_probs_dropout_prob", encoder.attention_dropout},
                   {"layer_norm_eps", encoder.norm_epsilon},
                   {"type_vocab_size", encoder.num_token_types},
                   {"rope_parameters", {{"rope_theta", encoder.rotary.base}, {"rope_type", "default"}}}});
    if (encoder.length_limit > 0) native["max_position_embeddings"] = encoder.length_limit;
    if (!native.contains("pad_token_id") || native["pad_token_id"].is_null()) native["pad_token_id"] = 0;
    return native;
}

std::string beyond_native_code(const std::string& model_type, const EncoderConfig& encoder) {
    if (model_type != "nomic_bert") return "";
    if (!encoder.gated) return "its MLP is not gated, which transformers' own NomicBERT cannot hold";
    if (encoder.qkv_bias || encoder.attention_output_bias || encoder.up_bias || encoder.down_bias)
        return "its linear layers have biases, which transformers' own NomicBERT cannot hold";
    if (encoder.rotary_dim != encoder.head_dim) return "it rotates a part of each head, which transformers' own NomicBERT cannot do";
    if (encoder.num_token_types < 1) return "it has no token types, without which transformers' own NomicBERT does not work";
    return "";
}

}  // namespace faceter
