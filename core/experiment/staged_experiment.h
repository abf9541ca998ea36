#pragma once
#include <functional>
#include <string>
#include <vector>

#include "experiment/experiment.h"

/// An experiment as a folder that a machine without network can run: its runs with everything decided, start models, teachers and data, and
/// the hash of each file.
///   staged.json       who made it, and every other file with its size and SHA-256
///   experiment.yaml   as the user wrote it
///   runs.json         [{variant, method, plugin, point, seed, settings}]; what the settings read is named relative to the folder
///   models/N/NAME, data/N/NAME, tokens/
namespace faceter {

using StageProgress = std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>;

struct StageOptions {
    bool smoke = false;  ///< the runs are those of --smoke
    /// Is called with an empty folder for token caches, before anything is copied.
    std::function<void(const fs::path& folder)> add_tokens;
    StageProgress progress;
};

struct StageReport {
    std::size_t num_files = 0, num_token_caches = 0;
    std::uint64_t bytes = 0;
};

/// Writes `folder`, which appears whole or not at all. Errors: it is there already (usage), a model or data set that cannot be found, a
/// thing among the data that is no file (data).
StageReport stage_experiment(const Experiment& experiment, const Catalogue& catalogue, const fs::path& folder, const StageOptions& options);

struct StagedExperiment {
    fs::path folder;
    std::string name, text;  ///< of the experiment; as the user wrote it
    bool smoke = false;
    std::vector<ResolvedRun> runs;  ///< their paths lead into `folder`
    std::vector<fs::path> token_caches;
};

/// Errors (data): it is no such folder, another version of Faceter made it, a file is missing, is not what was staged, or was not staged;
/// (settings) a method that is not installed here.
StagedExperiment open_staged(const fs::path& folder, const Catalogue& catalogue, const StageProgress& progress = {});

}  // namespace faceter
