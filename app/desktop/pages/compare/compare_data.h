#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compare/compare_view_table.h"
#include "compare/settings_difference.h"
#include "figure/figure.h"
#include "store/filter.h"

namespace faceter::desktop {

/// What is asked for beside the scores.
struct CompareWish {
    std::vector<std::string> columns;  ///< further rows, by the names of filters: "loss:best"
    std::string sort;                  ///< of the groups, by such a name; empty: as they come
    bool descending = false;
    Filter filter;
};

/// What the store and the run directories say of the compared runs; read on the store thread, never changed afterwards.
struct CompareData {
    Comparison comparison;              ///< its baseline is set by whoever looks
    std::vector<Json> settings;         ///< one for each group (of its first run)
    std::vector<std::string> overlaps;  ///< "12 of 3,000 test texts of 'x' stand in the training set 'y' too ...", each once
    std::string ranks;                  ///< which rows cannot be told apart (RankIntervals::sentence); empty: there is nothing to say
    std::vector<std::string> notes;     ///< "MoTE, seed 1: what its user wrote"
    std::vector<std::string> series;    ///< what the groups' first runs have
    std::shared_ptr<const FilterNames> names;
};
/// What a wish names and no run has is left out and noted.
CompareData readCompareData(Store& store, const std::filesystem::path& project, const std::vector<std::string>& runs,
                            const CompareWish& wish = {});

/// The group that `run` is in, else the untrained start model's, else the first; nothing where there are fewer than two.
std::optional<std::size_t> chooseBaseline(const Comparison& comparison, const std::string& run);

/// Mean gain of each group over the baseline with its interval, a series a group; `colours`: the groups' places in the palette.
Figure gainFigure(const Comparison& comparison, const ComparisonView& view, const std::vector<int>& colours);
/// A point for each data set: the score in group `a` and in group `b`, on equal axes.
Figure scatterFigure(const Comparison& comparison, const ComparisonView& view, std::size_t a, std::size_t b);
/// The scores of each seed on one data set, a series a group.
Figure seedsFigure(const Comparison& comparison, const std::string& set, const std::vector<int>& colours);
/// Each example's difference to the baseline, a box a group. Without series where the data set has no scores of single examples.
Figure examplesFigure(const Comparison& comparison, const ExampleScores& examples, const std::string& set, const std::vector<int>& colours);

/// "+1.04 [0.54, 1.54]"; without an interval just the gain.
std::string gainText(const TestOutcome& outcome);

}  // namespace faceter::desktop
