#include "train/group_optimizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/error.h"
#include "model/device.h"

namespace faceter {
namespace {

at::Tensor flat(const at::Tensor& values) { return values.detach().view(-1); }

}  // namespace

std::vector<Bucket> make_buckets(const std::vector<Parameter>& parameters, int ranks, std::int64_t max_values) {
    std::map<Path, std::vector<Bucket>> by_owner;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        auto& buckets = by_owner[parameters[i].owner];
        if (buckets.empty() || buckets.back().numel >= max_values) buckets.push_back({parameters[i].owner, {}, 0});
        Bucket& bucket = buckets.back();
        bucket.members.push_back({i, bucket.numel, parameters[i].tensor.numel()});
        bucket.numel += parameters[i].tensor.numel();
    }
    std::vector<Bucket> all;
    for (auto& [owner, buckets] : by_owner)
        for (Bucket& bucket : buckets) {
            bucket.numel = (bucket.numel + ranks - 1) / ranks * ranks;
            all.push_back(std::move(bucket));
        }
    return all;
}

/// Tells the optimiser that backward has finished a parameter's gradient.
struct GroupAdamW::Arrival : torch::autograd::PostAccumulateGradHook {
    Arrival(GroupAdamW& o, std::size_t p) : optimizer(o), parameter(p) {}
    void operator()(const torch::autograd::Variable&) override { optimizer.arrived(parameter); }
    GroupAdamW& optimizer;
    std::size_t parameter;
};

GroupAdamW::GroupAdamW(std::vector<Parameter> parameters, AdamWSettings settings, ProcessGroup& group, Sharding sharding,
                       std::int64_t bucket_values)
    : parameters_(std::move(parameters)),
      group_(group),
      sharding_(group.size() > 1 ? sharding : Sharding::none),
      buckets_(group.size() > 1 ? make_buckets(parameters_, group.size(), bucket_values) : std::vector<Bucket>()),
      bucket_of_(parameters_.size()),
      pieces_(own_pieces()),
      adamw_(stepped(), settings) {
    for (std::size_t b = 0; b < buckets_.size(); ++b)
        for (const Bucket::Member& member : buckets_[b].members) {
            bucket_of_[member.parameter] = b;
            torch::autograd::impl::set_post_acc_grad_hooks(parameters_[member.parameter].tensor,
                                                           std::make_unique<Arrival>(*this, member.parameter));
        }
}

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
        if (group_.size() > 1 && !p.tensor.is_contiguous())
            throw failure("parameter '{}' is not contiguous in memory; its gradient cannot be shared between processes", p.name);
    if (sharding_ == Sharding::none) return parameters_;
    std::vector<Parameter> parts;
    for (const Piece& piece : pieces_) {
        const Parameter& p = parameters_[piece.parameter];
        parts.push_back({p.name, flat(p.tensor).narrow(0, piece.begin, piece.numel), p.decay, p.owner, p.rate});
    }
    return parts;
}

GroupAdamW::~GroupAdamW() {
    if (group_.size() == 1) return;
    for (const Parameter& p : parameters_) torch::autograd::impl::set_post_acc_grad_hooks(p.tensor, nullptr);
}

void GroupAdamW::begin_sending(const UsedPaths& used) {
    sending_ = {};
    sending_.gradients.assign(parameters_.size(), 0);
    for (std::size_t b = buckets_.size(); b-- > 0;)
        if (used.contains(buckets_[b].owner)) sending_.order.push_back(b);
    for (const Bucket& bucket : buckets_) sending_.missing.push_back(bucket.members.size());
}

void GroupAdamW::send_while_backward(const UsedPaths& used) {
    if (group_.size() > 1) begin_sending(used);
}

void GroupAdamW::arrived(std::size_t parameter) {
    if (sending_.order.empty()) return;
    --sending_.missing[bucket_of_[parameter]];
    while (sending_.sent < sending_.order.size() && sending_.missing[sending_.order[sending_.sent]] == 0) send_next();
}

bool GroupAdamW::is_alone_in(const Bucket& bucket, const at::Tensor& table) const {
    return bucket.members.size() == 1 && parameters_[bucket.members.front().parameter].tensor.is_same(table);
}

bool GroupAdamW::sends_rows_of(const at::Tensor& table) const {
    return sharding_ == Sharding::none &&
           std::any_of(buckets_.begin(), buckets_.end(), [&](const Bucket& b) { return is_alone_in(b, table); });
}

void GroupAdamW::only_rows(const at::Tensor& table, const std::vector<std::int64_t>& rows) {
    if (!sends_rows_of(table)) return;
    table_ = table;
    table_rows_ = to_device(at::tensor(rows, at::kLong), table.device());
}

bool GroupAdamW::by_rows(std::size_t bucket) const { return table_.defined() && is_alone_in(buckets_[bucket], table_); }

/// The rows of this rank's gradient, whose place is kept for their sums.
at::Tensor GroupAdamW::packed_rows(const Bucket& bucket) {
    const std::size_t parameter = bucket.members.front().parameter;
    at::Tensor& gradient = parameters_[parameter].tensor.mutable_grad();
    sending_.gradients[parameter] = gradient.defined();
    sending_.tables.back() = gradient.defined() ? gradient : at::zeros_like(parameters_[parameter].tensor).requires_grad_(false);
    gradient = at::Tensor();
    return sending_.tables.back().index_select(0, table_rows_);
}

void GroupAdamW::take_rows(std::size_t bucket, const at::Tensor& table, const at::Tensor& sums, const std::vector<char>& anywhere) {
    const std::size_t parameter = buckets_[bucket].members.front().parameter;
    if (anywhere[parameter]) parameters_[parameter].tensor.mutable_grad() = at::Tensor(table).index_copy_(0, table_rows_, sums);
}

void GroupAdamW::send_next() {
    const at::NoGradGuard no_grad;
    const std::size_t bucket = sending_.order[sending_.sent++];
    sending_.tables.emplace_back();
    const at::Tensor packed = by_rows(bucket) ? packed_rows(buckets_[bucket]) : packed_gradients(buckets_[bucket]);
    sending_.sums.push_back(sharding_ == Sharding::none ? group_.start_all_reduce_sum(packed) : group_.start_reduce_scatter_sum(packed));
}

/// Of each parameter: whether any rank had a gradient.
std::vector<char> GroupAdamW::gradients_anywhere() const {
    at::Tensor counts = at::tensor(at::ArrayRef<float>(sending_.gradients));
    group_.all_reduce_sum(counts);
    return {counts.data_ptr<float>(), counts.data_ptr<float>() + counts.numel()};
}

/// This rank's gradients end to end, zero where it has none. They are let go.
at::Tensor GroupAdamW::packed_gradients(const Bucket& bucket) {
    const at::Tensor packed =
        at::empty({bucket.numel}, parameters_[bucket.members.front().parameter].tensor.options().requires_grad(false));
    std::int64_t end = 0;
    for (const Bucket::Member& member : bucket.members) {
        at::Tensor& gradient = parameters_[member.parameter].tensor.mutable_grad();
        at::Tensor place = packed.narrow(0, member.offset, member.numel);
        gradient.defined() ? place.copy_(gradient.reshape(-1)) : place.zero_();
        sending_.gradients[member.parameter] = gradient.defined();
        gradient = at::Tensor();
        end = member.offset + member.numel;
    }
    packed.narrow(0, end, bucket.numel - end).zero_();
    return packed;
}

void GroupAdamW::take_all(std::size_t bucket, const at::Tensor& sums, const std::vector<char>& anywhere) {
    for (const Bucket::Member& member : buckets_[bucket].members)
        if (anywhere[member.parameter])
            parameters_[member.parameter].tensor.mutable_grad() =
                sums.narrow(0, member.offset, member.numel).view(parameters_[member.parameter].tensor.sizes());
}

void GroupAdamW::take_own(std::size_t bucket, const at::Tensor& sums, const std::vector<char>& anywhere) {
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        if (pieces_[i].bucket == bucket && anywhere[pieces_[i].parameter])
            const_cast<at::Tensor&>(adamw_.parameters()[i].tensor).mutable_grad() = sums.narrow(0, pieces_[i].offset, pieces_[i].numel);
}

void GroupAdamW::share_new_values(std::size_t b) {
    const Bucket& bucket = buckets_[b];
    const at::Tensor part = at::zeros({part_numel(b)}, parameters_[bucket.members.front().parameter].tensor.options().requires_grad(false));
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        if (pieces_[i].bucket == b) part.narrow(0, pieces_[i].offset, pieces_[i].numel).copy_(adamw_.parameters()[i].tensor);
    const at::Tensor all = group_.all_gather_parts(part);
    for (const Bucket::Member& member : bucket.members)
        flat(parameters_[member.parameter].tensor).copy_(all.narrow(0, member.offset, member.numel));
}

void GroupAdamW::send_rest(const UsedPaths& used) {
    if (group_.size() == 1) return;
    const at::NoGradGuard no_grad;
    if (sending_.order.empty()) begin_sending(used);
    while (sending_.sent < sending_.order.size()) send_next();
}

at::Tensor GroupAdamW::step(double learning_rate, double max_grad_norm, const UsedPaths& used) {
    if (group_.size() == 1) return adamw_.step(learning_rate, max_grad_norm, used);
    const at::NoGradGuard no_grad;
    send_rest(used);
    const std::vector<char> anywhere = gradients_anywhere();
    const Sending sent = std::exchange(sending_, {});
    for (std::size_t i = 0; i < sent.order.size(); ++i) {
        const at::Tensor sums = sent.sums[i]->wait();
        if (sent.tables[i].defined())
            take_rows(sent.order[i], sent.tables[i], sums, anywhere);
        else
            sharding_ == Sharding::none ? take_all(sent.order[i], sums, anywhere) : take_own(sent.order[i], sums, anywhere);
    }
    table_ = table_rows_ = at::Tensor();
    if (sharding_ == Sharding::none) return adamw_.step(learning_rate, max_grad_norm, used);
    const at::Tensor norm = adamw_.step(learning_rate, max_grad_norm, used, [&](const at::Tensor& own) {
        at::Tensor squares = own.to(at::kDouble).square().reshape({1});
        group_.all_reduce_sum(squares);
        return squares.sqrt().squeeze(0);
    });
    for (const std::size_t b : sent.order) share_new_values(b);
    return norm;
}

std::vector<Parameter> GroupAdamW::not_finite(const GradientNorms& norms, std::span<const double> each) const {
    at::Tensor found = at::zeros({static_cast<std::int64_t>(parameters_.size())}, at::kDouble);
    for (std::size_t i = 0; i < norms.parameters.size(); ++i)
        if (const std::size_t stepped = norms.parameters[i]; !std::isfinite(each[i]))
            found[static_cast<std::int64_t>(pieces_.empty() ? stepped : pieces_[stepped].parameter)] = 1;
    group_.all_reduce_sum(found);
    std::vector<Parameter> all;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (found[static_cast<std::int64_t>(i)].item<double>() > 0) all.push_back(parameters_[i]);
    return all;
}

void GroupAdamW::zero_grad() {
    for (const Parameter& p : parameters_) p.tensor.mutable_grad() = at::Tensor();
    adamw_.zero_grad();
}

std::vector<NamedTensor> GroupAdamW::state() const {
    if (sharding_ == Sharding::none) return adamw_.state();
    std::vector<NamedTensor> state;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const std::string& name = parameters_[pieces_[i].parameter].name;
        const AdamW::Moments own = adamw_.moments(i);
        state.push_back({fmt::format("exp_avg.{}@{}", name, pieces_[i].begin), own.first});
        state.push_back({fmt::format("exp_avg_sq.{}@{}", name, pieces_[i].begin), own.second});
        if (pieces_[i].begin == 0) state.push_back({"step." + name, own.steps});
    }
    return state;
}

void GroupAdamW::load(const Weights& weights) {
    if (sharding_ == Sharding::none) return adamw_.load(weights);
    std::size_t known = parameters_.size();  // pieces of one parameter are neighbours: it is read once
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
