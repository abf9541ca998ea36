#pragma once
#include <vector>

#include "experiment/finding.h"
#include "record/run_directory.h"

namespace faceter {

/// Of a project: what killed processes left, locks of processes that are gone, a store that is damaged or behind, folders that are no runs,
/// runs that nobody works on any more. Mended are temporaries a day old, such locks, and the store, which holds nothing that the run
/// directories do not.
std::vector<DoctorFinding> find_in_project(const Project& project);
/// What killed processes left in the cache folder.
std::vector<DoctorFinding> find_in_cache();

}  // namespace faceter
