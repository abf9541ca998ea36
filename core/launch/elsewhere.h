#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiment/chosen_runs.h"
#include "experiment/staged_experiment.h"
#include "launch/profile.h"
#include "record/run_directory.h"

namespace faceter {

/// What a user does to runs, wherever they run: on this machine, through SLURM, or behind ssh. The command line and the workbench call the
/// same.

/// Removes runs that were just made and that nothing will ever start; one that something holds stays.
void take_back(const Project& project, const std::vector<RunDirectory>& runs);
/// The runs that `make` adds; where one cannot be made, as on a full disk, none stays, since nothing would ever start it.
std::vector<RunDirectory> make_all_or_none(const Project& project, const std::function<void(std::vector<RunDirectory>&)>& make);
/// New ones with the same settings as these, likewise.
std::vector<RunDirectory> make_alike(const Project& project, const std::vector<RunDirectory>& runs);

/// Makes the chosen runs of an experiment and starts them through a profile; where that is refused, none stays; where it is not known
/// whether a job waits, they stay until that is (slurm.h). Errors: those of submit_to_slurm and submit_through_ssh; for SLURM also a file
/// that the experiment names and that is not here (over there, its own faceter looks).
std::vector<RunDirectory> submit_experiment(const Project& project, const Profile& profile, const Experiment& experiment,
                                            const ExperimentOptions& options, const ChosenRuns& chosen = {});
/// The same of a staged experiment, through SLURM. Usage error for ssh, which carries no folder of that size.
std::vector<RunDirectory> submit_staged(const Project& project, const Profile& profile, const StagedExperiment& staged);
/// make_alike() and a job of SLURM's for them; where that is refused, none stays.
std::vector<RunDirectory> submit_alike(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs);

/// Runs by the profile that they are to be started through; "" is this machine.
using Destinations = std::map<std::string, std::vector<RunDirectory>>;
/// `wanted`: a profile, "here", or empty for where each run was started last. Usage error for a run that cannot go on there, since a run
/// goes on where its checkpoints are; nothing has been started then.
Destinations destinations_of(const std::vector<RunDirectory>& runs, const std::string& wanted);
/// Goes on with runs from their last checkpoint, through a profile. Returns what the other machine said, behind ssh.
std::string resume_through(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs);

/// Asks a run to stop with a checkpoint, or cancels its job where that waits or has been asked before. Returns what happens, as a sentence
/// without its subject.
std::string stop_run(const RunDirectory& run);

}  // namespace faceter
