#pragma once
#include <cmath>
#include <vector>

#include "model/encoder.h"
#include "support/tensors.h"

namespace faceter::testing {

inline const std::vector<const char*> backbone_families = {"bert", "mpnet", "nomic_bert", "t5", "t5 gated", "modernbert"};

/// A small configuration of each family, as its config.json would give it.
inline EncoderConfig small_config(const std::string& family) {
    Json json;
    if (family == "bert" || family == "mpnet")
        json = {{"model_type", family},          {"num_hidden_layers", 4},  {"hidden_size", 24},
                {"num_attention_heads", 3},      {"intermediate_size", 40}, {"vocab_size", 100},
                {"max_position_embeddings", 32}, {"type_vocab_size", 2},    {"relative_attention_num_buckets", 8}};
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
    else
        json = {{"model_type", "modernbert"}, {"num_hidden_layers", 4},          {"hidden_size", 24},
                {"num_attention_heads", 3},   {"intermediate_size", 40},         {"vocab_size", 100},
                {"local_attention", 8},       {"global_attn_every_n_layers", 3}, {"max_position_embeddings", 64}};
    return EncoderConfig::from_json(json, family, Weights(std::vector<std::filesystem::path>{}));
}

/// Weights that keep activations of ordinary size: matrices by their width, norms around 1.
inline void fill(Encoder& encoder) {
    at::manual_seed(5);
    for (const Parameter& p : encoder.parameters()) {
        const at::Tensor values = p.tensor.detach();
        if (!p.decay && p.name.ends_with(".weight"))
            values.copy_(1 + 0.1 * at::randn(values.sizes()));
        else
            values.copy_(0.3 * at::randn(values.sizes()));
    }
}

/// Sequences of 3 to 21 tokens, the s-th through experts[s].
inline PackedBatch some_batch(const std::vector<int>& experts, std::uint64_t first_key = 1) {
    static std::vector<std::vector<std::int32_t>> texts;
    texts.clear();
    std::vector<SequenceInput> inputs;
    for (std::size_t s = 0; s < experts.size(); ++s) {
        texts.emplace_back();
        for (std::size_t i = 0; i < 3 + (7 * s) % 19; ++i) texts.back().push_back(static_cast<std::int32_t>((31 * s + 17 * i + 3) % 100));
    }
    for (std::size_t s = 0; s < experts.size(); ++s)
        inputs.push_back({texts[s].data(), static_cast<std::int64_t>(texts[s].size()), first_key + s, experts[s], 0});
    return make_packed_batch(inputs);
}

/// What float32 alone does to a pass of this encoder: how far its hidden states are from those in float64, relative to the largest.
inline double float32_noise(const Encoder& encoder, const PackedBatch& batch) {
    return relative_difference(encoder.forward(batch, {}), encoder.clone(at::kDouble)->forward(batch, {}));
}
/// Two float32 passes that must agree but sum in different orders may differ by this many times the noise of one: each has its own, and
/// which entries it hits depends on the processor (seen: up to 3).
constexpr double noise_factor = 8;

}  // namespace faceter::testing
