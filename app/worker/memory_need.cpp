#include "memory_need.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "model/compute.h"

namespace faceter::worker {
namespace {

constexpr double float_bytes = 4, moments = 2, adapter_rank = 8, tasks = 4, pairs = 32, tokens_a_text = 128;
constexpr double tokens = 2 * pairs * tokens_a_text;

double bytes_of(const at::Tensor& t) { return static_cast<double>(t.numel()) * static_cast<double>(t.element_size()); }

double weights_bytes(const Encoder& encoder) {
    double sum = 0;
    for (const Parameter& p : encoder.parameters()) sum += bytes_of(p.tensor);
    return sum;
}

/// Matrices of the blocks, which a form of computing lays out in its own type.
double product_values(const Encoder& encoder) {
    double sum = 0;
    for (const LinearPlace& place : encoder.linears()) sum += static_cast<double>(place.rows) * static_cast<double>(place.columns);
    return sum;
}

double mlp_values(const EncoderConfig& c) {
    return (c.gated ? 3.0 : 2.0) * static_cast<double>(c.hidden_dim) * static_cast<double>(c.intermediate_dim);
}

/// Floats that a token leaves in one block for backward: what the norms, the products and attention read.
double kept_floats(const EncoderConfig& c) {
    const double inner = (c.gated ? 2.0 : 1.0) * static_cast<double>(c.intermediate_dim);
    return static_cast<double>(c.qkv_dim() + c.num_heads * c.head_dim + 6 * c.hidden_dim) + inner;
}

struct Activations {
    double kept, recomputed;
};

Activations activations(const EncoderConfig& c) {
    const double block = kept_floats(c), layers = static_cast<double>(c.num_layers), stream = 2 * static_cast<double>(c.hidden_dim);
    return {tokens * float_bytes * layers * block, tokens * float_bytes * (layers * stream + block)};
}

double adapter_values(const Encoder& encoder) {
    double sum = 0;
    for (const LinearPlace& place : encoder.linears()) sum += adapter_rank * static_cast<double>(place.rows + place.columns);
    return sum;
}

/// `held`: bytes of weights; `trained`: how many of them are trained.
Json entry(const char* method, const EncoderConfig& c, double held, double trained) {
    const Activations kept = activations(c);
    const double all = held + (1 + moments) * float_bytes * trained;
    return {{"method", method},
            {"parameters", static_cast<std::int64_t>(trained)},
            {"bytes", static_cast<std::int64_t>(all + kept.kept)},
            {"bytes_recomputed", static_cast<std::int64_t>(all + kept.recomputed)}};
}

bool is_dense(const EmbeddingModel& model) {
    const Encoder& encoder = *model.encoders.front();
    return model.encoders.size() == 1 && encoder.adapters().empty() &&
           std::none_of(encoder.blocks().begin(), encoder.blocks().end(),
                        [](const Block& block) { return block.is_mixture() || block.routing.has_value(); });
}

}  // namespace

Json memory_to_embed(const EmbeddingModel& model) {
    Json all = Json::array();
    for (const Compute compute : {Compute::float32, Compute::bf16, Compute::int8}) {
        double bytes = 0;
        for (const auto& encoder : model.encoders) {
            const double products = product_values(*encoder);
            const at::Tensor& any = encoder->blocks().front().qkv.weight;
            const double as_kept = products * static_cast<double>(any.element_size());
            const double laid_out = compute == Compute::float32 ? as_kept : products * (compute == Compute::bf16 ? 2 : 1);
            bytes += weights_bytes(*encoder) - as_kept + laid_out;
        }
        all.push_back({{"compute", compute_name(compute)}, {"bytes", static_cast<std::int64_t>(bytes)}});
    }
    return all;
}

Json memory_to_train(const EmbeddingModel& model) {
    Json all = Json::array();
    if (!is_dense(model)) return all;
    const Encoder& encoder = *model.encoders.front();
    const EncoderConfig& c = encoder.config();
    const auto dense = static_cast<double>(encoder.total_parameters());
    const double every_other = static_cast<double>(c.num_layers / 2) * mlp_values(c), adapters = tasks * adapter_values(encoder);
    const double held = float_bytes * dense;
    all.push_back(entry("dense", c, held, dense));
    all.push_back(entry("instruction", c, held, dense));
    const double experts = dense + (tasks - 1) * every_other;
    all.push_back(entry("mote", c, float_bytes * (experts + every_other), experts));  // the dense MLP stays beside
    all.push_back(entry("token_routed_moe", c, float_bytes * experts, experts));
    all.push_back(entry("task_lora", c, weights_bytes(encoder) + float_bytes * adapters, adapters));
    return all;
}

}  // namespace faceter::worker
