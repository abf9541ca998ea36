#include "checkpoint/rotary_post_norm.h"

#include "checkpoint/rotary_scaling.h"

namespace faceter {
EncoderNames rotary_post_norm_names() {
    EncoderNames n;
    n.word = "embeddings.word_embeddings";
    n.token_type = "embeddings.token_type_embeddings";
    n.embedding_norm = "embeddings.LayerNorm";
    n.block = "layers.{}.";
    n.qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
    n.attention_output = "self_attn.o_proj";
    n.attention_norm = "post_attention_layernorm";
    n.mlp_norm = "post_mlp_layernorm";
    return n;
}

EncoderConfig read_rotary_post_norm(const Json& config, std::string_view name, const RotaryPostNorm& usual) {
    EncoderConfig c;
    read_grouped_sizes(c, config, name);
    refuse_unless(c.num_key_heads == c.num_heads, config, "num_key_value_heads", name, "num_attention_heads");
    c.length_limit = size_member(config, "max_position_embeddings", name, usual.length_limit);
    c.num_token_types = json_or<std::int64_t>(config, "type_vocab_size", 1, name);
    refuse_unless(c.num_token_types >= 0 && c.num_token_types <= 1024, config, "type_vocab_size", name, "0 to 1024");
    c.activation = activation_member(config, "hidden_act", name, "gelu");
    c.norm_epsilon = json_or<double>(config, "layer_norm_eps", usual.norm_epsilon, name);
    c.rotary_dim = c.head_dim;
    read_rotary(c, config, name, usual.rotary_base);
    c.dropout.set_hidden(probability_member(config, "hidden_dropout_prob", name, 0.1));
    c.dropout.attention = probability_member(config, "attention_probs_dropout_prob", name, usual.attention_dropout);
    c.names = rotary_post_norm_names();
    return c;
}

}  // namespace faceter
