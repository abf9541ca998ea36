#include "plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/error.h"
#include "common/hash.h"
#include "common/random.h"

namespace faceter::data_cube {
namespace {

template <typename T>
std::string digest(const std::vector<T>& values) {
    return hash128({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}).hex();
}

/// Descending phi; equal ones in the file's order, those without a value at the end.
void sort_by_difficulty(std::vector<std::uint32_t>& order, const std::vector<float>& phi) {
    const auto key = [&](std::uint32_t i) { return std::isfinite(phi[i]) ? phi[i] : -std::numeric_limits<float>::infinity(); };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
}

/// Of the examples, those that a mask of so large a share takes: the most difficult, or as printed the easiest, and exactly as many. Of
/// equally difficult ones those are taken that stand nearer to that end of their task's order. `delta` becomes the difficulty that parts
/// them from the rest.
std::vector<std::uint32_t> noisy_share(std::vector<std::uint32_t> examples, const std::vector<float>& phi, double share, bool printed,
                                       double& delta) {
    constexpr double rounding = 1e-9;  // 0.29 x 100 is a little below 29
    const auto count = static_cast<std::size_t>(std::floor(share * static_cast<double>(examples.size()) + rounding));
    if (count == 0 || count >= examples.size()) return {};
    sort_by_difficulty(examples, phi);
    const auto end = static_cast<std::ptrdiff_t>(printed ? count : examples.size() - count);
    delta = phi[examples[static_cast<std::size_t>(end) - 1]];
    return printed ? std::vector(examples.begin(), examples.begin() + end) : std::vector(examples.begin() + end, examples.end());
}

}  // namespace

Plan::Plan(std::vector<TaskDifficulty> tasks, Tour tour, const PlanSettings& settings)
    : tasks_(std::move(tasks)),
      tour_(std::move(tour)),
      settings_(settings),
      counts_(tasks_.size()),
      order_(tasks_.size()),
      cuts_(tasks_.size()),
      keep_(tasks_.size()) {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
        mask_noise(t);
        cut(t);
        num_examples_ += cuts_[t].back();
    }
    if (num_examples_ == 0) throw data_error("data_cube: no task of this stage has training examples; add data sets under tasks.*.train");
    begin_epoch(0);
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) count_left_out(t);
    if (num_examples_ == 0)
        throw data_error(
            "data_cube: the noise mask takes every example of this stage, and there is nothing to learn from; name another "
            "noise_threshold, "
            "or noise_mask: none");
    hash_ = compute_hash();
}

/// The text of section 4.3.2: instances that are too difficult (phi < delta) give no loss. Eq. 9 as printed masks phi >= delta.
void Plan::mask_noise(std::size_t t) {
    const TaskDifficulty& task = tasks_[t];
    TaskCounts& counts = counts_[t];
    counts.examples = task.phi.size();
    std::vector<std::uint32_t> judged, noisy;
    for (std::uint32_t i = 0; i < task.phi.size(); ++i) {
        const std::uint8_t marks = task.marks[i];
        counts.drawn_negatives += (marks & drawn_negative) != 0;
        counts.no_negative += (marks & no_negative) != 0;
        counts.not_finite += (marks & not_finite) != 0;
        counts.negative_is_positive += (marks & negative_is_positive) != 0;
        if (!(marks & (no_negative | not_finite))) judged.push_back(i);
    }
    counts.delta = std::numeric_limits<double>::quiet_NaN();
    if (settings_.instance_level && settings_.noise == PlanSettings::Noise::threshold) {
        counts.delta = settings_.noise_threshold;
        for (const std::uint32_t i : judged)
            if (settings_.printed ? task.phi[i] >= counts.delta : task.phi[i] < counts.delta) noisy.push_back(i);
    }
    if (settings_.instance_level && settings_.noise == PlanSettings::Noise::quantile)
        noisy = noisy_share(std::move(judged), task.phi, settings_.noise_quantile, settings_.printed, counts.delta);
    counts.masked = noisy.size() + counts.not_finite;
    if (counts.masked == 0) return;
    keep_[t].assign(task.phi.size(), 1);
    for (std::size_t i = 0; i < task.phi.size(); ++i)
        if (task.marks[i] & not_finite) keep_[t][i] = 0;
    for (const std::uint32_t i : noisy) keep_[t][i] = 0;
}

void Plan::cut(std::size_t t) {
    const auto size = static_cast<std::uint32_t>(settings_.batch_size), examples = static_cast<std::uint32_t>(tasks_[t].phi.size());
    std::vector<std::uint32_t>& cuts = cuts_[t];
    for (std::uint32_t begin = 0; begin < examples; begin += size) cuts.push_back(begin);
    cuts.push_back(examples);
    TaskCounts& counts = counts_[t];
    const std::uint32_t tail = examples % size;
    if (tail != 0) {
        // A task's only batch stays as it is: there is none to merge it with, and dropping it would drop the task.
        if (examples > size && settings_.tail == PlanSettings::Tail::merge) {
            cuts.erase(cuts.end() - 2);
            counts.merged = 1;
        } else if (examples > size && settings_.tail == PlanSettings::Tail::drop) {
            cuts.pop_back();
            counts.dropped = tail;
        } else {
            counts.short_batches = 1;
        }
    }
    counts.batches = cuts.size() - 1;
}

void Plan::arrange_examples(std::size_t t, std::uint64_t epoch) {
    std::vector<std::uint32_t>& order = order_[t];
    order.resize(tasks_[t].phi.size());
    std::iota(order.begin(), order.end(), 0U);
    if (settings_.instance_level)
        sort_by_difficulty(order, tasks_[t].phi);
    else
        RandomStream(settings_.seed, fmt::format("data_cube/examples/{}/{}", t, epoch)).shuffle(order);
}

/// Along the tour again and again, each visit taking the next batch of that task, until all are used. (Algorithm 1 as printed stops after
/// one pass.)
void Plan::arrange_batches(std::uint64_t epoch) {
    sequence_.clear();
    for (std::uint32_t round = 0, used = 1; used > 0; ++round) {
        used = 0;
        for (const std::uint32_t task : tour_)
            if (round + 1 < cuts_[task].size()) sequence_.emplace_back(task, round), ++used;
    }
    if (!settings_.task_level) shuffle_batches(epoch);
    std::erase_if(sequence_, [this](const auto& batch) { return is_left_out(batch.first, batch.second); });
}

/// Tasks in random order, each task's own batches still one after the other.
void Plan::shuffle_batches(std::uint64_t epoch) {
    RandomStream(settings_.seed, fmt::format("data_cube/batches/{}", epoch)).shuffle(sequence_);
    std::vector<std::uint32_t> next(tasks_.size(), 0);
    for (auto& [task, number] : sequence_) number = next[task]++;
}

/// Where the order of a task's examples is the same every epoch, so are they.
bool Plan::is_left_out(std::uint32_t task, std::uint32_t own) const {
    if (!settings_.drop_masked || !settings_.instance_level || keep_[task].empty()) return false;
    const auto begin = order_[task].begin();
    return std::none_of(begin + cuts_[task][own], begin + cuts_[task][own + 1],
                        [&](std::uint32_t example) { return gives_loss(task, example); });
}

void Plan::count_left_out(std::uint32_t task) {
    TaskCounts& counts = counts_[task];
    const auto batches = static_cast<std::uint32_t>(counts.batches);
    for (std::uint32_t own = 0; own < batches; ++own) {
        if (!is_left_out(task, own)) continue;
        ++counts.masked_batches, --counts.batches;
        num_examples_ -= cuts_[task][own + 1] - cuts_[task][own];
        if (own + 1 == batches) counts.short_batches = 0;
    }
}

void Plan::begin_epoch(std::uint64_t epoch) {
    for (std::size_t t = 0; t < tasks_.size(); ++t)
        if (epoch == 0 || !settings_.instance_level || order_[t].empty()) arrange_examples(t, epoch);
    arrange_batches(epoch);
}

Plan::Batch Plan::batch(std::size_t number) const {
    const auto [task, own] = sequence_[number];
    const std::uint32_t begin = cuts_[task][own], end = cuts_[task][own + 1];
    return {task, {order_[task].data() + begin, end - begin}};
}

std::string Plan::compute_hash() const {
    std::string all = digest(tour_);
    for (std::size_t t = 0; t < tasks_.size(); ++t) all += tasks_[t].name + digest(order_[t]) + digest(cuts_[t]) + digest(keep_[t]);
    return hash128(all + digest(sequence_)).hex();
}

}  // namespace faceter::data_cube
