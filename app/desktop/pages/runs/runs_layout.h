#pragma once
#include <set>
#include <vector>

#include "pages/runs/runs_data.h"

namespace faceter::desktop {

/// What runs are put together by. `seeds`: everything equal but the seed (RunInfo::group()).
struct GroupBy {
    enum class Kind { none, seeds, experiment, variant, method, state, setting };
    Kind kind = Kind::none;
    std::string key;  ///< dotted, of setting
    bool operator==(const GroupBy&) const = default;
    QString id() const;                        ///< "seeds", "setting:training.learning_rate"
    static GroupBy fromId(const QString& id);  ///< none where unknown
    QString title() const;
};

struct SortBy {
    RunColumn column{RunColumn::Kind::created, {}};
    Qt::SortOrder order = Qt::DescendingOrder;
    bool operator==(const SortBy&) const = default;
};

/// What the table was asked to show.
struct LayoutOptions {
    std::string experiment;                   ///< empty: all
    const std::vector<bool>* kept = nullptr;  ///< a flag a row of the data (Filter::matches); null: all
    bool archived = false;                    ///< show what is archived too
    GroupBy group;
    SortBy sort;
    std::vector<RunColumn> columns;
    const std::set<std::uint64_t>* open = nullptr;  ///< identities of the groups that are open
};

/// Mean and standard deviation (n - 1) over the runs of a group that have a value.
struct Aggregate {
    double mean, spread;  ///< NaN: none
    int n = 0;
};
Aggregate aggregate(const std::vector<double>& values);

struct RunsGroup {
    QString label;
    std::uint64_t identity = 0;
    std::vector<int> rows;         ///< sorted as the table is
    std::vector<int> counted;      ///< of them, what cells are over: of seeds' groups a run a seed, as comparisons count them
    std::vector<Aggregate> cells;  ///< one a column of LayoutOptions::columns
    bool pinned = false, open = false;
};

/// One line of the table: a run (group -1: on its own), or a group (row -1). A line that is about to go has neither.
struct RunsLine {
    std::uint64_t identity = 0;
    int row = -1, group = -1;
    bool isGroup() const { return row < 0 && group >= 0; }
    bool isMember() const { return row >= 0 && group >= 0; }
};

/// Lines in their order. Groups of one run are shown as that run.
struct RunsLayout {
    std::vector<RunsGroup> groups;
    std::vector<RunsLine> lines;
    /// A column: identities of the lines that are marked, of those that are no members: the best of an experiment, of several lines that
    /// were measured on the same data sets.
    std::vector<std::set<std::uint64_t>> best;
    std::vector<bool> spreads;  ///< a column: some line shows a spread
    int numRuns = 0, numArchived = 0;
};
RunsLayout layOut(const RunsData& data, const LayoutOptions& options);

}  // namespace faceter::desktop
