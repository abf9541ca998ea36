#include "data/training_set.h"

#include <cmath>

namespace faceter {

std::vector<float> scores_of(const TrainingSet& set, const Example& example) {
    std::vector<float> scores{example.score};
    for (std::uint32_t n = 0; n < example.num_negatives; ++n) scores.push_back(set.negative_score(example.first_negative + n));
    for (const float score : scores)
        if (std::isnan(score)) return {};
    return scores;
}

namespace {

/// Of a text among the negatives that the example has.
float score_of(const TrainingSet& set, const Example& example, std::uint32_t text) {
    for (std::uint32_t n = 0; n < example.num_negatives; ++n)
        if (set.negatives[example.first_negative + n] == text) return set.negative_score(example.first_negative + n);
    return Example::no_score;
}

}  // namespace

void replace_negatives(TrainingSet& set, const std::vector<std::vector<std::uint32_t>>& chosen) {
    std::vector<std::uint32_t> negatives;
    std::vector<float> scores;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        Example& example = set.examples[i];
        const auto first = static_cast<std::uint32_t>(negatives.size());
        for (const std::uint32_t text : chosen[i]) {
            negatives.push_back(text);
            if (!set.negative_scores.empty()) scores.push_back(score_of(set, example, text));
        }
        example.first_negative = first;
        example.num_negatives = static_cast<std::uint32_t>(chosen[i].size());
    }
    set.negatives = std::move(negatives);
    set.negative_scores = std::move(scores);
}

}  // namespace faceter
