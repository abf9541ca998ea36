#include <algorithm>

#include "checkpoint/config_members.h"
#include "checkpoint/llama_block.h"
#include "common/error.h"

// Qwen2 (gte-Qwen2): Llama's block with biases on query, key and value; Qwen3 (Qwen3-Embedding): with norms of each head's query and key.

namespace faceter {
namespace {

/// Qwen's windows: off unless use_sliding_window is set, then in the blocks from max_window_layers on or those that layer_types names.
void read_qwen_window(EncoderConfig& c, const Json& config, std::string_view name) {
    Json own = with_usual_window(config);
    if (!json_or<bool>(config, "use_sliding_window", false, name)) own.erase("sliding_window");
    read_direction(c, own, name);
    if (const auto named = local_member(c, config, name)) {
        const bool any = std::find(named->begin(), named->end(), true) != named->end();
        if (any && !has_window(own))
            throw data_error(
                "{}: layer_types names sliding_attention, and there is no window for it (use_sliding_window, sliding_window); give one, or "
                "name full_attention",
                name);
        c.local = *named;
    } else if (has_window(own)) {
        const auto first = json_or<std::int64_t>(config, "max_window_layers", 28, name);
        for (std::int64_t i = 0; i < c.num_layers; ++i) c.local.push_back(i >= first);
    }
}

EncoderConfig read_qwen3(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_block(config, name, {128, 32});
    read_qwen_window(c, config, name);
    c.names.query_norm = "self_attn.q_norm";
    c.names.key_norm = "self_attn.k_norm";
    return c;
}

EncoderConfig read_qwen2(const Json& config, std::string_view name, const Weights&) {
    EncoderConfig c = read_llama_block(config, name, {0, 32});
    read_qwen_window(c, config, name);
    c.qkv_bias = true;
    c.attention_output_bias = false;
    return c;
}

const BackboneFamily qwen3("qwen3", read_qwen3), qwen2("qwen2", read_qwen2);

const FamilyMembers members({"qwen2", "qwen3"},
                            "num_hidden_layers hidden_size num_attention_heads intermediate_size vocab_size max_position_embeddings "
                            "num_key_value_heads head_dim rope_theta rope_scaling rope_parameters rms_norm_eps attention_bias "
                            "hidden_act attention_dropout is_causal use_sliding_window sliding_window max_window_layers layer_types");

}  // namespace
}  // namespace faceter
