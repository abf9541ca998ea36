#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compare/significance.h"
#include "data/scored_texts.h"
#include "figure/table.h"

namespace faceter {

/// One query or text whose score two groups both have (percent, the mean over each group's seeds).
struct ExampleChange {
    std::string set;
    std::size_t example = 0;  ///< its place among the set's scores, from 0
    double before = 0, after = 0;
    double difference() const { return after - before; }
};

/// What one group gained and lost against another, example by example.
struct ExampleChanges {
    std::string before, after;           ///< the groups' names
    std::vector<ExampleChange> changes;  ///< the largest difference first; equal ones by data set and place
    std::vector<std::string> notes;      ///< why a data set has none, a sentence each
};
/// Of the sets that both groups have, or of `set` alone; examples whose score stayed the same are among them. `before`, `after`: places in
/// the comparison's groups.
ExampleChanges example_changes(const Comparison& comparison, const ExampleScores& scores, std::size_t before, std::size_t after,
                               const std::string& set = {});

/// The texts that a run's scores on a data set speak of, or why there are none.
struct ExampleTexts {
    std::vector<ScoredText> texts;
    std::string problem;
};
/// Reads the set as the run's settings name it.
ExampleTexts read_example_texts(const RunDirectory& run, const std::string& set);
/// The same of a set that was read already. One that has changed since the run was scored (its fingerprint is another) has a problem
/// instead of texts: they would stand beside the wrong scores.
ExampleTexts texts_of_scores(const EvaluationSet& set, const RunDirectory& run);

enum class ChangeDirection { any, gains, losses };
std::string_view change_direction_name(ChangeDirection direction);  ///< "any", "gains", "losses"
/// A usage error for any other word.
ChangeDirection parse_change_direction(std::string_view name);

struct ChangeFilter {
    ChangeDirection direction = ChangeDirection::any;
    double at_least = 1e-9;  ///< points of difference, either way
    std::string find{};      ///< in the text or in what was wanted; case of ASCII letters does not matter
};
bool passes(const ExampleChange& change, const ScoredText* text, const ChangeFilter& filter);

/// Data set, number of the example (from 1), both scores, the difference, the text and what was wanted: at most `most` rows (0: all) of
/// those that pass. Texts of a set that `texts` lacks stay empty.
Table example_changes_table(const ExampleChanges& changes, const std::map<std::string, ExampleTexts>& texts, const ChangeFilter& filter,
                            std::size_t most = 0);

}  // namespace faceter
