#pragma once
#include <cmath>
#include <vector>

#include "model/encoder.h"
#include "support/tensors.h"

namespace faceter::testing {

inline const std::vector<const char*> backbone_families = {
    "bert",     "mpnet",   "nomic_bert",  "t5",  "t5 gated",           "modernbert", "qwen3",
    "eurobert", "mistral", "gemma3_text", "gte", "jina_embeddings_v3", "deberta-v2"};

/// A small configuration of each family, as its config.json would give it.
inline EncoderConfig small_config(const std::string& family) {
    Json json;
    if (family == "bert" || family == "mpnet")
        json = {{"model_type", family},          {"num_hidden_layers", 4},  {"hidden_size", 24},
                {"num_attention_heads", 3},      {"intermediate_size", 40}, {"vocab_size", 100},
                {"max_position_embeddings", 32}, {"type_vocab_size", 2}};
    else if (family == "nomic_bert")
        json = {{"model_type", family},
                {"n_layer", 4},
                {"n_embd", 24},
                {"n_head", 3},
                {"n_inner", 40},
                {"vocab_size", 100},
                {"type_vocab_size", 2},
                {"n_positions", 64},
                {"rotary_emb_base", 1000},
                {"activation_function", "swiglu"}};
    else if (family == "t5" || family == "t5 gated")
        json = {{"model_type", "t5"},
                {"num_layers", 4},
                {"d_model", 24},
                {"num_heads", 3},
                {"d_kv", 10},
                {"d_ff", 40},
                {"vocab_size", 100},
                {"relative_attention_num_buckets", 8},
                {"relative_attention_max_distance", 12},
                {"feed_forward_proj", family == "t5" ? "relu" : "gated-gelu"}};
    else if (family == "qwen3" || family == "eurobert" || family == "mistral")
        json = {{"model_type", family},
                {"num_hidden_layers", 4},
                {"hidden_size", 24},
                {"num_attention_heads", 6},
                {"num_key_value_heads", 2},
                {"head_dim", 10},
                {"intermediate_size", 40},
                {"vocab_size", 100},
                {"attention_bias", family == "qwen3"},
                {"use_sliding_window", family == "qwen3"},
                {"sliding_window", 5},
                {"max_window_layers", 2}};
    else if (family == "gemma3_text")
        json = {{"model_type", family},     {"num_hidden_layers", 4},      {"hidden_size", 24},
                {"num_attention_heads", 3}, {"num_key_value_heads", 1},    {"head_dim", 12},
                {"intermediate_size", 40},  {"vocab_size", 100},           {"query_pre_attn_scalar", 20},
                {"sliding_window", 8},      {"sliding_window_pattern", 3}, {"use_bidirectional_attention", true}};
    else if (family == "deberta-v2")
        json = {{"model_type", family},         {"num_hidden_layers", 4},  {"hidden_size", 24},
                {"num_attention_heads", 3},     {"intermediate_size", 40}, {"vocab_size", 100},
                {"relative_attention", true},   {"position_buckets", 8},   {"pos_att_type", "c2p|p2c"},
                {"norm_rel_ebd", "layer_norm"}, {"share_att_key", true},   {"position_biased_input", false},
                {"max_position_embeddings", 32}};
    else if (family == "gte" || family == "jina_embeddings_v3")
        json = {{"model_type", family},    {"num_hidden_layers", 4}, {"hidden_size", 24},  {"num_attention_heads", 3},
                {"intermediate_size", 40}, {"vocab_size", 100},      {"rope_theta", 20000}};
    else
        json = {{"model_type", "modernbert"}, {"num_hidden_layers", 4},          {"hidden_size", 24},
                {"num_attention_heads", 3},   {"intermediate_size", 40},         {"vocab_size", 100},
                {"local_attention", 8},       {"global_attn_every_n_layers", 3}, {"max_position_embeddings", 64}};
    return EncoderConfig::from_json(json, family, Weights(std::vector<std::filesystem::path>{}));
}

/// One rate of dropout wherever an encoder drops.
inline DropoutRates dropping(const Encoder& encoder, double rate) { return encoder.config().dropout.everywhere(rate); }

/// Weights that keep activations of ordinary size: matrices by their width, norms around 1.
inline void fill(Encoder& encoder) {
    at::manual_seed(5);
    for (const Parameter& p : encoder.parameters()) {
        const at::Tensor values = p.tensor.detach();
        if (values.dim() == 1 && p.name.ends_with(".weight"))
            values.copy_(1 + 0.1 * at::randn(values.sizes()));
        else
            values.copy_(0.3 * at::randn(values.sizes()));
    }
}

/// Sequences of 3 to 21 tokens, the s-th on paths[s].
inline PackedBatch batch_on(const std::vector<Path>& paths, std::uint64_t first_key = 1) {
    static std::vector<std::vector<std::int32_t>> texts;
    texts.clear();
    std::vector<SequenceInput> inputs;
    for (std::size_t s = 0; s < paths.size(); ++s) {
        texts.emplace_back();
        for (std::size_t i = 0; i < 3 + (7 * s) % 19; ++i) texts.back().push_back(static_cast<std::int32_t>((31 * s + 17 * i + 3) % 100));
    }
    for (std::size_t s = 0; s < paths.size(); ++s)
        inputs.push_back({texts[s].data(), static_cast<std::int64_t>(texts[s].size()), first_key + s, paths[s], 0});
    return make_packed_batch(inputs);
}

/// What float32 alone does to a pass of this encoder: how far its hidden states are from those in float64, relative to the largest.
inline double float32_noise(const Encoder& encoder, const PackedBatch& batch) {
    return relative_difference(encoder.forward(batch, {}), encoder.clone(at::kDouble)->forward(batch, {}));
}
/// Two float32 passes that must agree but sum in different orders may differ by this many times the noise of one: each has its own, and
/// which entries it hits depends on the processor (seen: up to 3).
constexpr double noise_factor = 8;
/// The same, the s-th through task expert experts[s].
inline PackedBatch some_batch(const std::vector<int>& experts, std::uint64_t first_key = 1) {
    std::vector<Path> paths;
    for (const int expert : experts) paths.push_back(Path::of_expert(expert));
    return batch_on(paths, first_key);
}

}  // namespace faceter::testing
