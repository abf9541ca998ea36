#include "train/gradient_way.h"

#include <ATen/ATen.h>

#include "train/token_objective.h"

namespace faceter {

ForwardContext StepTools::context(RoutingTrace* trace) const {
    const DropoutRates& own = encoder.config().dropout;
    return {true,
            settings.seed,
            step,
            settings.dropout < 0 ? own : own.everywhere(settings.dropout),
            routing ? trace : nullptr,
            settings.activation_checkpointing};
}

at::Tensor StepTools::forward(const PairBatch& batch, RoutingTrace* trace) const {
    return model.embed(*in_precision, batch.tokens, context(trace));
}

LossResult StepTools::routing_loss(const RoutingTrace& trace, const RoutingTotals& totals) const {
    return trace.empty() ? LossResult{} : routing(trace, totals);
}

void StepTools::add_loss(const LossResult& result, const std::string& task, LossSums& sums, double share_of_parts) const {
    if (!result.loss.defined()) return;
    const auto add = [](at::Tensor& sum, const at::Tensor& value, double times) {
        const at::Tensor own = value.detach().to(at::kDouble) * times;
        sum = sum.defined() ? sum + own : own;
    };
    add(sums.loss, result.loss, part());
    if (!task.empty()) add(sums.tasks[task], result.loss, 1);
    for (const auto& [name, value] : result.parts) {
        const bool adds_up = name.starts_with(dropped_assignments);
        add(sums.parts[name], value, name.starts_with(loss_of_prefix) ? part() : adds_up ? 1 : share_of_parts);
    }
}

void StepTools::sum_over_ranks(RoutingTotals& totals) const {
    if (!routing || group.size() == 1) return;
    const auto options = at::TensorOptions(at::kDouble).device(encoder.device());
    std::vector<at::Tensor> loads;
    for (const Block& block : encoder.blocks())
        if (block.routing)
            loads.push_back(loads.size() < totals.load.size() ? totals.load[loads.size()]
                                                              : at::zeros({block.routing->num_experts}, options));
    if (loads.empty()) return;
    at::Tensor sums = at::cat(loads), tokens = at::full({1}, static_cast<double>(totals.tokens), at::kDouble);
    group.all_reduce_sum(sums);
    group.all_reduce_sum(tokens);
    std::int64_t at = 0;
    totals.load.clear();
    for (const at::Tensor& load : loads) {
        totals.load.push_back(sums.narrow(0, at, load.numel()));
        at += load.numel();
    }
    totals.tokens = tokens.item<std::int64_t>();
}

namespace {

/// A whole batch in one pass.
class WholePairs final : public GradientWay {
  public:
    WholePairs(const StepTools& tools, const PairObjective& objective) : tools_(tools), objective_(objective) {}

    void add_batch(const BatchPlan& plan, bool, StepSums& sums) override {
        const PairBatch batch = tools_.build(plan.items, plan.temperature);
        sums.tokens += batch.tokens.layout->num_tokens();
        for (const Segment& segment : batch.tokens.layout->segments()) sums.used.add(segment.path);
        RoutingTrace trace;
        RoutingTotals totals;
        PairEmbeddings rows = batch.assemble(tools_.forward(batch, &trace));
        rows.keep = plan.keep;
        const LossResult result = objective_(rows);
        totals.add(trace);
        const LossResult routing = tools_.routing_loss(trace, totals);
        const at::Tensor loss = routing.loss.defined() ? result.loss + routing.loss : result.loss;
        (loss * tools_.part()).backward();
        tools_.add_loss(result, plan.task, sums.whole, 1);
        tools_.add_loss(routing, plan.task, sums.share, tools_.part());
    }

  private:
    const StepTools& tools_;
    const PairObjective& objective_;
};

/// A loss on tokens: each rank has the texts of its share, and its mean counts for as many tokens as it is over.
class TextTokens final : public GradientWay {
  public:
    TextTokens(const StepTools& tools, const TokenObjective& objective) : tools_(tools), objective_(objective) {}

    void add_batch(const BatchPlan& plan, bool last, StepSums& sums) override {
        const auto pairs = static_cast<std::int64_t>(plan.items.size());
        const Share share = share_of(pairs, tools_.group.rank(), tools_.group.size());
        sums.busy_ranks = std::max(sums.busy_ranks, static_cast<int>(std::min<std::int64_t>(tools_.group.size(), pairs)));
        if (tools_.group.size() > 1) {
            sums.used.add(tools_.batcher.outline(plan.items, plan.temperature, tools_.sides).used);
        }
        RoutingTrace trace;
        RoutingTotals totals;
        LossResult result;
        if (share.size() > 0) result = loss_of(plan, share, trace, sums);
        totals.add(trace);
        tools_.sum_over_ranks(totals);
        at::Tensor count = at::full({1}, result.count, at::kDouble);
        tools_.group.all_reduce_sum(count);
        if (share.size() == 0) return;
        weigh(result, count.item<double>());
        const LossResult routing = tools_.routing_loss(trace, totals);
        if (last) tools_.optimizer->send_while_backward(sums.used);
        ((routing.loss.defined() ? result.loss + routing.loss : result.loss) * tools_.part()).backward();
        tools_.add_loss(result, plan.task, sums.share, tools_.part());
        tools_.add_loss(routing, plan.task, sums.share, tools_.part());
    }

  private:
    LossResult loss_of(const BatchPlan& plan, const Share& share, RoutingTrace& trace, StepSums& sums) const {
        const PairBatch batch = tools_.build({plan.items.data() + share.begin, static_cast<std::size_t>(share.size())}, plan.temperature);
        sums.used.add(batch.used);
        const PackedBatch texts = objective_.texts_of(batch);
        sums.tokens += texts.layout->num_tokens();
        return objective_.loss(*tools_.in_precision, texts, tools_.context(&trace));
    }

    /// Means over this rank's tokens as its part of those over `total`.
    void weigh(LossResult& result, double total) const {
        result.loss = result.loss * (result.count / std::max(1.0, total));
        for (auto& [name, mean] : result.parts) mean = mean * (result.count / std::max(1.0, total));
        result.parts[objective_.counted()] = at::scalar_tensor(result.count, at::kDouble);
    }

    const StepTools& tools_;
    const TokenObjective& objective_;
};

}  // namespace

std::unique_ptr<GradientWay> make_pair_way(const StepTools& tools, const PairObjective& objective) {
    if (tools.group.size() > 1 || tools.settings.gradient_cache_chunk > 0) return make_cached_pair_way(tools, objective);
    return std::make_unique<WholePairs>(tools, objective);
}

std::unique_ptr<GradientWay> make_token_way(const StepTools& tools, const TokenObjective& objective) {
    return std::make_unique<TextTokens>(tools, objective);
}

}  // namespace faceter
