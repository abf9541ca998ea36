#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tour.h"

namespace faceter::data_cube {

/// What is known of one example beside its difficulty.
enum Mark : std::uint8_t {
    drawn_negative = 1,       ///< no negative was given: another positive of the task stands in
    no_negative = 2,          ///< and there was none: phi is sim(q, s+) alone, and never masks
    not_finite = 4,           ///< an embedding under the teacher has NaN or infinite elements
    negative_is_positive = 8  ///< a given negative has the positive's text
};

/// One task (a leaf data set) as the plan sees it: ids and difficulties, no texts.
struct TaskDifficulty {
    std::string name;
    std::vector<float> phi;           ///< of each example: sim(q, s+) - sim(q, s-) (Data-CUBE, Eq. 8); large is easy
    std::vector<std::uint8_t> marks;  ///< Mark bits of each example
};

struct PlanSettings {
    enum class Tail { keep, merge, drop };
    enum class Noise { none, quantile, threshold };
    bool task_level = true, instance_level = true;
    std::int64_t batch_size = 32;
    Tail tail = Tail::keep;
    Noise noise = Noise::quantile;
    double noise_quantile = 0.05;  ///< share of each task's examples
    double noise_threshold = 0;    ///< delta
    bool printed = false;          ///< mask the easy ones, as Eq. 9 is printed
    /// Leave out the batches whose examples are all masked: a step on them moves weights by momentum and decay alone. False: plans that
    /// were stored before these were left out.
    bool drop_masked = true;
    std::uint64_t seed = 1;
};

/// Counts for the report.
struct TaskCounts {
    std::size_t examples = 0, batches = 0, short_batches = 0, merged = 0, dropped = 0, masked = 0, masked_batches = 0, not_finite = 0,
                drawn_negatives = 0, no_negative = 0, negative_is_positive = 0;
    double delta = 0;  ///< the threshold of the noise mask, or the difficulty at which its share of the examples ends; NaN: none
};

/// The order of all batches of an epoch (Data-CUBE, Algorithm 1, lines 13 to 25). Only ids: what an epoch of 1.4M examples needs is 7 MB.
class Plan {
  public:
    struct Batch {
        std::uint32_t task = 0;
        std::span<const std::uint32_t> examples;
    };

    /// `tour`: every task once. Errors (data): no example at all, or all are masked.
    Plan(std::vector<TaskDifficulty> tasks, Tour tour, const PlanSettings& settings);

    /// Arranges an epoch. With both levels on every epoch is alike; what a level leaves random is drawn anew from (seed, epoch).
    void begin_epoch(std::uint64_t epoch);
    std::size_t num_batches() const { return sequence_.size(); }
    std::size_t num_examples() const { return num_examples_; }
    Batch batch(std::size_t number) const;
    /// 0 where the noise mask takes the example's loss away.
    bool gives_loss(std::uint32_t task, std::uint32_t example) const { return keep_[task].empty() || keep_[task][example] != 0; }
    bool masks(std::uint32_t task) const { return !keep_[task].empty(); }
    const std::vector<TaskDifficulty>& tasks() const { return tasks_; }
    const Tour& tour() const { return tour_; }
    const std::vector<TaskCounts>& counts() const { return counts_; }
    /// Of the first epoch's batches, the order of tasks and the mask: equal on every rank and after a resume, else the run would not be the
    /// same.
    const std::string& hash() const { return hash_; }

  private:
    void mask_noise(std::size_t task);
    void cut(std::size_t task);
    void arrange_examples(std::size_t task, std::uint64_t epoch);
    void arrange_batches(std::uint64_t epoch);
    void shuffle_batches(std::uint64_t epoch);
    bool is_left_out(std::uint32_t task, std::uint32_t own) const;
    void count_left_out(std::uint32_t task);
    std::string compute_hash() const;

    std::vector<TaskDifficulty> tasks_;
    Tour tour_;
    PlanSettings settings_;
    std::vector<TaskCounts> counts_;
    std::vector<std::vector<std::uint32_t>> order_;                  // of each task: examples
    std::vector<std::vector<std::uint32_t>> cuts_;                   // of each task: where its batches begin, and the end
    std::vector<std::vector<std::uint8_t>> keep_;                    // of each task: 0/1 an example; empty: all give loss
    std::vector<std::pair<std::uint32_t, std::uint32_t>> sequence_;  // (task, its batch)
    std::size_t num_examples_ = 0;
    std::string hash_;
};

}  // namespace faceter::data_cube
