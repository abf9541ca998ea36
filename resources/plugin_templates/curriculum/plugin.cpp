#include "common/error.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

namespace faceter {
namespace {

/// The order of batches: next() decides what a step trains on, the same on every process. All that it remembers is in state(), so that a
/// run that is stopped goes on with the batches that it would have had.
class @CLASS@ final : public Curriculum {
  public:
    explicit @CLASS@(const CurriculumContext& context)
        : batch_size_(context.batch_size), repeats_(json_at<std::uint64_t>(context.settings, "repeats", "curriculum")) {
        for (const Task& task : context.tasks)
            for (std::size_t s = 0; s < context.sets.size(); ++s)
                if (context.sets[s]->task == task.name) add_set(context, s, task);
        if (sets_.empty()) throw data_error("no task of this stage has training examples; add data sets under tasks.*.train");
    }

    BatchPlan next() override {
        Set& set = sets_[batch_++ / repeats_ % sets_.size()];
        return {set.pool.draw(batch_size_), set.task, set.temperature};
    }
    std::int64_t num_examples() const override { return num_examples_; }

    Json state() const override {
        Json pools = Json::array();
        for (const Set& set : sets_) pools.push_back(set.pool.state());
        return {{"batch", batch_}, {"pools", pools}};
    }
    void restore(const Json& state) override {
        batch_ = json_at<std::uint64_t>(state, "batch", "curriculum");
        for (std::size_t i = 0; i < sets_.size(); ++i) sets_[i].pool.restore(state.at("pools").at(i));
    }

  private:
    struct Set {
        std::string task;
        double temperature;
        ExamplePool pool;  ///< draws without repetition, a new order every epoch
    };

    void add_set(const CurriculumContext& context, std::size_t s, const Task& task) {
        std::vector<ExampleReference> examples = examples_of(context, s);
        if (examples.empty()) return;
        num_examples_ += static_cast<std::int64_t>(examples.size());
        sets_.push_back({task.name, task.temperature, ExamplePool("@NAME@/" + context.sets[s]->name, std::move(examples), context.seed)});
    }

    std::int64_t batch_size_, num_examples_ = 0;
    std::uint64_t repeats_, batch_ = 0;
    std::vector<Set> sets_;
};

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("@NAME@", [](faceter::Registry& registry) {
    registry.add_curriculum(
        "@NAME@", [](const faceter::CurriculumContext& context) { return std::make_unique<faceter::@CLASS@>(context); });
})
