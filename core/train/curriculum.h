#pragma once
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"
#include "common/random.h"
#include "data/training_set.h"
#include "model/task.h"

namespace faceter {

class ProcessGroup;

/// One example of one training set.
struct ExampleReference {
    std::uint32_t set = 0, example = 0;
};

/// What one step trains on: decided before anything is computed, the same on every rank.
struct BatchPlan {
    std::vector<ExampleReference> items;
    std::string task;  ///< the batch's task; empty for a mixture of several
    double temperature = 0.05;
    std::vector<std::int64_t> keep{};  ///< 0/1 an item: those with 0 give no loss but stay negatives of the others; empty: all give loss
};

struct CurriculumContext {
    std::vector<Task> tasks;               ///< those of the stage
    std::vector<const TrainingSet*> sets;  ///< all of the run; a set's task is its `task`
    std::int64_t batch_size = 32;
    std::uint64_t seed = 1;      ///< of the stage: the order of its batches
    std::uint64_t run_seed = 1;  ///< of the run: which examples max_examples leaves, so that a larger budget of another stage has them too
    Json settings = Json::object();
    Json run = Json::object();       ///< the run's resolved settings: for a curriculum that asks a model before training begins
    fs::path folder{};               ///< where a plan is kept (the run's curriculum/); empty: nowhere
    std::string stage = "train";     ///< plans of different stages are different files
    ProcessGroup* group = nullptr;   ///< all ranks must follow one plan; null: one process
    c10::Device device = c10::kCPU;  ///< where a curriculum embeds what it asks a model
    std::function<void(const std::string&)> warn{};
    std::map<std::string, std::size_t> max_examples{};  ///< of a task, over its sets, chosen by hash; a task that is not named: all
};

/// The order of batches. Its position is a few counters: a resumed run goes on with the same batches without walking through those before.
class Curriculum {
  public:
    virtual ~Curriculum() = default;
    virtual BatchPlan next() = 0;
    /// Examples of one epoch.
    virtual std::int64_t num_examples() const = 0;
    /// Batches of one epoch where the curriculum plans them (short ones count, too); 0: they are drawn.
    virtual std::int64_t num_batches() const { return 0; }
    /// Of batches that are drawn: pairs that one lacks of the batch size on average, where a data set has fewer.
    virtual double mean_shortage() const { return 0; }
    virtual Json state() const = 0;
    virtual void restore(const Json& state) = 0;
};

/// Batches of so many epochs of a curriculum that draws them: as many as use the examples so often on average; one at least.
std::int64_t drawn_batches(const Curriculum& curriculum, std::int64_t epochs, std::int64_t batch_size);

/// Examples drawn without repetition, a new order every epoch. A draw that does not fit into what is left of an epoch starts the next, so
/// that batches are always full; a pool smaller than a batch gives all it has.
class ExamplePool {
  public:
    ExamplePool(std::string name, std::vector<ExampleReference> examples, std::uint64_t seed);
    std::vector<ExampleReference> draw(std::int64_t count);
    std::size_t size() const { return examples_.size(); }
    Json state() const { return {{"epoch", epoch_}, {"position", position_}}; }
    void restore(const Json& state);

  private:
    void shuffle();
    std::string name_;
    std::vector<ExampleReference> examples_, order_;
    std::uint64_t seed_, epoch_ = 0, position_ = 0;
};

/// The examples of set `set` that the stage uses: all, or its part of what max_examples leaves of its task.
std::vector<ExampleReference> examples_of(const CurriculumContext& context, std::size_t set);

/// TA-CL (MoTE, section 4.2): each batch draws one task by weight, then is built by the task's strategy, homogeneous (examples of one data
/// set, drawn by size) or heterogeneous (of all of the task's data sets), with the task's temperature.
std::unique_ptr<Curriculum> make_task_aware_curriculum(const CurriculumContext& context);
/// The plain orders (methods.md, section 9), each over homogeneous batches of the stage's data sets with their tasks' temperatures; tasks'
/// weights and batching do not count. Every epoch is drawn anew.
/// Shuffled: every data set is cut into batches, then all batches are permuted.
std::unique_ptr<Curriculum> make_shuffled_curriculum(const CurriculumContext& context);
/// Proportional: each batch is of a data set drawn by the examples that it has left, until none has any.
std::unique_ptr<Curriculum> make_proportional_curriculum(const CurriculumContext& context);
/// Round robin: the data sets in turn until the smallest is empty; an epoch leaves the rest of the larger ones out.
std::unique_ptr<Curriculum> make_round_robin_curriculum(const CurriculumContext& context);
/// Static training, the ablation of TA-CL: heterogeneous batches over all tasks, one temperature everywhere.
std::unique_ptr<Curriculum> make_static_curriculum(const CurriculumContext& context);

}  // namespace faceter
