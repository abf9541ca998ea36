#include "record/launch.h"

#include <sys/stat.h>

#include <map>
#include <regex>

#include "common/error.h"
#include "common/strings.h"
#include "common/untrusted_json.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_bytes = 1 << 16;

fs::path launch_file(const RunDirectory& run) { return run.control() / "launch.json"; }
fs::path job_file(const RunDirectory& run) { return run.control() / "job.json"; }
fs::path submission_file(const RunDirectory& run) { return run.control() / "submission"; }

std::string text_of(const Json& json, const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

/// Nothing where the file is missing, torn, or no object.
std::optional<Json> read_object(const fs::path& file) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::nullopt;
    try {
        Json json = parse_untrusted_json(read_file(file, max_bytes));
        if (json.is_object()) return json;
    } catch (const Error&) {
    }
    return std::nullopt;
}

void write_object(const fs::path& file, const Json& json) {
    make_directories(file.parent_path());
    write_file_atomic(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void set(RunState& state, RunPhase phase, ExitCode code, std::string cause) {
    state.phase = phase;
    state.exit_code = static_cast<int>(code);
    state.cause = std::move(cause);
}

void apply_waiting(const JobState& job, const JournalVerdict& journal, bool own, RunState& state) {
    if (own && journal.stop_asked && state.phase == RunPhase::stopped) return;
    if (own && journal.newer_than_job && state.phase != RunPhase::stopped) return;  // it has begun since
    const std::string why = fmt::format("(job {}{})", job.job, job.reason.empty() || job.reason == "None" ? "" : ": " + job.reason);
    set(state, RunPhase::queued, ExitCode::done,
        own ? fmt::format("waits for its next turn in SLURM {}, after step {}", why, state.step) : "waits in SLURM " + why);
}

void apply_running(const JobState& job, const JournalVerdict& journal, bool own, RunState& state) {
    if (!own) {
        set(state, RunPhase::running, ExitCode::done, fmt::format("SLURM job {}{}", job.job, job.node.empty() ? "" : " on " + job.node));
        state.doing = "starting";
    } else if (state.phase == RunPhase::stopped && !journal.stop_asked) {
        set(state, RunPhase::queued, ExitCode::done, fmt::format("{}; SLURM will start it again (job {})", state.cause, job.job));
    }
}

void apply_end(const JobState& job, const JournalVerdict& journal, bool own, RunState& state) {
    const JobPhase phase = job.phase();
    if (own && journal.ended) return;
    if (own && phase == JobPhase::completed) return;  // its last lines are on their way
    if (own && phase != JobPhase::out_of_memory && (state.phase == RunPhase::failed || state.phase == RunPhase::stopped))
        return;  // exit.json has said why
    // With the code of one that was stopped.
    if (!own && journal.stop_asked && phase == JobPhase::failed)
        return set(state, RunPhase::stopped, ExitCode::stopped, fmt::format("stopped before it began (SLURM job {})", job.job));
    const std::string name = fmt::format("SLURM job {}", job.job),
                      why = job.reason.empty() || job.reason == "None" ? "" : ": " + job.reason;
    switch (phase) {
        case JobPhase::cancelled:
            return set(state, RunPhase::stopped, ExitCode::stopped, fmt::format("cancelled ({})", name));
        case JobPhase::time_limit:
            return set(
                state, RunPhase::failed, ExitCode::failed,
                fmt::format("its time was up before a checkpoint was written ({}{}); a longer grace_s in the profile helps", name, why));
        case JobPhase::out_of_memory:
            return set(state, RunPhase::failed, ExitCode::out_of_memory,
                       fmt::format("it took more memory than it was given ({}); raise memory in the profile", name));
        case JobPhase::node_failed:
            return set(state, RunPhase::failed, ExitCode::failed, fmt::format("its node failed ({}{})", name, why));
        case JobPhase::unknown:
            return set(state, RunPhase::dead, ExitCode::failed, fmt::format("SLURM no longer knows its job ({})", job.job));
        default:
            return set(state, RunPhase::failed, ExitCode::failed,
                       fmt::format("{} ended ({}{}) {}; see its output with --log of 'faceter show'", name, job.word, why,
                                   own ? "and the run did not say why" : "before the run said a word"));
    }
}

}  // namespace

void write_launch(const RunDirectory& run, const Launch& launch) {
    remove_file(run.control() / "supervisor.json");
    write_object(launch_file(run),
                 {{"launcher", launch.launcher}, {"profile", launch.profile}, {"job", launch.job}, {"folder", launch.folder.string()}});
}

std::optional<Launch> read_launch(const RunDirectory& run) {
    const auto json = read_object(launch_file(run));
    if (!json) return std::nullopt;
    Launch launch{text_of(*json, "launcher"), text_of(*json, "profile"), text_of(*json, "job"), text_of(*json, "folder")};
    if (launch.launcher != "ssh" && !is_array_element(launch.job)) return std::nullopt;
    return launch;
}

std::optional<std::string> profile_of_mirror(const RunDirectory& run) {
    const auto launch = read_launch(run);
    return launch && launch->launcher == "ssh" ? std::optional(launch->profile) : std::nullopt;
}

void clear_launch(const RunDirectory& run) {
    for (const fs::path& file : {launch_file(run), job_file(run), submission_file(run)}) remove_file(file);
}

void write_submission(const RunDirectory& run, const std::string& job_folder) {
    make_directories(run.control());
    write_file_atomic(submission_file(run), job_folder + "\n");
}

bool is_being_submitted(const RunDirectory& run) {
    std::error_code ignored;
    if (!fs::exists(submission_file(run), ignored)) return false;
    try {
        const std::string name(trim(read_file(submission_file(run), max_bytes)));
        const fs::path folder = run.project() / "jobs" / safe_file_name(name);
        return fs::exists(folder / "submission.json", ignored) && !fs::exists(folder / "job.json", ignored);
    } catch (const Error&) {
        return false;  // just removed
    }
}

JobPhase job_phase(std::string_view word) {
    static const std::map<std::string_view, JobPhase> phases = {{"PENDING", JobPhase::pending},
                                                                {"REQUEUED", JobPhase::pending},
                                                                {"REQUEUE_HOLD", JobPhase::pending},
                                                                {"REQUEUE_FED", JobPhase::pending},
                                                                {"SPECIAL_EXIT", JobPhase::pending},
                                                                {"RESV_DEL_HOLD", JobPhase::pending},
                                                                {"COMPLETED", JobPhase::completed},
                                                                {"CANCELLED", JobPhase::cancelled},
                                                                {"PREEMPTED", JobPhase::cancelled},
                                                                {"REVOKED", JobPhase::cancelled},
                                                                {"TIMEOUT", JobPhase::time_limit},
                                                                {"DEADLINE", JobPhase::time_limit},
                                                                {"OUT_OF_MEMORY", JobPhase::out_of_memory},
                                                                {"NODE_FAIL", JobPhase::node_failed},
                                                                {"BOOT_FAIL", JobPhase::node_failed},
                                                                {"FAILED", JobPhase::failed},
                                                                {"UNKNOWN", JobPhase::unknown}};
    const auto found = phases.find(word.substr(0, word.find_first_of(" +")));  // "CANCELLED by 1000", "CANCELLED+"
    return found == phases.end() ? JobPhase::running : found->second;
}

void write_job(const RunDirectory& run, const JobState& job) {
    write_object(
        job_file(run),
        {{"job", job.job}, {"state", job.word}, {"reason", job.reason}, {"node", job.node}, {"attempts_before", job.attempts_before}});
}

std::optional<JobState> read_job(const RunDirectory& run) {
    const auto json = read_object(job_file(run));
    if (!json) return std::nullopt;
    JobState job{text_of(*json, "job"), text_of(*json, "state"), text_of(*json, "reason"), text_of(*json, "node"), 0};
    if (json->contains("attempts_before") && (*json)["attempts_before"].is_number_integer())
        job.attempts_before = (*json)["attempts_before"].get<int>();
    return job;
}

bool is_array_element(std::string_view text) {
    static const std::regex pattern("[0-9]{1,12}_[0-9]{1,9}");
    return text.size() < 30 && std::regex_match(text.begin(), text.end(), pattern);
}

bool is_newer(const fs::path& file, const fs::path& than) {
    struct stat a {
    }, b{};
    if (::stat(file.c_str(), &a) != 0 || ::stat(than.c_str(), &b) != 0) return false;
    return a.st_mtim.tv_sec > b.st_mtim.tv_sec || (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec > b.st_mtim.tv_nsec);
}

bool journal_is_newer_than_job(const RunDirectory& run, int attempt) { return is_newer(run.attempt_journal(attempt), job_file(run)); }

void apply_job(const JobState& job, const JournalVerdict& journal, RunState& state) {
    const bool own = state.attempt > job.attempts_before;  // the newest attempt is this job's
    if (own && journal.ended && state.phase != RunPhase::stopped) return;
    switch (job.phase()) {
        case JobPhase::pending:
            return apply_waiting(job, journal, own, state);
        case JobPhase::running:
            return apply_running(job, journal, own, state);
        default:
            return apply_end(job, journal, own, state);
    }
}

}  // namespace faceter
