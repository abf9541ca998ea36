#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/embedding_model.h"
#include "train/curriculum.h"
#include "train/group_optimizer.h"
#include "train/objective.h"
#include "train/pair_batch.h"
#include "train/process_group.h"
#include "train/training_settings.h"

namespace faceter {

class TokenObjective;

/// A loss on what the routers of a batch did, beside the objective's. `trace` is of some texts of the batch, `totals` of all: the losses of
/// the parts add up to that of the whole.
using RoutingLoss = std::function<LossResult(const RoutingTrace& trace, const RoutingTotals& totals)>;

/// Added up on the device; what is undefined is nothing yet.
struct LossSums {
    at::Tensor loss;                          ///< over the batches of a step, each divided by their number
    std::map<std::string, at::Tensor> tasks;  ///< of each task, not divided
    LossParts parts;
};

/// What the batches of a step add up to.
struct StepSums {
    LossSums whole, share;                  ///< of the whole batch on every rank; of this rank's share of it
    std::map<std::string, int> batches_of;  ///< of each task: the same on every rank; batches of several tasks count nowhere
    UsedPaths used;                         ///< by the whole batch
    std::vector<char> used_tokens;          ///< of each vocabulary entry: whether the whole batch has it; empty where nobody asks
    std::int64_t tokens = 0, pairs = 0;
    int busy_ranks = 0;  ///< the first so many have embedded anything
};

/// What a trainer lends to the way of its steps.
struct StepTools {
    const EmbeddingModel& model;
    const Encoder& encoder;
    const PairBatcher& batcher;
    const TrainingSettings& settings;
    ProcessGroup& group;
    RoutingLoss routing{};  ///< may be empty
    PairBatcher::Sides sides{};
    GroupAdamW* optimizer = nullptr;
    const Encoder* in_precision = nullptr;  ///< of this step: the encoder, or its copy in half precision
    std::int64_t step = 0, batches = 1;     ///< which step, and of how many batches

    PairBatch build(std::span<const ExampleReference> items, double temperature) const { return batcher.build(items, temperature, sides); }
    ForwardContext context(RoutingTrace* trace) const;
    at::Tensor forward(const PairBatch& batch, RoutingTrace* trace) const;
    LossResult routing_loss(const RoutingTrace& trace, const RoutingTotals& totals) const;
    /// The share that one batch has in its step.
    double part() const { return 1.0 / static_cast<double>(batches); }
    /// `share_of_parts`: what the parts count for, but for losses of prefixes, which count as the loss does.
    void add_loss(const LossResult& result, const std::string& task, LossSums& sums, double share_of_parts) const;
    /// The loads of all ranks' tokens. A rank without a share has none of its own, so the shapes are those of the model.
    void sum_over_ranks(RoutingTotals& totals) const;
};

/// How a batch becomes gradients of the parameters: whole, in cached chunks, or from its tokens.
class GradientWay {
  public:
    virtual ~GradientWay() = default;
    /// Adds the gradients of one batch of a step. `last`: no other batch of the step comes behind it.
    virtual void add_batch(const BatchPlan& plan, bool last, StepSums& sums) = 0;
};

/// `tools` and the objective must outlive it. Pairs go whole where one process takes them in one chunk, else by the gradient cache.
std::unique_ptr<GradientWay> make_pair_way(const StepTools& tools, const PairObjective& objective);
std::unique_ptr<GradientWay> make_cached_pair_way(const StepTools& tools, const PairObjective& objective);
std::unique_ptr<GradientWay> make_token_way(const StepTools& tools, const TokenObjective& objective);

}  // namespace faceter
