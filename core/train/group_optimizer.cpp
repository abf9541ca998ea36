#include "train/group_optimizer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "common/error.h"

namespace faceter {
namespace {

constexpr std::int64_t bucket_values = std::int64_t{8} << 20;   ///< 32 MiB in float32

at::Tensor flat(const at::Tensor& values) { return values.detach().view(-1); }

}  // namespace

std::vector<Bucket> make_buckets(const std::vector<Parameter>& parameters, int ranks, std::int64_t max_values) {
    std::map<int, std::vector<Bucket>> by_expert;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        auto& buckets = by_expert[parameters[i].expert];
        if (buckets.empty() || buckets.back().numel >= max_values) buckets.push_back({parameters[i].expert, {}, 0});
        Bucket& bucket = buckets.back();
        bucket.members.push_back({i, bucket.numel, parameters[i].tensor.numel()});
        bucket.numel += parameters[i].tensor.numel();
    }
    std::vector<Bucket> all;
    for (auto& [expert, buckets] : by_expert)
        for (Bucket& bucket : buckets) {
            bucket.numel = (bucket.numel + ranks - 1) / ranks * ranks;
            all.push_back(std::move(bucket));
        }
    return all;
}

GroupAdamW::GroupAdamW(std::vector<Parameter> parameters, AdamWSettings settings, ProcessGroup& group, Sharding sharding)
    : parameters_(std::move(parameters)),
      group_(group),
      sharding_(group.size() > 1 ? sharding : Sharding::none),
      buckets_(group.size() > 1 ? make_buckets(parameters_, group.size(), bucket_values) : std::vector<Bucket>()),
      pieces_(own_pieces()),
      adamw_(stepped(), settings) {}

std::vector<GroupAdamW::Piece> GroupAdamW::own_pieces() const {
    std::vector<Piece> pieces;
    if (sharding_ == Sharding::none) return pieces;
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        const std::int64_t part_begin = group_.rank() * part_numel(b), part_end = part_begin + part_numel(b);
        for (const Bucket::Member& member : buckets_[b].members) {
            const std::int64_t begin = std::max(part_begin, member.offset), end = std::min(part_end, member.offset + member.numel);
            if (begin < end) pieces.push_back({member.parameter, b, begin - member.offset, end - begin, begin - part_begin});
        }
    }
    return pieces;
}

std::vector<Parameter> GroupAdamW::stepped() const {
    for (const Parameter& p : parameters_)
        if (group_.size() > 1 && !p.tensor.is_contiguous()) throw failure("parameter '{}' is not contiguous in memory; its gradient cannot be shared between processes", p.name);
    if (sharding_ == Sharding::none) return parameters_;
    std::vector<Parameter> parts;
    for (const Piece& piece : pieces_) {
        const Parameter& p = parameters_[piece.parameter];
        parts.push_back({p.name, flat(p.tensor).narrow(0, piece.begin, piece.numel), p.decay, p.expert});
    }
    return parts;
}

/// Of each parameter: whether any rank has a gradient. An expert outside of the plan has none.
std::vector<char> GroupAdamW::gradients_anywhere(const std::set<int>& experts) const {
    at::Tensor counts = at::zeros({static_cast<std::int64_t>(parameters_.size())}, at::kFloat);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Parameter& p = parameters_[i];
        if (p.tensor.grad().defined() && (p.expert < 0 || experts.contains(p.expert))) counts.data_ptr<float>()[i] = 1;
    }
    group_.all_reduce_sum(counts);
    std::vector<char> anywhere;
    for (std::size_t i = 0; i < parameters_.size(); ++i) anywhere.push_back(counts.data_ptr<float>()[i] > 0);
    return anywhere;
}

/// This rank's gradients end to end, zero where it has none. They are let go.
at::Tensor GroupAdamW::packed_gradients(const Bucket& bucket) {
    const at::Tensor packed = at::zeros({bucket.numel}, parameters_[bucket.members.front().parameter].tensor.options().requires_grad(false));
    for (const Bucket::Member& member : bucket.members) {
        at::Tensor& gradient = parameters_[member.parameter].tensor.mutable_grad();
        if (gradient.defined()) packed.narrow(0, member.offset, member.numel).copy_(gradient.reshape(-1));
        gradient = at::Tensor();
    }
    return packed;
}

void GroupAdamW::reduce_all(const Bucket& bucket, const std::vector<char>& anywhere) {
    at::Tensor packed = packed_gradients(bucket);
    group_.all_reduce_sum(packed);
    for (const Bucket::Member& member : bucket.members)
        if (anywhere[member.parameter])
            parameters_[member.parameter].tensor.mutable_grad() = packed.narrow(0, member.offset, member.numel).view(parameters_[member.parameter].tensor.sizes());
}

void GroupAdamW::reduce_own(std::size_t bucket, const std::vector<char>& anywhere) {
    const at::Tensor part = group_.reduce_scatter_sum(packed_gradients(buckets_[bucket]));
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        if (pieces_[i].bucket == bucket && anywhere[pieces_[i].parameter])
            const_cast<at::Tensor&>(adamw_.parameters()[i].tensor).mutable_grad() = part.narrow(0, pieces_[i].offset, pieces_[i].numel);
}

void GroupAdamW::share_new_values(std::size_t b) {
    const Bucket& bucket = buckets_[b];
    const at::Tensor part = at::zeros({part_numel(b)}, parameters_[bucket.members.front().parameter].tensor.options().requires_grad(false));
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        if (pieces_[i].bucket == b) part.narrow(0, pieces_[i].offset, pieces_[i].numel).copy_(adamw_.parameters()[i].tensor);
    const at::Tensor all = group_.all_gather_parts(part);
    for (const Bucket::Member& member : bucket.members) flat(parameters_[member.parameter].tensor).copy_(all.narrow(0, member.offset, member.numel));
}

at::Tensor GroupAdamW::step(double learning_rate, double max_grad_norm, const std::set<int>& experts) {
    if (group_.size() == 1) return adamw_.step(learning_rate, max_grad_norm, experts);
    const at::NoGradGuard no_grad;
    const std::vector<char> anywhere = gradients_anywhere(experts);
    const auto in_play = [&](const Bucket& bucket) {
        return std::any_of(bucket.members.begin(), bucket.members.end(), [&](const Bucket::Member& member) { return anywhere[member.parameter] != 0; });
    };
    std::vector<std::size_t> sent;
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        if (!in_play(buckets_[b])) continue;
        sent.push_back(b);
        sharding_ == Sharding::none ? reduce_all(buckets_[b], anywhere) : reduce_own(b, anywhere);
    }
    if (sharding_ == Sharding::none) return adamw_.step(learning_rate, max_grad_norm, experts);
    const at::Tensor norm = adamw_.step(learning_rate, max_grad_norm, experts, [&](const at::Tensor& own) {
        at::Tensor squares = own.to(at::kDouble).square().reshape({1});
        group_.all_reduce_sum(squares);
        return squares.sqrt().squeeze(0);
    });
    for (const std::size_t b : sent) share_new_values(b);
    return norm;
}

void GroupAdamW::zero_grad() {
    for (const Parameter& p : parameters_) p.tensor.mutable_grad() = at::Tensor();
    adamw_.zero_grad();
}

at::Tensor GroupAdamW::whole_moment(std::size_t b, bool first) const {
    const at::Tensor part = at::zeros({part_numel(b)}, parameters_[buckets_[b].members.front().parameter].tensor.options().requires_grad(false));
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        if (pieces_[i].bucket == b) part.narrow(0, pieces_[i].offset, pieces_[i].numel).copy_(first ? adamw_.moments(i).first : adamw_.moments(i).second);
    return group_.all_gather_parts(part);
}

std::vector<NamedTensor> GroupAdamW::state() const {
    if (sharding_ == Sharding::none) return adamw_.state();
    at::Tensor steps = at::zeros({static_cast<std::int64_t>(parameters_.size())}, at::kDouble);
    for (std::size_t i = 0; i < pieces_.size(); ++i)   // whoever has the first value of a parameter gives its count
        if (pieces_[i].begin == 0) steps[static_cast<std::int64_t>(pieces_[i].parameter)].copy_(adamw_.moments(i).steps);
    group_.all_reduce_sum(steps);
    std::vector<NamedTensor> state;
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        const at::Tensor first = whole_moment(b, true), second = whole_moment(b, false);
        for (const Bucket::Member& member : buckets_[b].members) {
            const Parameter& p = parameters_[member.parameter];
            const auto whole = [&](const at::Tensor& all) { return all.narrow(0, member.offset, member.numel).view(p.tensor.sizes()); };
            state.push_back({"exp_avg." + p.name, whole(first)});
            state.push_back({"exp_avg_sq." + p.name, whole(second)});
            state.push_back({"step." + p.name, steps[static_cast<std::int64_t>(member.parameter)].to(at::kFloat)});
        }
    }
    return state;
}

void GroupAdamW::load(const Weights& weights) {
    if (sharding_ == Sharding::none) return adamw_.load(weights);
    std::size_t known = parameters_.size();   // pieces of one parameter are neighbours: it is read once
    at::Tensor first, second;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const Parameter& p = parameters_[pieces_[i].parameter];
        if (known != pieces_[i].parameter) {
            first = at::empty_like(flat(p.tensor));
            second = at::empty_like(first);
            read_tensor(weights, "exp_avg." + p.name, first);
            read_tensor(weights, "exp_avg_sq." + p.name, second);
            known = pieces_[i].parameter;
        }
        const AdamW::Moments own = adamw_.moments(i);
        own.first.copy_(first.narrow(0, pieces_[i].begin, pieces_[i].numel));
        own.second.copy_(second.narrow(0, pieces_[i].begin, pieces_[i].numel));
        read_tensor(weights, "step." + p.name, own.steps);
    }
}

}  // namespace faceter
