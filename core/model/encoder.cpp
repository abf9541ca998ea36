#include "model/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "checkpoint/relative_position.h"
#include "common/hash.h"
#include "model/device.h"
#include "model/device_attention.h"
#include "model/head_norm.h"
#include "model/matrix.h"
#include "model/recompute.h"

namespace faceter {
namespace {

/// Sites of dropout: four a block (that of the table of distances among them), one for the embeddings, one behind the final norm; behind
/// those come the adapters' four a block (adapted()), then those inside feed-forward halves, one a block.
enum Site : std::uint32_t {
    embeddings = 0,
    relative_rows = 0,
    attention_probabilities = 1,
    attention_output = 2,
    feed_forward_output = 3,
    final_output = 1
};

DropoutSite site_of(const ForwardContext& context, double p, std::size_t block, Site site) {
    return {context.training ? std::max(p, 0.0) : 0, context.seed, context.step, static_cast<std::uint32_t>(4 * block + site)};
}

}  // namespace

/// The residual stream x, and what the last branch gave that is not added yet.
struct Encoder::Stream {
    at::Tensor x;
    at::Tensor branch;                    ///< undefined: nothing is to be added
    std::vector<at::Tensor> branch_bias;  ///< of each segment; one that is undefined: none
    bool by_expert = false;
    std::size_t branch_block = 0;
};

struct Encoder::Shared {
    std::shared_ptr<const RotaryTable> rotary, local_rotary;
    at::Tensor position_bias;              ///< as AttentionForm has it; on accelerators as bias_by_buckets() gives it
    std::shared_ptr<PassBuckets> buckets;  ///< on accelerators
    at::Tensor distances;                  ///< the normed table of distances, [R, D]: all of it in training, else the rows that are read
    std::vector<std::int32_t> row;         ///< as RelativeTerms has it
    at::Tensor row_there;
    /// What gradients go back through.
    static constexpr at::Tensor Shared::*learnt[] = {&Shared::position_bias, &Shared::distances};
};

/// `bias`: of the linear layer before the norm.
NormWeights Encoder::weights_of(const NormParameter& norm, const at::Tensor& bias) const {
    return {products_add_bias(word_) ? at::Tensor() : bias, config_.norm_plus_one ? norm.gamma + 1 : norm.gamma, norm.beta};
}

namespace {

/// Rows of the table of positions. RoBERTa's begin behind the row of the padding id; a text that spells that id leaves its count as it is.
at::Tensor position_rows(const PackedBatch& batch, std::int64_t first) {
    if (first == 0) return batch.positions;
    const at::Tensor rows = at::empty_like(batch.positions);
    const auto* ids = batch.ids.data_ptr<std::int64_t>();
    auto* row = rows.data_ptr<std::int64_t>();
    const auto& offsets = batch.layout->offsets();
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
        for (std::int64_t i = offsets[s], next = first; i < offsets[s + 1]; ++i) row[i] = ids[i] == first - 1 ? first - 1 : next++;
    return rows;
}

}  // namespace

at::Tensor Encoder::embed(const PackedBatch& batch, const ForwardContext& context) const {
    const at::Tensor words = at::embedding(word_, batch.ids);
    at::Tensor sum = with_table_updates(words.scalar_type() == at::kBFloat16 ? words.to(dtype_) : words, batch, EmbeddingTable::word);
    if (config_.word_scale != 1) sum = sum * config_.word_scale;
    if (position_.defined()) sum = sum + at::embedding(position_, batch.positions);
    if (token_type_.defined()) sum = with_table_updates(sum + token_type_.select(0, 0), batch, EmbeddingTable::token_type);
    sum = sum.to(dtype_);
    if (embedding_norm_.gamma.defined())
        sum = add_norm(sum, {}, {weights_of(embedding_norm_)}, false, {config_.norm, config_.norm_epsilon}, batch.layout, DropoutSite{})
                  .normed;
    return packed_dropout(sum, batch.layout, site_of(context, context.dropout.embeddings, blocks_.size(), embeddings));
}

namespace {

/// Of a text that is longer than those of training: the second set of frequencies (LongRoPE), or a base that grows with the length (dynamic
/// NTK).
Rotary grown(const EncoderConfig& config, std::int64_t length) {
    Rotary rotary = config.rotary;
    if (length <= config.trained_positions) return rotary;
    if (!rotary.frequencies.empty()) {
        rotary.frequencies.erase(rotary.frequencies.begin(), rotary.frequencies.begin() + config.rotary_dim / 2);
        return rotary;
    }
    const double times = static_cast<double>(length) / static_cast<double>(config.trained_positions),
                 stretch = config.rotary_scaling * times - (config.rotary_scaling - 1);
    rotary.base *= std::pow(stretch, static_cast<double>(config.rotary_dim) / static_cast<double>(config.rotary_dim - 2));
    return rotary;
}

/// A row for each packed token. The released code takes the longest text of a batch for all of them; here a text's vector is its own.
RotaryTable table_by_text(const EncoderConfig& config, const PackedLayout& layout) {
    std::vector<at::Tensor> cosine, sine;
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s) {
        const RotaryTable own = rotary_table(layout.length(s), config.rotary_dim, grown(config, layout.length(s)));
        cosine.push_back(own.cosine);
        sine.push_back(own.sine);
    }
    return {at::cat(cosine), at::cat(sine)};
}

}  // namespace

Encoder::Shared Encoder::shared_inputs(const PackedBatch& batch, const ForwardContext& context) const {
    Shared shared;
    const std::int64_t length = batch.layout->max_length();
    const bool on_accelerator = ops_form(word_) == OpsForm::device;
    if (on_accelerator) shared.buckets = std::make_shared<PassBuckets>();
    if (config_.rotary_dim > 0) {
        const bool grows = config_.rotary_scaling > 0 && length > config_.trained_positions;
        const auto kept = [&](const RotaryTable& table) {
            return std::make_shared<RotaryTable>(on_accelerator ? rows_of(table, *batch.layout, device()) : table);
        };
        const auto by_position = [&](const Rotary& of) { return kept(rotary_table(length, config_.rotary_dim, of)); };
        shared.rotary = shared.local_rotary = grows ? kept(table_by_text(config_, *batch.layout)) : by_position(config_.rotary);
        if (!config_.local.empty() && config_.local_rotary != config_.rotary) shared.local_rotary = by_position(config_.local_rotary);
    }
    if (relative_bias_.defined()) {
        const at::Tensor buckets = at::empty({2 * length - 1}, at::kLong);
        for (std::int64_t i = 0; i < 2 * length - 1; ++i)
            buckets.data_ptr<std::int64_t>()[i] =
                relative_bucket(i - (length - 1), config_.relative_buckets, config_.relative_max_distance);
        shared.position_bias = at::embedding(relative_bias_, to_device(buckets, device())).t();  // [heads, 2 L - 1]
        if (on_accelerator)
            shared.position_bias = bias_by_buckets(shared.position_bias.to(dtype_), shared.buckets->of(*batch.layout, device()));
    }
    if (relative_table_.defined()) share_distances(shared, batch, context);
    return shared;
}

namespace {

/// A dropout mask of the table of distances is the same for every batch of a step.
constexpr std::uint64_t table_key = 0;

/// The table once for each path.
LayoutPointer table_layout(std::int64_t rows, const std::vector<Path>& paths) {
    return std::make_shared<PackedLayout>(std::vector<std::int64_t>(paths.size(), rows),
                                          std::vector<std::uint64_t>(paths.size(), table_key), paths);
}

Path first_path(const PackedLayout& layout) { return layout.segments().empty() ? Path{} : layout.segments().front().path; }

/// The paths of a batch, and which of them each sequence takes.
std::vector<Path> paths_of(const PackedLayout& layout, std::vector<std::int64_t>& path_of) {
    std::vector<Path> paths;
    for (const Segment& segment : layout.segments()) paths.push_back(segment.path);
    std::size_t at = 0;
    for (std::int64_t s = 0; s < layout.num_sequences(); ++s) {
        while (at + 1 < paths.size() && layout.offsets()[static_cast<std::size_t>(s)] >= layout.segments()[at].end) ++at;
        path_of.push_back(static_cast<std::int64_t>(at));
    }
    return paths;
}

}  // namespace

void Encoder::share_distances(Shared& shared, const PackedBatch& batch, const ForwardContext& context) const {
    const std::int64_t length = batch.layout->max_length();
    for (std::int64_t distance = 1 - length; distance < length; ++distance)
        shared.row.push_back(static_cast<std::int32_t>(config_.disentangled.row(distance)));
    at::Tensor table = relative_table_.to(dtype_);
    if (!context.training) {  // dropout's mask counts from the table's first row
        const std::int32_t first = shared.row.front();
        table = table.narrow(0, first, shared.row.back() - first + 1);
        for (std::int32_t& row : shared.row) row -= first;
    }
    shared.distances = table;
    if (relative_norm_.gamma.defined())
        shared.distances = add_norm(table.clone(), {}, {weights_of(relative_norm_)}, false, {config_.norm, config_.norm_epsilon},
                                    table_layout(table.size(0), {Path{}}), DropoutSite{})
                               .normed;
    shared.row_there = to_device(at::tensor(shared.row, at::kLong), device());
}

/// The table through the block's own query and key, once for each path whose adapter changes these.
std::shared_ptr<const RelativeTerms> Encoder::relative_terms(std::size_t index, const PackedBatch& batch, const Shared& shared,
                                                             const ForwardContext& context) const {
    if (!shared.distances.defined()) return nullptr;
    auto terms = std::make_shared<RelativeTerms>();
    terms->num_rows = shared.distances.size(0);
    terms->row = shared.row;
    terms->row_there = shared.row_there;
    terms->query_reads = config_.disentangled.query_reads_distance;
    terms->key_reads = config_.disentangled.key_reads_distance;
    const bool by_path = batch.layout->segments().size() > 1 && !low_rank_parts(index, BlockLinear::qkv, *batch.layout).empty();
    const std::vector<Path> paths = by_path ? paths_of(*batch.layout, terms->table_of) : std::vector<Path>{first_path(*batch.layout)};
    const auto count = static_cast<std::int64_t>(paths.size());
    PackedBatch table;
    table.layout = table_layout(terms->num_rows, paths);
    const at::Tensor x = packed_dropout(count == 1 ? shared.distances : shared.distances.repeat({count, 1}), table.layout,
                                        site_of(context, context.dropout.embeddings, index, relative_rows));
    const Block& block = blocks_[index];
    terms->table =
        adapted(index, BlockLinear::qkv, linear_layer(x, block.qkv.weight, block.qkv.bias, block.qkv.prepared.get()), x, table, context);
    return terms;
}

namespace {

/// On accelerators over `buckets`.
at::Tensor attention(const at::Tensor& qkv, const std::optional<HeadNorm>& norm, const LayoutPointer& layout, const AttentionForm& form,
                     const DropoutSite& dropout, PassBuckets* buckets) {
    if (!buckets) return norm ? normed_attention(qkv, *norm, layout, form, dropout) : packed_attention(qkv, layout, form, dropout);
    return device_attention(norm ? norm_heads(qkv, *norm) : qkv, *layout, form, dropout.p, buckets);
}

}  // namespace

/// Attention(x) = softmax(scale q k^T + bias) v, then W_o without its bias (Vaswani et al., 2017).
at::Tensor Encoder::attend(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const Shared& shared,
                           const ForwardContext& context) const {
    const Block& block = blocks_[index];
    const auto i = static_cast<std::int64_t>(index);
    const at::Tensor qkv =
        adapted(index, BlockLinear::qkv, linear_layer(x, block.qkv.weight, block.qkv.bias, block.qkv.prepared.get()), x, batch,
                context);  // [T, qkv_dim()]
    const AttentionForm form{config_.num_heads,
                             config_.num_key_heads,
                             config_.attention_scale,
                             config_.reach_of(i),
                             config_.is_local(i) ? shared.local_rotary : shared.rotary,
                             shared.position_bias,
                             relative_terms(index, batch, shared, context)};
    const DropoutSite dropout = site_of(context, context.dropout.attention, index, attention_probabilities);
    std::optional<HeadNorm> norm;
    if (block.query_norm.gamma.defined())
        norm = {weights_of(block.query_norm).gamma,
                weights_of(block.key_norm).gamma,
                config_.num_heads,
                config_.num_key_heads,
                {config_.norm, config_.norm_epsilon}};
    const at::Tensor attended = attention(qkv, norm, batch.layout, form, dropout, shared.buckets.get());
    return adapted(index, BlockLinear::attention_output,
                   linear_layer(attended, block.attention_output.weight, products_add_bias(x) ? block.attention_output.bias : at::Tensor(),
                                block.attention_output.prepared.get()),
                   attended, batch, context);
}

DropoutSite Encoder::inner_dropout(std::size_t index, const ForwardContext& context) const {
    return site_of(context, context.dropout.inner, 2 * blocks_.size() + 1 + index, Site{});
}

at::Tensor Encoder::mlp(std::size_t index, const at::Tensor& x, const PackedBatch& batch, const ForwardContext& context) const {
    const Block& block = blocks_[index];
    const FeedForwardForm form{config_.activation, config_.gated, config_.gate_second};
    if (block.routing) {
        TokenRouting routing = *block.routing;
        if (!context.training) routing.capacity = 0;  // a limit of training: else a text's vector depends on its company
        RouterOutput output;
        output.block = index;
        at::Tensor noise;
        if (context.training && routing.jitter > 0)
            noise = router_noise(x, *batch.layout, routing.jitter,
                                 hash64("router jitter", context.seed ^ (static_cast<std::uint64_t>(context.step) << 16) ^ index));
        const at::Tensor y = routed_feed_forward(x, routing, form, noise, context.routing ? &output : nullptr);
        if (context.routing) context.routing->push_back(std::move(output));
        return y;
    }
    if (!low_rank_parts(index, BlockLinear::up, *batch.layout).empty() || !low_rank_parts(index, BlockLinear::down, *batch.layout).empty())
        return adapted_mlp(index, x, batch, context);
    const auto& segments = block.is_mixture() ? batch.layout->segments() : batch.layout->whole();
    std::vector<FeedForwardWeights> weights;
    for (const Segment& segment : segments) {
        const Expert& expert = block.on(segment.path);
        weights.push_back({expert.up, expert.up_bias, expert.down, expert.prepared_up, expert.prepared_down,
                           products_add_bias(x) ? expert.down_bias : at::Tensor()});
    }
    return feed_forward(x, segments, weights, form, batch.layout, inner_dropout(index, context));
}

/// y = norm(x + W_o attention(x)), x = norm(y + FFN_e(y)).
void Encoder::post_norm_block(std::size_t index, Stream& stream, const PackedBatch& batch, const Shared& shared,
                              const ForwardContext& context) const {
    const Block& block = blocks_[index];
    const bool mixture = block.is_mixture();
    std::vector<NormWeights> before, behind;
    for (const Segment& segment : mixture ? batch.layout->segments() : batch.layout->whole()) {
        const Expert& expert = block.on(segment.path);
        const Expert& norms = block.shared_norms ? block.experts[0] : expert;
        before.push_back(weights_of(norms.before, block.attention_output.bias));
        behind.push_back(weights_of(norms.behind, expert.down_bias));
    }
    const NormForm form{config_.norm, config_.norm_epsilon};
    const at::Tensor y = add_norm(attend(index, stream.x, batch, shared, context), stream.x, before, mixture, form, batch.layout,
                                  site_of(context, context.dropout.attention_output, index, attention_output))
                             .normed;
    stream.x = add_norm(mlp(index, y, batch, context), y, behind, mixture, form, batch.layout,
                        site_of(context, context.dropout.feed_forward_output, index, feed_forward_output))
                   .normed;
}

/// What a half gives, normed before it is added.
at::Tensor Encoder::behind(const at::Tensor& branch, const std::vector<NormWeights>& weights, bool by_expert,
                           const PackedBatch& batch) const {
    return add_norm(branch, {}, weights, by_expert, {config_.norm, config_.norm_epsilon}, batch.layout, DropoutSite{}).normed;
}

/// x += W_o attention(norm(x)), x += FFN_e(norm_e(x)), what is added perhaps normed itself; a sum is taken together with the norm that
/// follows.
void Encoder::pre_norm_block(std::size_t index, Stream& stream, const PackedBatch& batch, const Shared& shared,
                             const ForwardContext& context) const {
    const Block& block = blocks_[index];
    const NormForm form{config_.norm, config_.norm_epsilon, true};
    at::Tensor normed = stream.x;
    if (block.first_norm.gamma.defined()) {
        std::vector<NormWeights> weights;
        if (stream.branch_bias.empty()) weights.push_back(weights_of(block.first_norm));
        for (const at::Tensor& bias : stream.branch_bias) weights.push_back(weights_of(block.first_norm, bias));
        const bool first = !stream.branch.defined();
        const ResidualNorm sum = add_norm(
            first ? stream.x.clone() : stream.branch, first ? at::Tensor() : stream.x, weights, stream.by_expert, form, batch.layout,
            first ? DropoutSite{} : site_of(context, context.dropout.feed_forward_output, stream.branch_block, feed_forward_output));
        stream.x = sum.sum;
        normed = sum.normed;
    }
    const bool mixture = block.is_mixture(), normed_behind = block.attention_behind.gamma.defined();
    std::vector<NormWeights> before, last;
    stream.branch_bias.clear();
    for (const Segment& segment : mixture ? batch.layout->segments() : batch.layout->whole()) {
        const Expert& expert = block.on(segment.path);
        const Expert& norms = block.shared_norms ? block.experts[0] : expert;
        before.push_back(weights_of(norms.before, normed_behind ? at::Tensor() : block.attention_output.bias));
        if (normed_behind) last.push_back(weights_of(norms.behind, expert.down_bias));
        stream.branch_bias.push_back(normed_behind ? at::Tensor() : expert.down_bias);
    }
    at::Tensor attended = attend(index, normed, batch, shared, context);
    if (normed_behind) attended = behind(attended, {weights_of(block.attention_behind, block.attention_output.bias)}, false, batch);
    const ResidualNorm sum = add_norm(attended, stream.x, before, mixture, form, batch.layout,
                                      site_of(context, context.dropout.attention_output, index, attention_output));
    stream.x = sum.sum;
    stream.branch = mlp(index, sum.normed, batch, context);
    if (normed_behind) stream.branch = behind(stream.branch, last, mixture, batch);
    stream.by_expert = mixture;
    stream.branch_block = index;
}

/// An accelerator draws a block's dropout from the block's own seed, so that the block can be run again alone.
void Encoder::seed_part(const ForwardContext& context, const PackedBatch& batch, std::size_t part) const {
    if (!context.training || ops_form(word_) != OpsForm::device) return;
    const std::uint64_t pass = context.seed ^ hash64("step", static_cast<std::uint64_t>(context.step)) ^ batch.layout->keys().front();
    seed_device(device(), hash64("dropout", pass ^ hash64("part", part)));
}

void Encoder::run_block(std::size_t index, Stream& stream, const PackedBatch& batch, const Shared& shared,
                        const ForwardContext& context) const {
    seed_part(context, batch, index);
    config_.pre_norm ? pre_norm_block(index, stream, batch, shared, context) : post_norm_block(index, stream, batch, shared, context);
}

/// The block without its inner activations: they are made again in backward. What else it leaves than tensors with gradients is taken from
/// the first run.
void Encoder::run_block_again(std::size_t index, Stream& stream, const PackedBatch& batch, const Shared& shared,
                              const ForwardContext& context) const {
    struct FirstRun {
        bool over = false;
        Stream stream;
        RoutingTrace trace;
    };
    const auto first = std::make_shared<FirstRun>();
    variable_list inputs{stream.x};
    if (stream.branch.defined()) inputs.push_back(stream.branch);
    for (const auto member : Shared::learnt)
        if ((shared.*member).defined()) inputs.push_back(shared.*member);
    Stream outside = stream;
    outside.x = outside.branch = at::Tensor();
    const bool has_branch = stream.branch.defined(), traced = context.routing && blocks_[index].routing;
    const auto part = [this, index, outside, has_branch, traced, first, batch, shared, context](const variable_list& in) {
        Stream own = outside;
        own.x = in[0];
        if (has_branch) own.branch = in[1].clone();  // a norm may overwrite it, and it is needed again
        Shared inner = shared;
        std::size_t next = has_branch ? 2 : 1;
        for (const auto member : Shared::learnt)
            if ((inner.*member).defined()) inner.*member = in[next++];
        RoutingTrace trace;
        ForwardContext pass = context;
        pass.routing = traced ? &trace : nullptr;
        run_block(index, own, batch, inner, pass);
        variable_list out{own.x};
        if (own.branch.defined()) out.push_back(own.branch);
        if (traced) out.push_back(trace.front().logits);
        if (!std::exchange(first->over, true)) {
            own.x = own.branch = at::Tensor();
            first->stream = own;
            first->trace = std::move(trace);
        }
        return out;
    };
    const variable_list out = recomputed(part, inputs);
    stream = std::exchange(first->stream, {});
    stream.x = out[0];
    if (config_.pre_norm) stream.branch = out[1];
    if (!traced) return;
    RouterOutput router = std::move(first->trace.front());
    first->trace.clear();
    router.logits = out.back();
    router.probabilities = router.logits.softmax(-1);
    context.routing->push_back(std::move(router));
}

at::Tensor Encoder::forward(const PackedBatch& given, const ForwardContext& context) const {
    const PackedBatch batch{to_device(given.ids, device()), to_device(position_rows(given, config_.first_position), device()), given.layout,
                            given.skip};
    seed_part(context, batch, blocks_.size());
    const Shared shared = shared_inputs(batch, context);
    Stream stream;
    stream.x = embed(batch, context);
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        context.recompute ? run_block_again(i, stream, batch, shared, context) : run_block(i, stream, batch, shared, context);
    if (!config_.pre_norm) return stream.x;
    std::vector<NormWeights> weights;
    for (const at::Tensor& bias : stream.branch_bias) weights.push_back(weights_of(final_norm_, bias));
    const at::Tensor out = add_norm(stream.branch, stream.x, weights, stream.by_expert, {config_.norm, config_.norm_epsilon}, batch.layout,
                                    site_of(context, context.dropout.feed_forward_output, stream.branch_block, feed_forward_output))
                               .normed;
    return packed_dropout(out, batch.layout, site_of(context, context.dropout.final_output, blocks_.size(), final_output));
}

namespace {

/// ATen's own takes elements behind the last whole vector another way, and so depends on how many texts there are.
at::Tensor hyperbolic_tangent(const at::Tensor& x) {
    if (!fast_path(x) || at::GradMode::is_enabled()) return x.tanh();
    const at::Tensor y = at::empty_like(x, x.options(), at::MemoryFormat::Contiguous);
    const at::Tensor in = x.contiguous();
    std::transform(in.data_ptr<float>(), in.data_ptr<float>() + in.numel(), y.data_ptr<float>(), [](float v) { return std::tanh(v); });
    return y;
}

}  // namespace

at::Tensor Encoder::apply_heads(at::Tensor pooled) const {
    for (const DenseHead& head : heads_) {
        pooled = exact_linear_layer(pooled.to(dtype_), head.linear.weight, head.linear.bias);
        if (head.module.tanh) pooled = hyperbolic_tangent(pooled);
    }
    return pooled;
}

PackedBatch make_packed_batch(const std::vector<SequenceInput>& sequences) {
    std::vector<std::int64_t> lengths, skip;
    std::vector<std::uint64_t> keys;
    std::vector<Path> paths;
    std::int64_t total = 0;
    bool any_skip = false;
    for (const SequenceInput& s : sequences) {
        lengths.push_back(s.length);
        keys.push_back(s.key);
        paths.push_back(s.path);
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
    batch.layout = std::make_shared<PackedLayout>(lengths, std::move(keys), paths);
    if (any_skip) batch.skip = std::move(skip);
    return batch;
}

}  // namespace faceter
