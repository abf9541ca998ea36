#pragma once
#include <span>
#include <vector>

#include "data/record.h"

namespace faceter {

/// The scores that a record gives its texts: the positives' first, then the negatives', as people or a teacher gave them. Empty: none.
///   scores     as many numbers as texts (a list, or one number)
///   score      the number of a pair without negatives (STS); beside other texts it is somebody else's and not read
/// In tables also score_1, score_2 ... beside negative_1, negative_2 ...: those with the `numbers` of the negatives (pair_texts.h). Throws
/// BadRecord: not as many numbers as texts, or one is no finite float32.
std::vector<float> scores_of_record(const Record& record, std::size_t num_positives, std::span<const std::size_t> numbers);

/// Those of one positive and of the first `num_negatives`, as TrainingBuilder::add takes them.
std::vector<float> scores_of_example(const std::vector<float>& scores, std::size_t positive, std::size_t num_positives,
                                     std::size_t num_negatives);

}  // namespace faceter
