#include "checkpoint/nomic_experts.h"

#include "common/error.h"

namespace faceter {

std::int64_t tensor_rows(const Weights& weights, std::string_view ending, std::int64_t otherwise) {
    for (const std::string& name : weights.names())
        if (const TensorInfo& info = *weights.find(name); name.ends_with(ending) && info.shape.size() == 2 && info.bytes > 0)
            return info.shape[0];  // a tensor without elements may name any number of rows
    return otherwise;
}

void read_nomic_experts(EncoderConfig& c, const Json& config, std::string_view name, const Weights& weights) {
    const auto experts = json_or<std::int64_t>(config, "num_experts", 0, name),
               every = json_or<std::int64_t>(config, "moe_every_n_layers", 0, name);
    if (experts <= 0 || every <= 0) return;
    refuse_unless(experts <= 4096, config, "num_experts", name, "at most 4096");
    c.routed = {experts, size_member(config, "moe_top_k", name, 1), every,
                json_or<bool>(config, "moe_normalize_expert_weights", false, name)};
    refuse_unless(c.routed.top_k <= experts, config, "moe_top_k", name, "at most num_experts");
    const std::int64_t rows = experts * c.intermediate_dim * (c.gated ? 2 : 1);
    if (tensor_rows(weights, "mlp.experts.mlp.w1", rows) != rows)
        throw data_error("{}: mlp.experts.mlp.w1 of {} does not hold {} experts of {} rows", name, weights.description(), experts,
                         c.intermediate_dim);
    for (const std::string& tensor : weights.names()) c.routed.up_bias |= tensor.ends_with("mlp.experts.mlp.b1");
}

}  // namespace faceter
