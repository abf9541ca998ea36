#pragma once
#include <string>
#include <vector>

#include "record/run_directory.h"

namespace faceter {

/// Something in a project that no run, job or queue speaks of.
struct Leftover {
    fs::path path;
    std::string what;        ///< what it was to become, or what is wrong with it
    bool removable = false;  ///< a temporary of work that is over for sure: written by nothing that lives, a day old, the copy of nothing
};

/// Temporaries that killed processes left (runs that were being made, models, checkpoints and files that were being written, removals that
/// were cut short, submissions without a job), and folders in runs/ that are no runs. Runs that are running are not looked into.
std::vector<Leftover> find_leftovers(const Project& project);
/// The same of the cache folder.
std::vector<Leftover> find_cache_leftovers();

}  // namespace faceter
