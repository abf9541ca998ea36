#pragma once
#include <string>
#include <vector>

#include "figure/table.h"
#include "record/run_directory.h"

namespace faceter {

class Store;

/// The whole difference between two runs.
struct RunDifference {
    enum class Part { settings, code, data, machine };
    struct Line {
        Part part = Part::settings;
        std::string key;  ///< settings: dotted; data: "training retrieval/pairs: examples"
        std::string before, after;
    };
    struct Score {
        std::string name, task_type, metric;
        double before = 0, after = 0;  ///< percent; NaN where the run has none
    };
    RunInfo before, after;
    std::vector<Line> lines;         ///< what differs, part by part
    std::vector<std::size_t> alike;  ///< by part: how many things are the same
    std::vector<Score> scores;       ///< of all data sets that either has
    std::vector<std::string> notes;  ///< what could not be compared, and what to mind: a sentence each
};
const char* difference_part_name(RunDifference::Part part);

/// Of two runs that the store has: settings as they were resolved; version, commit, libtorch and plugins of the programs that worked at
/// each run; the files and the content of its data sets; its machines; and its scores. What an older Faceter has not recorded is said.
RunDifference run_difference(Store& store, const RunDirectory& before, const RunDirectory& after);
/// part, what, before, after; scores are its last rows.
Table run_difference_table(const RunDifference& difference);
Json run_difference_to_json(const RunDifference& difference);
/// For a terminal of `width` cells.
std::vector<std::string> run_difference_lines(const RunDifference& difference, int width);

}  // namespace faceter
