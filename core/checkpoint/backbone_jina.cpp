#include "checkpoint/config_members.h"
#include "checkpoint/rotary_post_norm.h"
#include "common/error.h"

// jina-embeddings-v3 (Sturua et al., 2024): XLM-R's block with rotary positions in place of learnt ones, and an adapter a task. The hub's
// release came with code of its own: model_type 'xlm-roberta' with rotary positions, weights that stand beside stacked adapters.

namespace faceter {
namespace {

EncoderNames released_names(EncoderNames n) {
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
    EncoderConfig c = read_rotary_post_norm(config, name, {8194, 1e-5, 20000, 0.1});
    c.names.prefixes = {"", "roberta.", "model."};
    c.names.up = {"mlp.fc1"};
    c.names.down = "mlp.fc2";
    c.released = released_names(c.names);
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
const FamilyMembers members({"jina_embeddings_v3"}, rotary_post_norm_members);
const ReleasedLayout release(is_release, native_jina);

}  // namespace
}  // namespace faceter
