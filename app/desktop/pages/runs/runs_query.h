#pragma once
#include <memory>
#include <set>
#include <vector>

#include "pages/runs/runs_data.h"
#include "store/filter.h"

namespace faceter::desktop {

struct RunsAnswer {
    RunsDataPtr data;
    std::shared_ptr<const FilterNames> names;
    std::vector<bool> kept;  ///< a flag a row of the data; empty: all
};

/// On the store thread: what the page shows of a snapshot. What cannot have changed since `before` (scores, settings, hosts, names) is
/// taken over instead of read again, so that a run that goes on costs next to nothing. `series`: keys of the columns that show some.
RunsAnswer readRuns(Store& store, const RunsSnapshotPtr& snapshot, const RunsAnswer& before, const Filter& filter,
                    const std::set<std::string>& series = {});

}  // namespace faceter::desktop
