#pragma once
#include <QtCore/qmetatype.h>
#include <QString>
#include <memory>
#include <unordered_map>
#include <vector>

#include "store/store.h"

namespace faceter::desktop {

inline QString qs(const std::string& text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }
inline QString qs(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

/// All runs of a project as they were at one moment: never changed, shared between threads.
struct RunsSnapshot {
    std::vector<RunRow> runs;  ///< oldest first
    /// Place of a run in `runs`; -1 where there is none.
    int find(const std::string& id) const {
        const auto found = places.find(id);
        return found == places.end() ? -1 : static_cast<int>(found->second);
    }
    std::unordered_map<std::string, std::size_t> places;
};
using RunsSnapshotPtr = std::shared_ptr<const RunsSnapshot>;

/// What the runs are after these changes.
RunsSnapshotPtr withChanges(const RunsSnapshot& before, RunChanges changes);

}  // namespace faceter::desktop
