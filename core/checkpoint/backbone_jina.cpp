#include "checkpoint/encoder_config.h"
#include "common/error.h"

// jina-embeddings-v3 (Sturua et al., 2024): XLM-R's block with rotary positions in place of learnt ones, and an adapter a task. The hub's
// release came with code of its own: model_type 'xlm-roberta' with rotary positions, weights that stand beside stacked adapters.

namespace faceter {
namespace {

EncoderNames jina_names() {
    EncoderNames n;
    n.prefixes = {"", "roberta.", "model."};
    n.word = "embeddings.word_embeddings";
    n.token_type = "embeddings.token_type_embeddings";
    n.embedding_norm = "embeddings.LayerNorm";
    n.block = "layers.{}.";
    n.qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
    n.attention_output = "self_attn.o_proj";
    n.attention_norm = "post_attention_layernorm";
    n.up = {"mlp.fc1"};
    n.down = "mlp.fc2";
    n.mlp_norm = "post_mlp_layernorm";
    return n;
}

EncoderNames released_names() {
    EncoderNames n = jina_names();
    n.prefixes = {"", "roberta."};
    n.embedding_norm = "emb_ln";
    n.block = "encoder.layers.{}.";
    n.qkv = {"mixer.Wqkv"};
    n.attention_output = "mixer.out_proj";
    n.attention_norm = "norm1";
    n.mlp_norm = "norm2";
    return n;
}

EncoderConfig read_jina(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c;
    read_common_sizes(c, config, name);
    c.length_limit = size_member(config, "max_position_embeddings", name, 8194);
    c.num_token_types = size_member(config, "type_vocab_size", name, 1);
    c.activation = activation_member(config, "hidden_act", name, "gelu");
    c.norm_epsilon = json_or<double>(config, "layer_norm_eps", 1e-5, name);
    c.rotary_dim = c.head_dim;
    c.rotary = rotary_member(config, name, 20000);
    c.hidden_dropout = probability_member(config, "hidden_dropout_prob", name, 0.1);
    c.attention_dropout = probability_member(config, "attention_probs_dropout_prob", name, 0.1);
    c.names = jina_names();
    c.released = released_names();
    return c;
}

bool is_release(const Json& config) {
    return config.is_object() && config.contains("model_type") && config.at("model_type") == "xlm-roberta" &&
           config.contains("position_embedding_type") && config.at("position_embedding_type") == "rotary";
}

Json native_jina(const Json& config, std::string_view name) {
    Json native = config;
    for (const char* key :
         {"auto_map", "position_embedding_type", "rotary_emb_base", "emb_pooler", "load_trained_adapters", "lora_adaptations", "lora_alpha",
          "lora_dropout_p", "lora_main_params_trainable", "lora_rank", "matryoshka_dimensions", "task_instructions", "truncate_dim",
          "use_flash_attn", "use_reg_tokens", "output_past"})
        native.erase(key);
    native["model_type"] = "jina_embeddings_v3";
    native["architectures"] = Json::array({"JinaEmbeddingsV3Model"});
    native["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", json_or<double>(config, "rotary_emb_base", 10000, name)}};
    return native;
}

const BackboneFamily jina("jina_embeddings_v3", read_jina);
const ReleasedLayout release(is_release, native_jina);

}  // namespace
}  // namespace faceter
