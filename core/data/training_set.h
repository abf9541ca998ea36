#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/json.h"
#include "data/text_table.h"

namespace faceter {

/// One training example: ids of texts in the set's table. Its hard negatives are
/// negatives[first_negative .. first_negative + num_negatives) of the set.
struct Example {
    std::uint32_t anchor = 0, positive = 0;
    std::uint32_t first_negative = 0, num_negatives = 0;
    std::int32_t label = -1;  ///< class of a labelled example (for false-negative masks); -1: none
    float score = no_score;   ///< a teacher's, or people's, of the anchor and the positive

    static constexpr float no_score = std::numeric_limits<float>::quiet_NaN();
};

struct TrainingSet {
    std::string name;
    std::string task;  ///< the task that it was loaded for
    TextTable texts;   ///< equal texts have equal ids
    std::vector<Example> examples;
    std::vector<std::uint32_t> negatives;
    std::vector<float> negative_scores;     ///< of each of `negatives` with its anchor (Example::no_score: none); empty: none has any
    std::vector<std::string> label_names;   ///< by label; empty where examples have none
    std::vector<std::int32_t> text_labels;  ///< class of each text, below 0: none, or several (TrainingBuilder::label); empty: none has
    std::string fingerprint;                ///< hash of everything that training sees
    Json card;                              ///< counts, source, skipped records, warnings
    std::int32_t label_of(std::uint32_t text) const { return text < text_labels.size() ? text_labels[text] : -1; }
    float negative_score(std::size_t negative) const { return negative_scores.empty() ? Example::no_score : negative_scores[negative]; }
};

/// The positive's score, then those of the negatives; empty where one of them has none.
std::vector<float> scores_of(const TrainingSet& set, const Example& example);
/// Gives every example the negatives chosen[i] in place of its own. A text keeps the score that it had there; another has none.
void replace_negatives(TrainingSet& set, const std::vector<std::vector<std::uint32_t>>& chosen);

}  // namespace faceter
