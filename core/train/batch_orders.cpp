#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "train/curriculum.h"
#include "train/other_data.h"

namespace faceter {
namespace {

/// How many batches a data set has left, and examples in them.
struct Left {
    std::uint32_t batches = 0;
    std::size_t examples = 0;
};
/// A data set and which of its batches.
struct Turn {
    std::uint32_t set = 0, batch = 0;
};
/// The order of an epoch's batches.
using Order = std::vector<Turn> (*)(const std::vector<Left>& sets, std::int64_t batch_size, RandomStream& random);

std::vector<Turn> shuffled(const std::vector<Left>& sets, std::int64_t, RandomStream& random) {
    std::vector<Turn> turns;
    for (std::uint32_t s = 0; s < sets.size(); ++s)
        for (std::uint32_t b = 0; b < sets[s].batches; ++b) turns.push_back({s, b});
    random.shuffle(turns);
    return turns;
}

/// The data set that the `number`th of all examples left belongs to.
std::uint32_t owner_of(std::uint64_t number, const std::vector<Left>& sets) {
    std::uint32_t s = 0;
    for (; number >= sets[s].examples; ++s) number -= sets[s].examples;
    return s;
}

std::vector<Turn> proportional(const std::vector<Left>& sets, std::int64_t batch_size, RandomStream& random) {
    std::vector<Left> left = sets;
    std::vector<std::uint32_t> next(sets.size(), 0);
    std::vector<Turn> turns;
    std::size_t examples = 0;
    for (const Left& set : sets) examples += set.examples;
    while (examples > 0) {
        const std::uint32_t s = owner_of(random.below(examples), left);
        const std::size_t taken = std::min(left[s].examples, static_cast<std::size_t>(batch_size));
        turns.push_back({s, next[s]++});
        left[s].examples -= taken;
        examples -= taken;
    }
    return turns;
}

std::vector<Turn> round_robin(const std::vector<Left>& sets, std::int64_t, RandomStream&) {
    std::uint32_t rounds = sets.front().batches;
    for (const Left& set : sets) rounds = std::min(rounds, set.batches);
    std::vector<Turn> turns;
    for (std::uint32_t round = 0; round < rounds; ++round)
        for (std::uint32_t s = 0; s < sets.size(); ++s) turns.push_back({s, round});
    return turns;
}

/// Homogeneous batches in an order that is made for each epoch from (seed, epoch): its state is a place.
class BatchOrder final : public Curriculum {
  public:
    BatchOrder(const CurriculumContext& context, const char* name, Order order)
        : batch_size_(context.batch_size), seed_(context.seed), name_(name), order_(order) {
        for (const Task& task : context.tasks)
            for (std::size_t s = 0; s < context.sets.size(); ++s)
                if (context.sets[s]->task == task.name) add_set(context, s, task);
        if (sets_.empty()) throw data_error("no task of this stage has training examples; add data sets under tasks.*.train");
        begin_epoch(0);
    }

    BatchPlan next() override {
        if (position_ == turns_.size()) begin_epoch(epoch_ + 1);
        const Turn turn = turns_[position_++];
        const Set& set = sets_[turn.set];
        const auto begin = set.order.begin() + static_cast<std::ptrdiff_t>(turn.batch) * batch_size_;
        const std::int64_t count = std::min<std::int64_t>(batch_size_, set.order.end() - begin);
        return {{begin, begin + count}, set.task, set.temperature};
    }

    std::int64_t num_examples() const override {
        std::int64_t total = 0;
        for (const Turn& turn : turns_)
            total +=
                std::min<std::int64_t>(batch_size_, static_cast<std::int64_t>(sets_[turn.set].order.size()) - turn.batch * batch_size_);
        return total;
    }
    std::int64_t num_batches() const override { return static_cast<std::int64_t>(turns_.size()); }
    Json state() const override { return {{"epoch", epoch_}, {"batch", position_}}; }

    void restore(const Json& state) override {
        begin_epoch(json_at<std::uint64_t>(state, "epoch", "curriculum"));
        position_ = json_at<std::size_t>(state, "batch", "curriculum");
        if (position_ > turns_.size())
            throw data_error("the checkpoint's curriculum is at batch {} of an epoch that has {} now: {}", position_, turns_.size(),
                             other_data);
    }

  private:
    struct Set {
        std::string task, name;
        double temperature;
        std::vector<ExampleReference> examples, order;
    };

    void add_set(const CurriculumContext& context, std::size_t s, const Task& task) {
        std::vector<ExampleReference> examples = examples_of(context, s);
        if (!examples.empty()) sets_.push_back({task.name, context.sets[s]->name, task.temperature, std::move(examples), {}});
    }

    void begin_epoch(std::uint64_t epoch) {
        epoch_ = epoch;
        position_ = 0;
        std::vector<Left> left;
        for (Set& set : sets_) {
            set.order = set.examples;
            RandomStream(seed_, fmt::format("order/{}/{}/{}", set.task, set.name, epoch)).shuffle(set.order);
            const auto batches = (static_cast<std::int64_t>(set.order.size()) + batch_size_ - 1) / batch_size_;
            left.push_back({static_cast<std::uint32_t>(batches), set.order.size()});
        }
        RandomStream random(seed_, fmt::format("{}/{}", name_, epoch));
        turns_ = order_(left, batch_size_, random);
    }

    std::int64_t batch_size_;
    std::uint64_t seed_, epoch_ = 0;
    std::string name_;
    Order order_;
    std::vector<Set> sets_;
    std::vector<Turn> turns_;
    std::size_t position_ = 0;
};

}  // namespace

std::unique_ptr<Curriculum> make_shuffled_curriculum(const CurriculumContext& context) {
    return std::make_unique<BatchOrder>(context, "shuffled", shuffled);
}
std::unique_ptr<Curriculum> make_proportional_curriculum(const CurriculumContext& context) {
    return std::make_unique<BatchOrder>(context, "proportional", proportional);
}
std::unique_ptr<Curriculum> make_round_robin_curriculum(const CurriculumContext& context) {
    return std::make_unique<BatchOrder>(context, "round robin", round_robin);
}

}  // namespace faceter
