#pragma once
#include "cli/commands.h"
#include "experiment/experiment.h"
#include "experiment/staged_experiment.h"

namespace faceter::cli {

/// An experiment file, and what is changed in it on the command line.
struct ExperimentArguments {
    std::string file;
    std::vector<std::string> overrides;
    std::vector<std::uint64_t> seeds;
    bool smoke = false;
};
void add_experiment_arguments(Cli& cli, CLI::App& command, ExperimentArguments& arguments);
Experiment load_experiment(const Catalogue& catalogue, const ExperimentArguments& arguments);

/// check_before_start, whose remarks are printed as warnings.
void check_everything(const Experiment& experiment, const Catalogue& catalogue, int processes);
/// Prints data sets of the experiment's suite that are not here, and that it is to go on without.
void print_missing(const Experiment& experiment);

/// A staged folder, looked through with progress, whose token caches are put where runs look for them. Errors: those of open_staged, and of
/// check_processes.
StagedExperiment open_staged_here(const std::string& folder, const Catalogue& catalogue, int processes);

}  // namespace faceter::cli
