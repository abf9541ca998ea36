#include "common/error.h"
#include "record/launch.h"
#include "record/state.h"

namespace faceter {
namespace {

/// What is known of a silent run, without what to do about it.
std::string sign_of(const RunState& state) { return state.cause.substr(0, state.cause.find(';')); }

}  // namespace

std::string take_over_question(const RunDirectory& run) {
    const RunState state = read_state(run);
    if (state.phase != RunPhase::silent) return "";
    return fmt::format("{}: {}. If that process still lives, it and the one that takes its place would both write the run.", run.info().id,
                       sign_of(state));
}

void take_over(const RunDirectory& run) {
    const RunState state = read_state(run);
    const std::string& id = run.info().id;
    if (state.phase != RunPhase::silent)
        throw usage_error("{} is {}, not silent; there is nothing to take over", id, run_phase_name(state.phase));
    if (const auto profile = profile_of_mirror(run))
        throw usage_error("{} belongs to the machine of profile '{}', whose record this is a copy of; take it over there", id, *profile);
    if (const auto job = read_job(run); job && !job->is_over())
        throw usage_error("{} is SLURM job {}, which is {}; stop it first: faceter stop {}", id, job->job, job->word, id);
    write_worker_exit(run, state.attempt,
                      {static_cast<int>(ExitCode::failed), 0, "given up by somebody who took it over: " + sign_of(state)});
}

}  // namespace faceter
