#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "checkpoint/parameter_count.h"
#include "common/error.h"
#include "model/cast_together.h"
#include "model/encoder.h"

namespace faceter {

/// One parameter: where its names stand in a checkpoint, what they are, and what the optimiser may do.
struct Encoder::Slot {
    std::string place;               ///< the block's prefix; empty outside blocks
    std::vector<std::string> names;  ///< its rows' names in order, without `place`
    at::Tensor* tensor;
    bool decay;
    int expert = -1;                       ///< its task expert's index; -1: shared
    std::int64_t turned = 0;               ///< > 0: the checkpoint has each of so many row blocks transposed
    bool exact = false;                    ///< stays in full precision where products do not
    std::vector<std::int64_t> parts = {};  ///< rows of each name; empty: as many each
    bool trained = true;                   ///< false: of the dense block beside task experts

    /// Of a product with activations, as the checkpoint has it.
    bool is_product() const { return !place.empty() && decay && !exact && turned == 0; }
    std::string full(const std::string& name) const {
        return expert < 0 ? place + name : fmt::format("{}experts.{}.{}", place, expert, name);
    }
    std::string parameter_name() const {
        std::vector<std::string> all;
        for (const std::string& name : names) all.push_back(full(name));
        return fmt::format("{}", fmt::join(all, "|"));
    }
    /// The rows that go under name `i`: a view.
    at::Tensor rows(std::size_t i) const {
        const at::Tensor all = tensor->detach();
        if (names.size() == 1) return all;
        if (!parts.empty())
            return all.narrow(0, std::accumulate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i), 0), parts[i]);
        const std::int64_t count = all.size(0) / static_cast<std::int64_t>(names.size());
        return all.narrow(0, static_cast<std::int64_t>(i) * count, count);
    }
    /// The tensor of name `i` as the checkpoint has it: a view, or turned to it.
    at::Tensor stored(std::size_t i) const {
        const at::Tensor own = rows(i);
        if (turned == 0) return own;
        const std::int64_t width = own.size(1);  // [E D, I] -> [E I, D]
        return own.view({turned, -1, width}).transpose(1, 2).reshape({turned * width, -1});
    }
};

namespace {

std::vector<std::string> with_ending(const std::vector<std::string>& names, const char* ending) {
    std::vector<std::string> all;
    for (const std::string& name : names) all.push_back(name + ending);
    return all;
}

/// LayerNorm's parameters as the first BERT checkpoints call them.
std::string first_bert_name(std::string name) {
    if (const auto at = name.find("LayerNorm.weight"); at != std::string::npos) name.replace(at, 16, "LayerNorm.gamma");
    if (const auto at = name.find("LayerNorm.bias"); at != std::string::npos) name.replace(at, 14, "LayerNorm.beta");
    return name;
}

at::Tensor copy(const at::Tensor& t) { return t.defined() ? t.detach().clone() : at::Tensor(); }
NormParameter copy(const NormParameter& n) { return {copy(n.gamma), copy(n.beta)}; }

}  // namespace

std::vector<at::Tensor> Expert::tensors() const {
    std::vector<at::Tensor> all;
    for (const at::Tensor& t : {before.gamma, before.beta, up, up_bias, down, down_bias, behind.gamma, behind.beta})
        if (t.defined()) all.push_back(t);
    return all;
}

Expert Expert::clone() const { return {copy(before), copy(up), copy(up_bias), copy(down), copy(down_bias), copy(behind)}; }

Encoder::Encoder(EncoderConfig config, std::vector<DenseModule> heads, at::ScalarType dtype, KeptWeights kept)
    : config_(std::move(config)), dtype_(dtype), kept_(kept) {
    const EncoderConfig& c = config_;
    const std::int64_t d = c.hidden_dim, attention = c.num_heads * c.head_dim, inner = c.intermediate_dim,
                       upper = c.gated ? 2 * inner : inner;
    const bool norms_behind = !c.pre_norm || !c.names.mlp_behind.empty();
    const auto make = [&](bool wanted, std::vector<std::int64_t> shape) { return wanted ? at::zeros(shape, dtype_) : at::Tensor(); };
    const auto large = [&](std::vector<std::int64_t> shape) {  // one zero in the place of all, until it is known how they are kept
        return kept_ == KeptWeights::full ? make(true, std::move(shape)) : at::zeros({1, 1}, dtype_).expand(shape);
    };
    const auto norm = [&](bool wanted) { return NormParameter{make(wanted, {d}), make(wanted && c.norm_bias, {d})}; };
    word_ = large({c.vocab_size, d});
    position_ = make(c.max_positions > 0, {c.max_positions, d});
    token_type_ = make(c.num_token_types > 0, {c.num_token_types, d});
    relative_bias_ = make(c.relative_buckets > 0, {c.relative_buckets, c.num_heads});
    relative_table_ = make(c.disentangled.span > 0, {2 * c.disentangled.span, d});
    relative_norm_ = norm(!c.names.relative_norm.empty());
    embedding_norm_ = norm(!c.names.embedding_norm.empty());
    final_norm_ = norm(!c.names.final_norm.empty());
    for (std::int64_t i = 0; i < c.num_layers; ++i) {
        Block block;
        block.first_norm = norm(c.pre_norm && c.has_attention_norm(i));
        block.qkv = {large({c.qkv_dim(), d}), make(c.qkv_bias, {c.qkv_dim()})};
        block.query_norm.gamma = make(!c.names.query_norm.empty(), {c.head_dim});
        block.key_norm.gamma = make(!c.names.key_norm.empty(), {c.head_dim});
        block.attention_behind = norm(!c.names.attention_behind.empty());
        block.attention_output = {large({d, attention}), make(c.attention_output_bias, {d})};
        block.experts.push_back(
            {norm(true), large({upper, d}), make(c.up_bias, {upper}), large({d, inner}), make(c.down_bias, {d}), norm(norms_behind)});
        blocks_.push_back(std::move(block));
    }
    for (std::int64_t i = 0; i < c.num_layers; ++i)
        if (const RoutedBlocks& r = c.routed; c.is_routed(i)) {
            TokenRouting routing;
            routing.router = make(true, {r.num_experts, d});
            routing.num_experts = r.num_experts;
            routing.top_k = r.top_k;
            routing.renormalise = r.renormalise;
            if (!r.up_bias) blocks_[static_cast<std::size_t>(i)].experts[0].up_bias = at::Tensor();
            route_tokens(blocks_[static_cast<std::size_t>(i)], std::move(routing));
        }
    for (DenseModule& module : heads) {
        LinearWeights linear{make(true, {module.out_features, module.in_features}), make(module.bias, {module.out_features})};
        heads_.push_back({std::move(module), std::move(linear)});
    }
}

void Encoder::route_tokens(Block& block, TokenRouting routing) {
    Expert& dense = block.experts.front();
    const auto stacked = [&](const at::Tensor& t) {
        if (!t.defined()) return at::Tensor();
        return at::cat(std::vector<at::Tensor>(static_cast<std::size_t>(routing.num_experts), t.detach()));
    };
    routing.up = stacked(dense.up);
    routing.up_bias = stacked(dense.up_bias);
    routing.down = stacked(dense.down);
    routing.bias = copy(dense.down_bias);
    dense.up = dense.up_bias = dense.down = dense.down_bias = at::Tensor();
    block.routing = std::move(routing);
}

void Encoder::visit_block(const EncoderNames& n, std::size_t index, const std::function<void(const Slot&)>& visitor) {
    const std::string place = fmt::format(fmt::runtime(n.block), index);
    Block& block = blocks_[index];
    bool trained = true;
    const auto one = [&](std::vector<std::string> names, at::Tensor& tensor, bool decay, int expert = -1, std::int64_t turned = 0) {
        if (tensor.defined()) visitor({place, std::move(names), &tensor, decay, expert, turned, false, {}, trained});
    };
    const auto norm = [&](const std::string& name, NormParameter& p, int expert = -1) {
        one({name + ".weight"}, p.gamma, false, expert);
        one({name + ".bias"}, p.beta, false, expert);
    };
    const auto feed_forward_half = [&](Expert& x, int own, bool norms, int norm_owner) {
        if (norms) norm(config_.pre_norm ? n.mlp_norm : n.attention_norm, x.before, norm_owner);
        one(with_ending(n.up, ".weight"), x.up, true, own);
        one(with_ending(n.up, ".bias"), x.up_bias, false, own);
        one({n.down + ".weight"}, x.down, true, own);
        one({n.down + ".bias"}, x.down_bias, false, own);
        if (norms) norm(config_.pre_norm ? n.mlp_behind : n.mlp_norm, x.behind, norm_owner);
    };
    const auto joined = [&](const char* ending, at::Tensor& tensor, bool decay) {
        const auto parts = n.qkv.size() == 3 ? config_.qkv_dims() : std::vector<std::int64_t>{};
        if (tensor.defined()) visitor({place, with_ending(n.qkv, ending), &tensor, decay, -1, 0, false, parts});
    };
    norm(n.attention_norm, block.first_norm);
    joined(".weight", block.qkv.weight, true);
    joined(".bias", block.qkv.bias, false);
    norm(n.query_norm, block.query_norm);
    norm(n.key_norm, block.key_norm);
    one({n.attention_output + ".weight"}, block.attention_output.weight, true);
    one({n.attention_output + ".bias"}, block.attention_output.bias, false);
    norm(n.attention_behind, block.attention_behind);
    for (std::size_t e = 0; e < block.experts.size(); ++e) {
        const int own = block.is_mixture() ? static_cast<int>(e) : -1;
        // Shared norms are those of expert 0.
        feed_forward_half(block.experts[e], own, !(block.shared_norms && e > 0), block.shared_norms ? -1 : own);
    }
    if (block.dense) {
        trained = false;
        feed_forward_half(*block.dense, -1, !block.shared_norms, -1);
        trained = true;
    }
    if (!block.routing) return;
    TokenRouting& r = *block.routing;
    visitor({place, {"mlp.router.layer.weight"}, &r.router, true, -1, 0, true});
    one({"mlp.experts.mlp.w1"}, r.up, true);
    one({"mlp.experts.mlp.b1"}, r.up_bias, false);
    one({"mlp.experts.mlp.w2"}, r.down, true, -1, r.num_experts);
    one({"mlp.experts.bias"}, r.bias, false);
}

void Encoder::visit(const EncoderNames& n, const std::function<void(const Slot&)>& visitor) {
    const auto one = [&](const std::string& name, at::Tensor& tensor, bool decay, bool exact = false) {
        if (tensor.defined()) visitor({"", {name}, &tensor, decay, -1, 0, exact});
    };
    const auto norm = [&](const std::string& name, NormParameter& p) {
        one(name + ".weight", p.gamma, false);
        one(name + ".bias", p.beta, false);
    };
    one(n.word + ".weight", word_, true, true);
    one(n.position + ".weight", position_, true, true);
    one(n.token_type + ".weight", token_type_, true, true);
    one(n.relative_bias + ".weight", relative_bias_, false, true);  // a bias to transformers too, whose optimiser goes by names
    one(n.relative_table + ".weight", relative_table_, true, true);
    norm(n.relative_norm, relative_norm_);
    norm(n.embedding_norm, embedding_norm_);
    for (std::size_t i = 0; i < blocks_.size(); ++i) visit_block(n, i, visitor);
    norm(n.final_norm, final_norm_);
    for (DenseHead& head : heads_) {
        one(head.module.name + ".linear.weight", head.linear.weight, true);
        one(head.module.name + ".linear.bias", head.linear.bias, false);
    }
}

std::vector<Parameter> Encoder::parameters() const {
    std::vector<Parameter> all;
    const_cast<Encoder*>(this)->visit([&](const Slot& slot) {
        if (slot.trained) all.push_back({slot.parameter_name(), *slot.tensor, slot.decay, Path::of_expert(slot.expert)});
    });
    return all;
}

std::vector<NamedTensor> Encoder::named_tensors() const {
    std::vector<NamedTensor> all;
    const_cast<Encoder*>(this)->visit([&](const Slot& slot) {
        for (std::size_t i = 0; i < slot.names.size(); ++i) all.push_back({slot.full(slot.names[i]), slot.stored(i)});
    });
    return all;
}

/// A tensor of the type that the checkpoint's numbers are kept in; the one that is there where it is so already.
void Encoder::make_room(const Weights& weights, const Slot& slot, const std::vector<std::string>& names) const {
    const bool halved = kept_ == KeptWeights::as_stored && (slot.is_product() || slot.tensor == &word_) &&
                        std::all_of(names.begin(), names.end(), [&](const std::string& n) { return weights.at(n).dtype == DType::bf16; });
    const at::ScalarType wanted = halved                                        ? at::kBFloat16
                                  : slot.tensor->scalar_type() == at::kBFloat16 ? dtype_
                                                                                : slot.tensor->scalar_type();
    if (slot.tensor->is_contiguous() && slot.tensor->scalar_type() == wanted) return;
    *slot.tensor = at::empty(slot.tensor->sizes(), slot.tensor->options().dtype(wanted));
}

void Encoder::read_slot(const Weights& weights, const Slot& slot, const std::vector<std::string>& names) const {
    make_room(weights, slot, names);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const at::Tensor shape = slot.stored(i), own = slot.rows(i);
        const TensorInfo& info = weights.at(names[i]);
        if (!std::equal(info.shape.begin(), info.shape.end(), shape.sizes().begin(), shape.sizes().end()))
            throw data_error("{}: tensor '{}' has shape [{}], config.json makes it [{}]", weights.description(), names[i],
                             fmt::join(info.shape, ", "), fmt::join(shape.sizes(), ", "));
        if (own.scalar_type() == at::kBFloat16 && info.dtype == DType::bf16) {
            weights.read(names[i], own.data_ptr());
            continue;
        }
        const bool in_place = slot.turned == 0 && own.scalar_type() == at::kFloat && own.device().is_cpu() && own.is_contiguous();
        const at::Tensor values = in_place ? own : at::empty(shape.sizes(), at::kFloat);
        weights.read_float(names[i], {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
        if (in_place) continue;
        own.copy_(slot.turned == 0 ? values : values.view({slot.turned, -1, values.size(1)}).transpose(1, 2).reshape(own.sizes()));
    }
}

void Encoder::load_weights(const Weights& weights, const std::string& own_prefix, int expert) {
    drop_prepared();
    const auto [names, found_prefix] = names_in(weights, config_);
    const std::string prefix = own_prefix.empty() ? found_prefix : own_prefix;
    visit(names, [&, &names = names](const Slot& slot) {
        std::vector<std::string> found;
        for (const std::string& part : slot.names) {
            const bool head = std::any_of(heads_.begin(), heads_.end(),
                                          [&](const DenseHead& h) { return slot.place.empty() && part.starts_with(h.module.name + "."); });
            std::string name = (head ? own_prefix : prefix) + slot.full(part);
            const std::string of_expert = fmt::format("{}{}experts.{}.{}", prefix, slot.place, expert, part);
            if (expert != Path::none && !slot.place.empty() && weights.find(of_expert)) name = of_expert;
            std::vector<std::string> others = {first_bert_name(name), original_name(name)};
            if (slot.tensor == &word_) others.push_back(prefix + names.word_alias + ".weight");
            for (const std::string& other : others)
                if (!weights.find(name) && weights.find(other)) name = other;
            found.push_back(std::move(name));
        }
        read_slot(weights, slot, found);
    });
}

void Encoder::widen() {
    if (dtype_ != at::kBFloat16)
        replace([&](const at::Tensor& t, bool) { return t.scalar_type() == at::kBFloat16 ? t.detach().to(dtype_) : t; });
}

void Encoder::require_grad(bool on) {
    if (on) drop_prepared();
    for (const Parameter& p : parameters()) p.tensor.requires_grad_(on);
}

void Encoder::replace(const std::function<at::Tensor(const at::Tensor&, bool exact)>& each) {
    drop_prepared();
    visit([&](const Slot& slot) { *slot.tensor = each(*slot.tensor, slot.exact); });
    for (Block& block : blocks_) {
        if (!block.shared_norms) continue;
        const auto take_norms = [&](Expert& x) {
            x.before = block.experts[0].before;
            x.behind = block.experts[0].behind;
        };
        std::for_each(block.experts.begin(), block.experts.end(), take_norms);
        if (block.dense) take_norms(*block.dense);
    }
    for (Adapter& adapter : adapters_)
        for_each_update(adapter, [&](const std::string&, bool, at::Tensor& a, at::Tensor& b) {
            a = each(a, false);
            b = each(b, false);
        });
}

std::unique_ptr<Encoder> Encoder::clone(at::ScalarType dtype) const {
    auto copy = std::make_unique<Encoder>(*this);
    copy->dtype_ = dtype;
    copy->replace([&](const at::Tensor& t, bool) { return t.detach().to(dtype, /*non_blocking=*/false, /*copy=*/true); });
    return copy;
}

std::unique_ptr<Encoder> Encoder::lowered(at::ScalarType dtype) const {
    auto copy = std::make_unique<Encoder>(*this);
    copy->dtype_ = dtype;
    std::vector<at::Tensor> products;
    copy->replace([&](const at::Tensor& t, bool exact) { return exact ? t : products.emplace_back(t); });
    products = cast_together(products, dtype);
    auto next = products.begin();
    copy->replace([&](const at::Tensor& t, bool exact) { return exact ? t : *next++; });
    return copy;
}

void Encoder::move_to(const c10::Device& device) {
    if (!device.is_cpu()) widen();
    replace([&](const at::Tensor& t, bool) { return t.detach().to(device).requires_grad_(t.requires_grad()); });
}

std::int64_t Encoder::total_parameters() const {
    std::int64_t total = 0;
    for (const Parameter& p : parameters()) total += p.tensor.numel();
    for (const Adapter& adapter : adapters_) total += adapter.num_parameters();
    return total;
}

std::int64_t Encoder::active_parameters() const {
    std::int64_t total = 0;
    for (const Parameter& p : parameters())
        if (p.owner.expert <= 0) total += p.tensor.numel();
    if (!adapters_.empty()) total += adapters_.front().num_parameters();
    for (const Block& block : blocks_)
        if (const auto& r = block.routing)
            for (const at::Tensor& t : {r->up, r->up_bias, r->down})
                if (t.defined()) total -= t.numel() / r->num_experts * (r->num_experts - r->top_k);
    return total;
}

std::int64_t Encoder::multiply_adds_per_token(std::int64_t length) const {
    const EncoderConfig& c = config_;
    const std::int64_t d = c.hidden_dim, query = c.num_heads * c.head_dim, mlp = (c.gated ? 3 : 2) * d * c.intermediate_dim;
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < c.num_layers; ++i) {
        const auto& routing = blocks_[static_cast<std::size_t>(i)].routing;
        const std::int64_t terms = 2 + (c.disentangled.query_reads_distance ? 1 : 0) + (c.disentangled.key_reads_distance ? 1 : 0);
        total += d * (c.qkv_dim() + query) + terms * c.reach_of(i).seen(length) * query +
                 (routing ? routing->top_k * mlp + routing->num_experts * d : mlp);
    }
    return total;
}

}  // namespace faceter
