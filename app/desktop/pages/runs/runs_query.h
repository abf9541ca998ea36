#pragma once
#include <memory>
#include <set>
#include <vector>

#include "pages/runs/runs_data.h"
#include "store/filter.h"

namespace faceter::desktop {

/// What is read for columns, and for what lines are sorted or put together by.
struct ColumnKeys {
    std::set<std::string> series{}, settings{};  ///< keys of RunColumn
    bool operator==(const ColumnKeys&) const = default;
};

struct RunsAnswer {
    RunsDataPtr data;
    ColumnKeys keys;  ///< what data has of them
    std::shared_ptr<const FilterNames> names;
    std::vector<bool> kept;  ///< a flag a row of the data; empty: all
};

/// On the store thread: what the page shows of a snapshot. What cannot have changed since `before` (scores, settings, hosts, names) is
/// taken over instead of read again, so that a run that goes on costs next to nothing.
RunsAnswer readRuns(Store& store, const RunsSnapshotPtr& snapshot, const RunsAnswer& before, const Filter& filter,
                    const ColumnKeys& keys = {});

}  // namespace faceter::desktop
