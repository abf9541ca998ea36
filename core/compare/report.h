#pragma once
#include <string>
#include <vector>

#include "compare/compare_view_table.h"
#include "compare/similarity.h"
#include "compare/summary.h"
#include "figure/figure.h"

namespace faceter {

/// What a report says of one run besides its scores.
struct ReportRun {
    RunInfo info;
    RunState state;
    std::string note;
    std::vector<std::string> tags;
    Json machine = Json::object();      ///< of its newest attempt
    std::vector<std::string> warnings;  ///< that it journaled
    std::vector<Figure> figures;        ///< that its analyses stored
    std::vector<Table> tables;
};

/// A data set that runs used: what its card says.
struct ReportData {
    std::string name, use, task;
    Json card;
};

/// Everything that a reader of a paper's supplement asks of some runs.
struct Report {
    std::string title, created;  ///< created: UTC
    std::string project;
    Comparison comparison;
    ComparisonView view;
    ComparisonSummary summary;  ///< what is said first
    std::vector<SimilarityComparison> similarity;
    std::vector<Figure> figures;  ///< made of all runs: scores, loss curves
    std::vector<ReportRun> runs;
    std::vector<ReportData> data;     ///< each once
    std::vector<std::string> broken;  ///< stored figures and tables that could not be read
};

/// `comparison` and `view` are of `rows`. Reads journals and what analyses stored.
Report gather_report(const Project& project, Store& store, const std::vector<RunRow>& rows, Comparison comparison, ComparisonView view,
                     std::string title);

/// One page that holds everything: no script, nothing from outside (its Content-Security-Policy forbids both), every text of runs and data
/// escaped. Figures are SVG images.
std::string report_to_html(const Report& report);
/// The tables of it (scores first, then tests, settings, machines, data) for other formats: a LaTeX document, Markdown, JSON, or CSV, which
/// holds one of them.
std::vector<Table> report_tables(const Report& report);

/// The groups against the baseline: gain, interval, p, adjusted p, effect size, n, wins, and what to mind.
Table significance_table(const Comparison& comparison, const ComparisonView& view);

}  // namespace faceter
