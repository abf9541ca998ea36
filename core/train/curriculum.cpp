#include "train/curriculum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/hash.h"
#include "experiment/builtin_settings.h"
#include "train/other_data.h"

namespace faceter {
namespace {

/// An index drawn with probabilities proportional to `weights`.
std::size_t draw_by_weight(const std::vector<double>& weights, RandomStream& random) {
    double total = 0;
    for (const double w : weights) total += w;
    double at = random.uniform() * total;
    for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
        if (at < weights[i]) return i;
        at -= weights[i];
    }
    return weights.size() - 1;
}

/// A setting of one of core's own curricula.
double setting(const CurriculumContext& context, const char* curriculum, const char* key) {
    return json_at<double>(builtin_settings(ExtensionKind::curriculum, curriculum, context.settings), key, "curriculum");
}

/// Pairs that a batch from the pool has fewer than it should.
double shortage(const ExamplePool& pool, std::int64_t batch_size) {
    return static_cast<double>(std::max<std::int64_t>(0, batch_size - static_cast<std::int64_t>(pool.size())));
}

class TaskAware final : public Curriculum {
  public:
    explicit TaskAware(const CurriculumContext& context)
        : batch_size_(context.batch_size),
          size_exponent_(setting(context, "task_aware", "size_exponent")),
          tasks_random_(context.seed, "curriculum/task"),
          sets_random_(context.seed, "curriculum/set") {
        for (const Task& task : context.tasks) add_task(task, context);
        if (tasks_.empty()) throw data_error("no task of this stage has training examples; add data sets under tasks.*.train");
    }

    BatchPlan next() override {
        Entry& entry = tasks_[draw_by_weight(weights_, tasks_random_)];
        const std::size_t pool = entry.pools.size() > 1 ? draw_by_weight(sizes_of(entry), sets_random_) : 0;
        return {entry.pools[pool].draw(batch_size_), entry.name, entry.temperature};
    }

    std::int64_t num_examples() const override {
        std::size_t total = 0;
        for (const Entry& entry : tasks_)
            for (const ExamplePool& pool : entry.pools) total += pool.size();
        return static_cast<std::int64_t>(total);
    }

    double mean_shortage() const override {
        double all = 0, weights = 0;
        for (std::size_t t = 0; t < tasks_.size(); ++t) {
            const std::vector<double> sizes = sizes_of(tasks_[t]);
            double own = 0, total = 0;
            for (std::size_t p = 0; p < sizes.size(); ++p) {
                own += sizes[p] * shortage(tasks_[t].pools[p], batch_size_);
                total += sizes[p];
            }
            all += weights_[t] * own / total;
            weights += weights_[t];
        }
        return all / weights;
    }

    Json state() const override {
        Json pools = Json::array();
        for (const Entry& entry : tasks_)
            for (const ExamplePool& pool : entry.pools) pools.push_back(pool.state());
        return {{"tasks", tasks_random_.position()}, {"sets", sets_random_.position()}, {"pools", pools}};
    }

    void restore(const Json& state) override {
        tasks_random_.seek(json_at<std::uint64_t>(state, "tasks", "curriculum"));
        sets_random_.seek(json_at<std::uint64_t>(state, "sets", "curriculum"));
        const Json& pools = state.at("pools");
        std::size_t count = 0, i = 0;
        for (const Entry& entry : tasks_) count += entry.pools.size();
        if (pools.size() != count)  // each would go on at the place of another
            throw data_error("the checkpoint's curriculum draws from {} pools of examples, and there are {} now: {}", pools.size(), count,
                             other_data);
        for (Entry& entry : tasks_)
            for (ExamplePool& pool : entry.pools) pool.restore(pools[i++]);
    }

  private:
    struct Entry {
        std::string name;
        double temperature;
        std::vector<ExamplePool> pools;  // homogeneous: one a data set; heterogeneous: one in all
    };

    /// What a task's data sets are drawn by.
    std::vector<double> sizes_of(const Entry& entry) const {
        std::vector<double> sizes;
        for (const ExamplePool& pool : entry.pools) sizes.push_back(std::pow(static_cast<double>(pool.size()), size_exponent_));
        return sizes;
    }

    void add_task(const Task& task, const CurriculumContext& context) {
        Entry entry{task.name, task.temperature, {}};
        std::vector<ExampleReference> all;
        for (std::size_t s = 0; s < context.sets.size(); ++s) {
            if (context.sets[s]->task != task.name || context.sets[s]->examples.empty()) continue;
            auto examples = examples_of(context, s);
            if (examples.empty()) continue;
            if (task.homogeneous)
                entry.pools.emplace_back(fmt::format("{}/{}", task.name, context.sets[s]->name), std::move(examples), context.seed);
            else
                all.insert(all.end(), examples.begin(), examples.end());
        }
        if (!all.empty()) entry.pools.emplace_back(task.name, std::move(all), context.seed);
        if (entry.pools.empty() || task.weight <= 0) return;
        tasks_.push_back(std::move(entry));
        weights_.push_back(task.weight);
    }

    std::int64_t batch_size_;
    double size_exponent_;
    RandomStream tasks_random_, sets_random_;
    std::vector<Entry> tasks_;
    std::vector<double> weights_;
};

class Static final : public Curriculum {
  public:
    Static(const CurriculumContext& context, double temperature)
        : batch_size_(context.batch_size), temperature_(temperature), pool_("static", all_examples(context), context.seed) {
        if (pool_.size() == 0) throw data_error("no task of this stage has training examples; add data sets under tasks.*.train");
    }
    BatchPlan next() override { return {pool_.draw(batch_size_), "", temperature_}; }
    std::int64_t num_examples() const override { return static_cast<std::int64_t>(pool_.size()); }
    double mean_shortage() const override { return shortage(pool_, batch_size_); }
    Json state() const override { return {{"pools", Json::array({pool_.state()})}}; }
    void restore(const Json& state) override { pool_.restore(state.at("pools").at(0)); }

  private:
    static std::vector<ExampleReference> all_examples(const CurriculumContext& context) {
        std::vector<ExampleReference> all;
        for (std::size_t s = 0; s < context.sets.size(); ++s)
            for (const Task& task : context.tasks)
                if (context.sets[s]->task == task.name) {
                    const auto examples = examples_of(context, s);
                    all.insert(all.end(), examples.begin(), examples.end());
                }
        return all;
    }
    std::int64_t batch_size_;
    double temperature_;
    ExamplePool pool_;
};

}  // namespace

std::int64_t drawn_batches(const Curriculum& curriculum, std::int64_t epochs, std::int64_t batch_size) {
    const double pairs = static_cast<double>(batch_size) - curriculum.mean_shortage();
    const double batches = static_cast<double>(curriculum.num_examples() * epochs) / std::max(1.0, pairs);
    constexpr double rounding = 1e-9;  // of a mean over data sets
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(batches * (1 + rounding))));
}

std::vector<ExampleReference> examples_of(const CurriculumContext& context, std::size_t set) {
    std::vector<ExampleReference> all(context.sets[set]->examples.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {static_cast<std::uint32_t>(set), static_cast<std::uint32_t>(i)};
    const auto limit = context.max_examples.find(context.sets[set]->task);
    if (limit == context.max_examples.end()) return all;
    // The smallest hashes of all of the task's examples: a larger limit gives a superset, whatever set they lie in.
    const auto rank = [&](std::size_t s, std::uint64_t i) {
        return hash64({reinterpret_cast<const char*>(&i), sizeof i}, hash64(context.sets[s]->name, context.run_seed));
    };
    std::vector<std::uint64_t> ranks;
    for (std::size_t s = 0; s < context.sets.size(); ++s)
        for (std::size_t i = 0; context.sets[s]->task == context.sets[set]->task && i < context.sets[s]->examples.size(); ++i)
            ranks.push_back(rank(s, i));
    if (limit->second >= ranks.size()) return all;
    std::nth_element(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(limit->second), ranks.end());
    const std::uint64_t border = ranks[limit->second];
    std::erase_if(all, [&](const ExampleReference& e) { return rank(set, e.example) >= border; });
    return all;
}

ExamplePool::ExamplePool(std::string name, std::vector<ExampleReference> examples, std::uint64_t seed)
    : name_(std::move(name)), examples_(std::move(examples)), seed_(seed) {
    shuffle();
}

void ExamplePool::shuffle() {
    order_ = examples_;
    RandomStream(seed_, fmt::format("order/{}/{}", name_, epoch_)).shuffle(order_);
}

std::vector<ExampleReference> ExamplePool::draw(std::int64_t count) {
    const auto wanted = std::min<std::uint64_t>(static_cast<std::uint64_t>(count), order_.size());
    if (position_ + wanted > order_.size()) {
        ++epoch_;
        position_ = 0;
        shuffle();
    }
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(position_);
    position_ += wanted;
    return {begin, begin + static_cast<std::ptrdiff_t>(wanted)};
}

void ExamplePool::restore(const Json& state) {
    epoch_ = json_at<std::uint64_t>(state, "epoch", "curriculum");
    position_ = json_at<std::uint64_t>(state, "position", "curriculum");
    if (position_ > examples_.size())
        throw data_error("the checkpoint's curriculum is at example {} of '{}', which has {} now: {}", position_, name_, examples_.size(),
                         other_data);
    shuffle();
}

std::unique_ptr<Curriculum> make_task_aware_curriculum(const CurriculumContext& context) { return std::make_unique<TaskAware>(context); }

std::unique_ptr<Curriculum> make_static_curriculum(const CurriculumContext& context) {
    return std::make_unique<Static>(context, setting(context, "static", "temperature"));
}

}  // namespace faceter
