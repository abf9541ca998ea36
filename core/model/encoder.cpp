#include "model/encoder.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/matrix.h"

namespace faceter {
namespace {

/// Sites of dropout: three a block, one for the embeddings.
enum Site : std::uint32_t { embeddings = 0, attention_probabilities = 1, attention_output = 2, feed_forward_output = 3 };

DropoutSite site_of(const ForwardContext& context, double p, std::size_t block, Site site) {
    return {context.training ? p : 0, context.seed, context.step, static_cast<std::uint32_t>(4 * block + site)};
}

at::Tensor parameter(std::vector<std::int64_t> shape, at::ScalarType dtype) { return at::zeros(shape, dtype); }

}  // namespace

std::vector<NamedTensor> Expert::tensors() const {
    return {{"attention.output.LayerNorm.weight", attention_gamma}, {"attention.output.LayerNorm.bias", attention_beta},
            {"intermediate.dense.weight", up},                      {"intermediate.dense.bias", up_bias},
            {"output.dense.weight", down},                          {"output.dense.bias", down_bias},
            {"output.LayerNorm.weight", output_gamma},              {"output.LayerNorm.bias", output_beta}};
}

Expert Expert::clone() const {
    const auto copy = [](const at::Tensor& t) { return t.detach().clone(); };
    return {copy(attention_gamma), copy(attention_beta), copy(up),           copy(up_bias),
            copy(down),            copy(down_bias),      copy(output_gamma), copy(output_beta)};
}

Encoder::Encoder(EncoderConfig config, at::ScalarType dtype) : config_(std::move(config)), dtype_(dtype) {
    const std::int64_t d = config_.hidden_dim, inner = config_.intermediate_dim;
    const auto make = [&](std::vector<std::int64_t> shape) { return parameter(std::move(shape), dtype_); };
    word_ = make({config_.vocab_size, d});
    position_ = make({config_.max_positions, d});
    token_type_ = make({config_.num_token_types, d});
    embedding_gamma_ = make({d});
    embedding_beta_ = make({d});
    for (std::int64_t i = 0; i < config_.num_layers; ++i) {
        Block block;
        block.qkv = {make({3 * d, d}), make({3 * d})};
        block.attention_output = {make({d, d}), make({d})};
        block.experts.push_back({make({d}), make({d}), make({inner, d}), make({inner}), make({d, inner}), make({d}), make({d}), make({d})});
        blocks_.push_back(std::move(block));
    }
}

at::Tensor Encoder::embed(const PackedBatch& batch, const ForwardContext& context) const {
    at::Tensor sum = at::embedding(word_, batch.ids) + at::embedding(position_, batch.positions);
    if (config_.num_token_types > 0) sum = sum + token_type_.select(0, 0);
    const at::Tensor normed =
        add_norm(sum, {}, {{{}, embedding_gamma_, embedding_beta_}}, false, config_.norm_epsilon, batch.layout, DropoutSite{});
    return packed_dropout(normed, batch.layout, site_of(context, context.hidden_dropout, blocks_.size(), embeddings));
}

at::Tensor Encoder::block_forward(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const ForwardContext& context) const {
    const Block& block = blocks_[index];
    const bool mixture = block.is_mixture();
    const auto& segments = mixture ? batch.layout->segments() : batch.layout->whole();
    std::vector<NormWeights> before, behind;
    std::vector<FeedForwardWeights> mlp;
    for (const Segment& segment : segments) {
        const Expert& expert = block.experts[static_cast<std::size_t>(segment.expert)];
        const Expert& norms = block.shared_norms ? block.experts[0] : expert;
        before.push_back({block.attention_output.bias, norms.attention_gamma, norms.attention_beta});
        mlp.push_back({expert.up, expert.up_bias, expert.down});
        behind.push_back({expert.down_bias, norms.output_gamma, norms.output_beta});
    }
    const double scale = 1.0 / std::sqrt(static_cast<double>(config_.hidden_dim) / static_cast<double>(config_.num_heads));
    // Attention(x) = softmax(q k^T / sqrt(d)) v, then y = norm(x + W_o attention), out = norm(y + FFN_e(y))    (Vaswani et al., 2017; post-norm)
    const at::Tensor qkv = linear_layer(x, block.qkv.weight, block.qkv.bias);  // [T, 3 D]
    const at::Tensor attended =
        packed_attention(qkv, batch.layout, config_.num_heads, scale, site_of(context, context.attention_dropout, index, attention_probabilities));
    const at::Tensor y = add_norm(linear_layer(attended, block.attention_output.weight, {}), x, before, mixture, config_.norm_epsilon, batch.layout,
                                  site_of(context, context.hidden_dropout, index, attention_output));
    return add_norm(feed_forward(y, segments, mlp), y, behind, mixture, config_.norm_epsilon, batch.layout,
                    site_of(context, context.hidden_dropout, index, feed_forward_output));
}

at::Tensor Encoder::forward(const PackedBatch& batch, const ForwardContext& context) const {
    at::Tensor x = embed(batch, context);
    for (std::size_t i = 0; i < blocks_.size(); ++i) x = block_forward(i, x, batch, context);
    return x;
}

PackedBatch make_packed_batch(const std::vector<SequenceInput>& sequences) {
    std::vector<std::int64_t> lengths, skip;
    std::vector<std::uint64_t> keys;
    std::vector<int> experts;
    std::int64_t total = 0;
    bool any_skip = false;
    for (const SequenceInput& s : sequences) {
        lengths.push_back(s.length);
        keys.push_back(s.key);
        experts.push_back(s.expert);
        skip.push_back(s.skip);
        any_skip |= s.skip > 0;
        total += s.length;
    }
    PackedBatch batch;
    batch.ids = at::empty({total}, at::kLong);
    batch.positions = at::empty({total}, at::kLong);
    auto* ids = batch.ids.data_ptr<std::int64_t>();
    auto* positions = batch.positions.data_ptr<std::int64_t>();
    for (const SequenceInput& s : sequences)
        for (std::int64_t i = 0; i < s.length; ++i) {
            *ids++ = s.ids[i];
            *positions++ = i;
        }
    batch.layout = std::make_shared<PackedLayout>(lengths, std::move(keys), experts);
    if (any_skip) batch.skip = std::move(skip);
    return batch;
}

}  // namespace faceter
