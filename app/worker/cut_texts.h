#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/tasks.h"
#include "train/pair_batch.h"

namespace faceter::worker {

/// At most `most` of `all`, evenly spread.
template <typename T>
std::vector<T> evenly_spread(const std::vector<T>& all, std::size_t most) {
    if (all.size() <= most) return all;
    std::vector<T> some;
    for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
    return some;
}

/// A side's text of each example.
std::vector<std::string_view> texts_of(const TrainingSet& set, PairSide side);
/// How many of the texts have more than `limit` tokens behind the instruction: what is beyond is in no vector.
std::size_t count_cut(const EmbeddingModel& model, std::span<const std::string_view> texts, const std::string& instruction,
                      std::size_t limit);
/// What stands before most of the texts that a data set is scored by.
std::string instruction_of_most(const EvaluationSet& set, const EvaluationRoutes& routes);
/// What there is to say where more than a twentieth of (some of) the texts are cut, of "data set X: its texts"; else empty.
std::string cut_warning(const std::string& subject, const EmbeddingModel& model, const std::vector<std::string_view>& texts,
                        const std::string& instruction, std::size_t limit);
/// The same of the texts that a data set is scored by.
std::string cut_warning(const EmbeddingModel& model, const EvaluationSet& set, const EvaluationRoutes& routes);

}  // namespace faceter::worker
