#include <ATen/ATen.h>
#include <fmt/format.h>

#include <limits>

#include "model/encoder.h"

// The products of an encoder laid out for passes without gradients (product_weights.h).

namespace faceter {
namespace {

/// visit(place, weight, where it is laid out) of one expert's MLP.
template <typename Visit>
void visit_expert(std::size_t block, int index, bool dense, Expert& expert, const Visit& visit) {
    if (!expert.up.defined()) return;  // a token-routed block has norms alone here
    visit(ProductPlace{block, BlockLinear::up, index, dense}, expert.up, expert.prepared_up);
    visit(ProductPlace{block, BlockLinear::down, index, dense}, expert.down, expert.prepared_down);
}

/// The same of stacked experts, whose weights are rows of one tensor.
template <typename Visit>
void visit_routed(std::size_t block, TokenRouting& routing, const Visit& visit) {
    const auto experts = routing.num_experts;
    routing.prepared.resize(static_cast<std::size_t>(experts));
    for (std::int64_t e = 0; e < experts; ++e) {
        PreparedExpert& own = routing.prepared[static_cast<std::size_t>(e)];
        at::Tensor up = routing.up.detach().chunk(experts, 0)[e], down = routing.down.detach().chunk(experts, 0)[e];
        visit(ProductPlace{block, BlockLinear::up, static_cast<int>(e), false}, up, own.up);
        visit(ProductPlace{block, BlockLinear::down, static_cast<int>(e), false}, down, own.down);
    }
}

template <typename Visit>
void each_product(std::size_t i, Block& block, const Visit& visit) {
    visit(ProductPlace{i, BlockLinear::qkv, -1, false}, block.qkv.weight, block.qkv.prepared);
    visit(ProductPlace{i, BlockLinear::attention_output, -1, false}, block.attention_output.weight, block.attention_output.prepared);
    for (std::size_t e = 0; e < block.experts.size(); ++e)
        visit_expert(i, block.is_mixture() ? static_cast<int>(e) : -1, false, block.experts[e], visit);
    if (block.dense) visit_expert(i, -1, true, *block.dense, visit);
    if (block.routing) visit_routed(i, *block.routing, visit);
}

/// The shape of a tensor that is no more: reading it gives NaN, so that a use nobody thought of shows.
at::Tensor released(const at::Tensor& weight) {
    return at::full({1, 1}, std::numeric_limits<float>::quiet_NaN(), weight.options()).expand(weight.sizes());
}

}  // namespace

std::string ProductPlace::name() const {
    static constexpr const char* names[] = {"query, key and value", "attention output", "up", "down"};
    const std::string whose = expert >= 0 ? fmt::format(" of expert {}", expert) : dense_beside ? " of the dense MLP" : "";
    return fmt::format("block {}: {}{}", block, names[static_cast<std::size_t>(which)], whose);
}

void Encoder::lay_out_products(const std::function<ProductPointer(const ProductPlace&, const at::Tensor& weight)>& lay_out, bool release) {
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        each_product(i, blocks_[i], [&](const ProductPlace& place, at::Tensor& weight, ProductPointer& prepared) {
            prepared = lay_out(place, weight);
            if (release) weight = released(weight);
        });
    if (release) release_prepared();
}

void Encoder::release_prepared() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        each_product(i, blocks_[i], [](const ProductPlace&, at::Tensor& weight, ProductPointer&) { weight = released(weight); });
        if (auto& routing = blocks_[i].routing) routing->up = released(routing->up), routing->down = released(routing->down);
    }
}

void Encoder::drop_prepared() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        each_product(i, blocks_[i], [](const ProductPlace&, at::Tensor&, ProductPointer& prepared) { prepared = nullptr; });
        if (blocks_[i].routing) blocks_[i].routing->prepared.clear();
    }
}

}  // namespace faceter
