#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/evaluation_set.h"
#include "data/training_set.h"

namespace faceter {

/// Texts that stand in both a training set and a test set, compared by overlap_form().
struct Overlap {
    std::string training, evaluation;   ///< names of the two sets
    std::size_t shared_texts = 0;       ///< different texts in both
    std::size_t training_texts = 0;     ///< different texts of the training set
    std::size_t evaluation_texts = 0;   ///< different held-out texts of the evaluation set
    std::vector<std::string> examples;  ///< shared texts as the evaluation set has them, the first 20 in the order of bytes
};

/// Counts pairs of sets one by one, so that no two sets have to be in memory at a time: all training sets first.
class OverlapCounter {
  public:
    OverlapCounter();
    ~OverlapCounter();
    /// Called each few thousand texts; may throw, which leaves the counter as it was.
    using Tick = std::function<void()>;
    void add(const TrainingSet& set, const Tick& tick = {});
    /// One entry for each training set, also of those that share nothing.
    std::vector<Overlap> count(const EvaluationSet& set, const Tick& tick = {}) const;

  private:
    struct Training;
    std::vector<Training> training_;
};

/// One entry for each pair of sets that share a text, largest first.
std::vector<Overlap> count_overlap(std::span<const TrainingSet> training, std::span<const EvaluationSet> evaluation);
/// "120 of 3,000 test texts of 'sts12' stand in the training set 'stsbenchmark' too, for example '...'".
std::string describe_overlap(const Overlap& overlap);
/// Its members by name, and "example", the first one.
Json to_json(const Overlap& overlap);
/// The form that texts are compared in: lowercase, and of ASCII only letters and digits. Benchmarks hold the same sentences once as written
/// and once tokenised ("don't." and "do n't ."): with punctuation and blanks kept, most of stsbenchmark's copies in sts12 to sts16 go
/// unseen.
std::string overlap_form(std::string_view text);

}  // namespace faceter
