#include "project/runs_snapshot.h"

#include <algorithm>
#include <unordered_set>

#include "common/stable_order.h"

namespace faceter::desktop {

RunsSnapshotPtr withChanges(const RunsSnapshot& before, RunChanges changes) {
    std::unordered_set<std::string> replaced(changes.removed.begin(), changes.removed.end());
    for (const RunRow& run : changes.changed) replaced.insert(run.info.id);
    auto now = std::make_shared<RunsSnapshot>();
    now->runs.reserve(before.runs.size() + changes.changed.size());
    auto change = changes.changed.begin();  // both are by creation
    for (const RunRow& run : before.runs) {
        if (replaced.contains(run.info.id)) continue;
        while (change != changes.changed.end() && is_older(change->info, run.info)) now->runs.push_back(std::move(*change++));
        now->runs.push_back(run);
    }
    std::move(change, changes.changed.end(), std::back_inserter(now->runs));
    now->places.reserve(now->runs.size());
    for (std::size_t i = 0; i < now->runs.size(); ++i) now->places.emplace(now->runs[i].info.id, i);
    return now;
}

}  // namespace faceter::desktop
