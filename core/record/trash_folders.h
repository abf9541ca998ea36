#pragma once
#include <vector>

#include "record/run_directory.h"

namespace faceter {

/// Where deleted runs lie: PROJECT/trash, and PROJECT/runs/.trash where the runs are on a disk of their own (a mount, a link), from which
/// none can be renamed to the first.
std::vector<fs::path> trash_folders(const fs::path& project);

/// The trashed run's folder; empty: it is in no trash.
fs::path find_in_trash(const Project& project, const std::string& id);

/// Folders of runs whose removal was cut short.
std::vector<fs::path> unfinished_removals(const Project& project);

}  // namespace faceter
