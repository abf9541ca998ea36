#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "eval/feature_matrix.h"

namespace faceter {

/// The labels of one text: numbers from 0, ascending, each once.
using LabelSet = std::vector<std::int32_t>;

/// MTEB's draws of training texts (AbsTaskMultilabelClassification): the texts are shuffled, and one is taken where any of its labels has
/// been taken less than `examples_per_label` times. Of numpy's RandomState(42), each draw from the original order.
std::vector<std::vector<std::size_t>> draw_multilabel_training(std::span<const LabelSet> labels, int examples_per_label, int num_draws);

/// A label is predicted where more than half of the `k` nearest training texts have it (Euclidean; of equal distances the earlier one;
/// scikit-learn's KNeighborsClassifier on a label matrix). A data error for fewer than k training rows.
std::vector<LabelSet> nearest_neighbour_labels(const FeatureMatrix& train, std::span<const LabelSet> labels, const FeatureMatrix& test,
                                               int k = 5);

// The measures compare parallel sequences (a usage error else) and give NaN for none. Labels outside 0 ... num_labels - 1 take no part.

struct MultilabelScores {
    double accuracy = 0;  ///< share of texts whose labels are exactly the predicted ones
    double macro_f1 = 0;  ///< mean over labels; a label that is neither true nor predicted anywhere has 0
    double lrap =
        0;  ///< label ranking average precision of predictions as scores 0 and 1 (scikit-learn's label_ranking_average_precision_score)
};
MultilabelScores multilabel_scores(std::span<const LabelSet> truth, std::span<const LabelSet> predicted, std::int32_t num_labels);

}  // namespace faceter
