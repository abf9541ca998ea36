#pragma once
#include "cli/commands.h"
#include "compare/compare_view.h"
#include "compare/similarity.h"
#include "store/store.h"

namespace faceter::cli {

/// Which runs, against which baseline, by which test: compare and report ask the same.
struct ComparisonOptions {
    std::string project, baseline, test = "paired-sets", correction = "holm", where;
    bool test_named = false;  ///< and not the usual one
    std::vector<std::string> run_names;
    ColumnOptions columns;  ///< beside scores and costs
};

/// RUN..., --project, --baseline, --test, --correction, --where. `what` is what happens to the runs, as "compare".
void add_comparison_options(CLI::App& command, ComparisonOptions& options, const std::string& what);

struct MadeComparison {
    std::vector<RunRow> rows;
    Comparison comparison;
    ComparisonView view;
};

/// Ingests, chooses the runs and tests them. Errors (usage): no run with results to `what`.
MadeComparison make_comparison(const Project& project, Store& store, const ComparisonOptions& options, const std::string& what);

/// Named runs, or all that are done; archived and smoke runs only where they are named (or nothing else is there), archived ones also where
/// they are asked for.
std::vector<RunRow> chosen_rows(Store& store, const Project& project, const std::vector<std::string>& names, bool archived_too = false);
/// Inter-task similarities of the trained rows, each against the rows above it (with many rows: against the first), as MoTE against IC and
/// EM: each text's mean over a row's seeds. Rows without a pair of tasks in common are not compared.
std::vector<SimilarityComparison> similarity_tests(const Project& project, const Comparison& comparison);

}  // namespace faceter::cli
