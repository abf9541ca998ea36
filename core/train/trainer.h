#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/embedding_model.h"
#include "train/checkpoint.h"
#include "train/curriculum.h"
#include "train/gradient_way.h"
#include "train/training_settings.h"

namespace faceter {

/// One part of a run: which tasks train which encoder, or which low-rank adapter of it.
struct Stage {
    std::string name = "train";
    std::vector<std::string> tasks;  ///< empty: all
    int encoder = 0;
    RoutingLoss routing_loss{};    ///< may be empty
    int adapter = -1;              ///< >= 0: only this low-rank adapter is trained, and queries go through it
    std::set<int> adapters{};      ///< trained together, each by the texts whose route goes through it; empty: not a stage of those
    double base_rate = 0;          ///< of `adapters`: the learning rate of all else, as a share of theirs; 0: frozen
    bool adapt_documents = false;  ///< documents go through it as well; else they are embedded once, by the frozen encoder
    /// How many examples of a task are used, from the numbers that the stage's tasks have (all of the run's are given); empty: all.
    std::function<std::size_t(const std::string& task, const std::map<std::string, std::size_t>& sizes)> budget{};
};

/// The texts that a step of the stage embeds, and which way they go: without negatives that its loss does not read, and without documents
/// that a frozen base has embedded before.
PairBatcher::Sides embedded_sides(const Stage& stage, const Objective& objective);

/// Errors (settings): the stage trains a low-rank adapter, and the objective is one that cannot.
void require_fitting(const Objective& objective, const Stage& stage);

/// What a step leaves to be journaled.
struct StepReport {
    std::int64_t step = 0, total_steps = 0, tokens = 0, pairs = 0;
    double loss = 0, learning_rate = 0, grad_norm = 0, seconds = 0;
    double temperature = 0;  ///< the mean over the step's batches
    std::map<std::string, double> parts;
    std::map<std::string, double> task_losses;  ///< of each task that the step had batches of, the mean over these
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
    bool keep_best = false;  ///< the weights of the best score are what the stage leaves
};

enum class TrainOutcome { finished, early_stopped, stopped };

/// Trains one encoder of a model, or one adapter of it, through one stage. Every rank of the group draws the same plan, embeds its share of
/// each batch, gathers the embeddings of the others and differentiates the loss of the whole batch with respect to its own rows; the ranks'
/// gradients add up to those of one process.
class Trainer {
  public:
    Trainer(EmbeddingModel& model, const Stage& stage, std::size_t stage_index, const PairBatcher& batcher, Curriculum& curriculum,
            const Objective& objective, const TrainingSettings& settings, const EarlyStopping& early, ProcessGroup& group);
    ~Trainer();
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    /// Goes on from a checkpoint of this stage (the model's weights are read by the caller).
    void restore(const Checkpoint& checkpoint);
    /// On an accelerator a step's numbers are read, and its event comes, while the next step is under way: ahead of that one's update, and
    /// of anything that is made of the weights (an evaluation, a checkpoint, the end).
    TrainOutcome run(const TrainerEvents& events);
    std::int64_t total_steps() const { return total_steps_; }
    std::int64_t step() const { return step_; }
    /// The step whose weights were the best so far and are what the stage leaves; 0: they are not kept, or none was scored.
    std::int64_t kept_step() const { return best_.empty() ? 0 : best_step_; }
    /// One forward, backward and update, and their numbers (for benchmarks and tests).
    StepReport train_step();
    const GroupAdamW& optimizer() const { return *optimizer_; }
    /// What a checkpoint holds besides the model: this rank's moments, and on rank 0 the best weights so far where they are kept.
    std::vector<NamedTensor> optimizer_state() const;

  private:
    /// What the ranks agree on between two steps.
    struct Verdict {
        bool stop = false, save = false, better = false, gained = false, enough = false;
        double score = 0;
    };
    struct TakenStep;
    TrainOutcome run_steps(const TrainerEvents& events);
    void give_step(const std::function<void()>& before_update);
    void take_step(const std::function<void()>& before_update);
    bool reads_late() const;
    std::optional<StepReport> read_step();
    bool is_judged(const TrainerEvents& events) const;
    /// Whether its products are in bfloat16 by a copy of the encoder (Encoder::lowered): on accelerators.
    bool lowers_products() const;
    std::vector<Parameter> trained_of_encoder() const;
    std::vector<Parameter> trained() const;
    std::unique_ptr<TakenStep> taken(StepSums sums, const at::Tensor& norm) const;
    void add_share(const LossSums& share, const std::vector<double>& values, const StepSums& sums, StepReport& report) const;
    void check_finite(const StepReport& report, const TakenStep& taken, std::span<const double> norms) const;
    std::optional<std::string> damaged_weight() const;
    std::string where_not_finite(const TakenStep& taken, std::span<const double> norms) const;
    void keep_best();
    void take_best();
    BatchPlan next_plan();
    CheckpointState state() const;
    void save(const TrainerEvents& events) const;
    Verdict agree(const TrainerEvents& events);
    void judge(const TrainerEvents& events, Verdict& verdict) const;

    Encoder& encoder_;
    std::unique_ptr<Encoder> lowered_;  ///< of the encoder as it is in this step, where an accelerator multiplies in half precision
    std::size_t stage_index_;
    int adapter_;
    std::set<int> adapters_;
    double base_rate_;
    const PairBatcher& batcher_;
    Curriculum& curriculum_;
    const Objective& objective_;
    TrainingSettings settings_;
    EarlyStopping early_;
    ProcessGroup& group_;
    std::unique_ptr<GroupAdamW> optimizer_;
    StepTools tools_;
    std::unique_ptr<GradientWay> way_;
    std::unique_ptr<TakenStep> unread_;                  ///< the last step, where nobody has read its numbers yet
    std::chrono::steady_clock::time_point last_read_{};  ///< when the numbers of the step before had come
    std::int64_t step_ = 0, total_steps_ = 0, warmup_steps_ = 0;
    std::int64_t last_batches_ = 1;  ///< of the last step; those before it have as many as are accumulated
    double best_score_ = -1e300;
    double gained_score_ = -1e300;  ///< that the next must beat by min_delta
    std::int64_t best_step_ = 0;    ///< 0: none yet
    std::int64_t evaluations_without_gain_ = 0;
    std::vector<at::Tensor> best_;  ///< of the trained parameters, in their order; empty: none yet
};

}  // namespace faceter
