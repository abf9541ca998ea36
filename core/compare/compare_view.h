#pragma once
#include "compare/significance.h"

namespace faceter {

/// Which of a group's seeds a table shows. Tests take all seeds whatever is shown.
enum class SeedValue { mean, best, last };
std::string_view seed_value_name(SeedValue value);

struct CompareChoice {
    CompareTest test = CompareTest::paired_sets;
    SeedValue value = SeedValue::mean;
    double tolerance = 0.1;  ///< points within which a data set without a test counts as a tie
    ResamplingOptions resampling{};
    Correction correction = Correction::holm;
};

/// One group on one row.
struct ComparedValue {
    double value = not_a_number, spread = not_a_number;  ///< spread over seeds where the mean over several is shown
    std::size_t seeds = 0;
    double delta = not_a_number;  ///< to the baseline
    TestOutcome outcome;
    bool best = false;
};

struct ComparedRow {
    enum class Kind { data_set, type_mean, mean_over_types, mean_over_sets, cost, column };
    Kind kind = Kind::data_set;
    std::string task_type;  ///< data_set, type_mean
    std::string name;       ///< data set; "over 3 data sets"; "active parameters"; "loss:best"
    std::string metric;     ///< or a cost's unit
    int decimals = 2;
    std::vector<ComparedValue> values;  ///< one for each group
    int direction = 1;                  ///< 1: the greater the better; -1: the less; 0: neither
};

/// A group against the baseline as a whole.
struct GroupGain {
    TestOutcome outcome;  ///< of the mean over data sets, adjusted over the groups; its difference and interval are the gain
    int wins = 0, ties = 0, losses = 0;
};

/// What a page or a report shows of a comparison: pure data, made by view_comparison.
struct ComparisonView {
    CompareChoice choice;
    std::optional<std::size_t> baseline;
    std::vector<ComparedRow> rows;
    std::vector<GroupGain> gains;  ///< one for each group; the baseline's is empty
    std::string test_sentence;     ///< the test in words, with what it is adjusted over
    std::string ties_rule;
    std::vector<std::string> reasons;  ///< why data sets have no test, each once; with the groups that lack it where others have it
};

/// `examples` may be empty for tests that need none. May take seconds with resampling tests; stops early where asked to.
ComparisonView view_comparison(const Comparison& comparison, const ExampleScores& examples, const CompareChoice& choice = {});
/// The group that holds a run; nothing where none does.
std::optional<std::size_t> group_of_run(const Comparison& comparison, std::string_view run);

}  // namespace faceter
