#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "figure/table.h"
#include "stats/alternative.h"
#include "store/store.h"

namespace faceter {

/// The seeds of one configuration, seen as one row of a comparison.
struct RunGroup {
    std::string name;  ///< variant, with the sweep point and the experiment where they are needed to tell rows apart
    std::string method;
    std::vector<RunRow> runs;
    std::map<std::string, std::vector<double>> scores;            ///< data set -> a score of each run that has it (percent)
    std::map<std::string, std::vector<std::size_t>> scored_runs;  ///< data set -> place in `runs` of each of these scores
    std::vector<ModelCost> costs;
    std::map<std::string, std::vector<double>> numbers;  ///< further column -> value of each run; NaN: none
};

struct ComparedSet {
    std::string name, task_type, metric;
};

struct Comparison {
    std::vector<ComparedSet> sets;
    std::vector<RunGroup> groups;
    std::vector<Column> columns;          ///< beside scores and costs (compare_columns.h)
    std::optional<std::size_t> baseline;  ///< index into groups
    std::vector<std::string> notes;       ///< runs that are not over, data sets that some runs lack
};

/// Groups `runs` over seeds. `baseline`: run id of the row that the others are compared with; empty: the start model where it is among
/// them, else the first.
Comparison compare_runs(Store& store, const std::vector<RunRow>& runs, const std::string& baseline);

/// Rows: groups. Columns: data sets' main metrics, mean over data sets, mean over task types, parameters, multiply-adds, memory. The
/// latency of encoding stands in comparison_json alone: it is measured once a run, beside whatever else the machine does then.
/// Stars: paired t-test over data sets against the baseline (Holm-corrected over the rows), named in a footnote.
Table comparison_table(const Comparison& comparison);
/// Everything with full precision, for scripts: {"runs": [...], "datasets": [...], "baseline", "tests": [...]}.
Json comparison_json(const Comparison& comparison);

}  // namespace faceter
