#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/embedding_model.h"
#include "train/checkpoint.h"
#include "train/curriculum.h"
#include "train/group_optimizer.h"
#include "train/objective.h"
#include "train/optimizer.h"
#include "train/pair_batch.h"
#include "train/process_group.h"

namespace faceter {

class TokenObjective;

/// settings.training, read.
struct TrainingSettings {
    std::int64_t batch_size = 32, epochs = 1, steps = 0, accumulate = 1, checkpoint_every_steps = 100, evaluate_every_steps = 0;
    std::int64_t gradient_cache_chunk = 0;  ///< from the objective's settings
    std::int64_t warmup_steps = -1;         ///< -1: warmup_ratio of all
    TokenLengths lengths{};
    double learning_rate = 2e-5, warmup_ratio = 0.1, max_grad_norm = 1;
    double dropout = -1;  ///< < 0: as the model's config.json says
    Schedule schedule = Schedule::cosine;
    AdamWSettings adamw;
    Sharding sharding = Sharding::none;
    bool activation_checkpointing = false;
    bool bf16 = false;  ///< products in bf16 (Bf16Products, Encoder::lowered); weights, moments and losses in float32
    std::uint64_t seed = 1;
    static TrainingSettings from_json(const Json& settings);
};

/// A loss on what the routers of a batch did, beside the objective's. `trace` is of some texts of the batch, `totals` of all: the losses of
/// the parts add up to that of the whole.
using RoutingLoss = std::function<LossResult(const RoutingTrace& trace, const RoutingTotals& totals)>;

/// One part of a run: which tasks train which encoder, or which low-rank adapter of it.
struct Stage {
    std::string name = "train";
    std::vector<std::string> tasks;  ///< empty: all
    int encoder = 0;
    RoutingLoss routing_loss{};    ///< may be empty
    int adapter = -1;              ///< >= 0: only this low-rank adapter is trained, and queries go through it
    bool adapt_documents = false;  ///< documents go through it as well; else they are embedded once, by the frozen encoder
    /// How many examples of a task are used, from the numbers that the stage's tasks have (all of the run's are given); empty: all.
    std::function<std::size_t(const std::string& task, const std::map<std::string, std::size_t>& sizes)> budget{};
};

/// What a step leaves to be journaled.
struct StepReport {
    std::int64_t step = 0, total_steps = 0, tokens = 0, pairs = 0;
    double loss = 0, learning_rate = 0, grad_norm = 0, temperature = 0, seconds = 0;
    std::string task;
    std::map<std::string, double> parts;
};

/// Called by the trainer between steps.
struct TrainerEvents {
    std::function<void(const StepReport&)> step;
    /// Scores the model as it is; returns the watched score (percent) for early stopping. Given on all ranks, called on rank 0: the others
    /// wait.
    std::function<double(std::int64_t step)> evaluate;
    /// Called on the other ranks meanwhile; may be empty.
    std::function<void()> serve;
    /// Writes a checkpoint; called on rank 0, and where the optimiser is sharded on every rank, each with its own part of it.
    std::function<void(const CheckpointState&, const std::vector<NamedTensor>& optimizer)> checkpoint;
    std::function<bool()> should_stop = [] { return false; };
    std::function<bool()> checkpoint_wanted = [] { return false; };
};

struct EarlyStopping {
    bool on = false;
    std::int64_t patience = 3;
    double min_delta = 0;
    bool keep_best = false;  ///< the weights of the best score are what a stage of an adapter leaves
};

enum class TrainOutcome { finished, early_stopped, stopped };

/// Trains one encoder of a model, or one adapter of it, through one stage. Every rank of the group draws the same plan, embeds its share of
/// each batch, gathers the embeddings of the others and differentiates the loss of the whole batch with respect to its own rows; the ranks'
/// gradients add up to those of one process.
class Trainer {
  public:
    Trainer(EmbeddingModel& model, const Stage& stage, std::size_t stage_index, const PairBatcher& batcher, Curriculum& curriculum,
            const Objective& objective, const TrainingSettings& settings, const EarlyStopping& early, ProcessGroup& group);

    /// Goes on from a checkpoint of this stage (the model's weights are read by the caller).
    void restore(const Checkpoint& checkpoint);
    TrainOutcome run(const TrainerEvents& events);
    std::int64_t total_steps() const { return total_steps_; }
    std::int64_t step() const { return step_; }
    /// One forward, backward and update (for benchmarks and tests).
    StepReport train_step();
    const GroupAdamW& optimizer() const { return *optimizer_; }
    /// What a checkpoint holds besides the model: this rank's moments, and on rank 0 the best weights so far where they are kept.
    std::vector<NamedTensor> optimizer_state() const;

  private:
    /// Added up on the device; what is undefined is nothing yet.
    struct LossSums {
        at::Tensor loss;
        LossParts parts;
    };
    struct StepSums {
        LossSums whole, share;          ///< of the whole batch on every rank; of this rank's share of it
        std::set<int> experts;          ///< of the whole batch
        std::vector<char> used_tokens;  ///< of each vocabulary entry: whether the whole batch has it; empty where nobody asks
        std::int64_t tokens = 0, pairs = 0;
        int busy_ranks = 0;  ///< the first so many have embedded anything
    };
    /// A part of this rank's share of a batch, and its embeddings: with their graph where the share is one part.
    struct EmbeddedPart {
        PairBatch batch;
        PairEmbeddings rows;
        RoutingTrace trace;
    };
    /// What the ranks agree on between two steps.
    struct Verdict {
        bool stop = false, save = false, better = false, enough = false;
        double score = 0;
    };
    /// `last`: no other batch of the step comes behind it.
    void accumulate_gradients(const BatchPlan& plan, bool last, StepSums& sums);
    void cached_gradients(const BatchPlan& plan, bool last, StepSums& sums);
    void token_gradients(const TokenObjective& tokens, const BatchPlan& plan, bool last, StepSums& sums);
    std::vector<EmbeddedPart> embed_share(const BatchPlan& plan, const Share& share, RoutingTotals& totals) const;
    void gather_embeddings(const std::vector<EmbeddedPart>& parts, PairEmbeddings& whole) const;
    void sum_over_ranks(RoutingTotals& totals) const;
    StepReport read(const StepSums& sums, const at::Tensor& norm) const;
    void add_share(const std::map<std::string, double>& parts, double loss, const StepSums& sums, StepReport& report) const;
    const Encoder& in_precision() const { return lowered_ ? *lowered_ : encoder_; }
    void backward_share(std::vector<EmbeddedPart>& parts, const PairEmbeddings& whole, const Share& share, const RoutingTotals& totals,
                        bool last, StepSums& sums);
    at::Tensor forward(const PairBatch& batch, RoutingTrace* trace) const;
    LossResult routing_loss(const RoutingTrace& trace, const RoutingTotals& totals) const;
    void add_loss(const LossResult& result, LossSums& sums, double share_of_parts = 1) const;
    TrainOutcome run_steps(const TrainerEvents& events);
    std::vector<Parameter> trained(const Encoder& encoder) const;
    void keep_best();
    void take_best();
    PairBatch build(std::span<const ExampleReference> items, double temperature) const;
    BatchPlan next_plan();
    CheckpointState state() const;
    void save(const TrainerEvents& events) const;
    Verdict agree(const TrainerEvents& events);
    void judge(const TrainerEvents& events, Verdict& verdict) const;

    EmbeddingModel& model_;
    Encoder& encoder_;
    std::unique_ptr<Encoder> lowered_;  ///< of the encoder as it is in this step, where an accelerator multiplies in half precision
    std::size_t stage_index_;
    RoutingLoss routing_loss_;
    int adapter_;
    PairBatcher::Sides sides_;
    const PairBatcher& batcher_;
    Curriculum& curriculum_;
    const Objective& objective_;
    TrainingSettings settings_;
    EarlyStopping early_;
    ProcessGroup& group_;
    std::unique_ptr<GroupAdamW> optimizer_;
    at::Tensor word_table_;  ///< where only those of its rows travel that a step touches
    std::int64_t step_ = 0, total_steps_ = 0, warmup_steps_ = 0;
    double best_score_ = -1e300;
    std::int64_t evaluations_without_gain_ = 0;
    std::vector<at::Tensor> best_;  ///< of the trained parameters, in their order; empty: none yet
};

}  // namespace faceter
