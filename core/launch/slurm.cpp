#include "launch/slurm.h"

#include <algorithm>
#include <map>

#include "common/command.h"
#include "common/error.h"
#include "common/strings.h"
#include "launch/slurm_submission.h"

namespace faceter {
namespace {

/// A submission of the project that is not over.
struct OpenJob {
    fs::path folder;
    std::string number;
    std::vector<std::string> runs;  ///< ids
};

OpenJob read_open_job(const fs::path& folder) {
    const std::string file = (folder / "job.json").string();
    const Json json = read_json(file, 16 << 20);
    OpenJob job{folder, json_at<std::string>(json, "job", file), json_at<std::vector<std::string>>(json, "runs", file)};
    if (!parse_int(job.number)) throw data_error("{}: 'job' is {}; expected a number", file, faceter::quoted(job.number));
    return job;
}

/// Those that can be read: the others are said in `warnings`.
std::vector<OpenJob> open_jobs(const Project& project, std::vector<std::string>& warnings) {
    std::vector<OpenJob> jobs;
    std::error_code error, ignored;
    for (fs::directory_iterator it(project.folder() / "jobs", error), end; !error && it != end; it.increment(error)) {
        if (!fs::exists(it->path() / "job.json", ignored) || fs::exists(it->path() / "over", ignored)) continue;
        try {
            jobs.push_back(read_open_job(it->path()));
        } catch (const Error& problem) {
            warnings.emplace_back(problem.what());
        }
    }
    return jobs;
}

struct Answers {
    std::map<std::string, JobState> jobs;  ///< by element, or number of an array
    bool complete = true;                  ///< false: nothing follows from what is missing

    /// As SLURM shows it; nothing where it does not.
    std::optional<JobState> of(const std::string& number, std::size_t element) const {
        const std::string name = fmt::format("{}_{}", number, element);
        auto found = jobs.find(name);
        if (found == jobs.end()) found = jobs.find(number);
        if (found == jobs.end()) return std::nullopt;
        JobState job = found->second;
        job.job = name;
        return job;
    }
};

void take_lines(const std::string& output, Answers& answers) {
    for (const std::string_view line : split(output, '\n'))
        if (auto job = parse_job_line(line)) answers.jobs.emplace(job->job, *job);
}

std::string numbers_of(const std::vector<OpenJob>& jobs) {
    std::vector<std::string> numbers;
    for (const OpenJob& job : jobs) numbers.push_back(job.number);
    return join(numbers, ",");
}

/// What waits, runs, or ended some minutes ago. Throws where SLURM does not answer.
void ask_squeue(const std::string& numbers, const std::atomic<bool>* abandon, Answers& answers) {
    const CommandResult queue = run_command(
        {"squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r|%N", "--jobs=" + numbers}, {}, slurm_answer_s, abandon);
    if (queue.code != 0 && queue.complaint.find("Invalid job id") == std::string::npos) throw failure("squeue: {}", queue.complaint);
    take_lines(queue.output, answers);
}

/// What ended earlier, where the cluster keeps accounts; many do not, which is no failure: squeue is the only one to ask then.
void ask_sacct(const std::string& numbers, const std::atomic<bool>* abandon, Answers& answers) {
    const CommandResult accounts = run_command(
        {"sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State", "--jobs=" + numbers}, {}, slurm_answer_s, abandon);
    if (accounts.code != 0 && accounts.complaint.find("accounting storage is disabled") == std::string::npos)
        throw failure("sacct: {}", accounts.complaint);
    take_lines(accounts.output, answers);
}

Answers ask(const std::vector<OpenJob>& jobs, const std::atomic<bool>* abandon, std::vector<std::string>& warnings) {
    Answers answers;
    const std::string numbers = numbers_of(jobs);
    try {
        ask_squeue(numbers, abandon, answers);
        const auto answered = [&](const OpenJob& job) {
            for (std::size_t i = 0; i < job.runs.size(); ++i)
                if (!answers.of(job.number, i)) return false;
            return true;
        };
        if (!std::all_of(jobs.begin(), jobs.end(), answered)) ask_sacct(numbers, abandon, answers);
    } catch (const Error& error) {
        warnings.push_back(fmt::format("what is known of SLURM jobs {} may be old: {}", numbers, error.what()));
        answers.complete = false;
    }
    return answers;
}

/// Written where something is new, and where a job waits again after an attempt that began since we last looked. How a job ended is not
/// forgotten when SLURM forgets it.
void note(const RunDirectory& run, JobState job) {
    const auto before = read_job(run);
    if (before) job.attempts_before = before->attempts_before;
    if (before && before->job == job.job && before->is_over() && job.phase() == JobPhase::unknown) return;
    const std::vector<int> attempts = run.attempts();
    if (!before || !(*before == job) ||
        (job.phase() == JobPhase::pending && !attempts.empty() && journal_is_newer_than_job(run, attempts.back())))
        write_job(run, job);
}

void take_answers(const Project& project, const OpenJob& open, const Answers& answers) {
    bool over = true;
    for (std::size_t i = 0; i < open.runs.size(); ++i) {
        const std::string element = fmt::format("{}_{}", open.number, i);
        const fs::path folder = project.runs_folder() / safe_file_name(open.runs[i]);
        std::error_code ignored;
        if (!fs::exists(folder / "run.json", ignored)) continue;  // deleted
        const RunDirectory run(folder);
        const auto launch = read_launch(run);
        if (!launch || launch->job != element) continue;  // started anew since, by another job or here
        const auto answer = answers.of(open.number, i);
        if (answer || answers.complete) note(run, answer.value_or(JobState{element, "UNKNOWN", "", "", 0}));
        over &= answer ? answer->is_over() : answers.complete;
    }
    if (over) write_file_atomic(open.folder / "over", utc_now() + "\n");
}

/// A project that was copied whole has the word of jobs which are the original's.
void check_not_a_copy(const RunDirectory& run, const Launch& launch) {
    std::error_code error;
    const fs::path owner = launch.folder.parent_path().parent_path();
    if (!fs::exists(launch.folder, error) || fs::equivalent(owner, run.project(), error)) return;
    throw usage_error("{}: its SLURM job {} was submitted by the project {}, of which this is a copy; stop it there", run.info().id,
                      launch.job, owner.string());
}

/// Of the run's submission, among the jobs of this project: one that somebody else made has the word of whichever he liked.
fs::path own_job_folder(const RunDirectory& run, const Launch& launch) {
    std::error_code error;
    const fs::path folder = run.project() / "jobs" / launch.folder.filename();
    if (!launch.folder.filename().empty() && fs::is_directory(folder, error)) return folder;
    throw usage_error("{}: SLURM job {} is not known to be its: this project has no {}; where the job is yours, scancel ends it",
                      run.info().id, launch.job, folder.string());
}

/// What the folder says is from the project's maker; the name that SLURM has is not.
void check_own_name(const RunDirectory& run, const std::string& job, const fs::path& folder) {
    const CommandResult queue =
        run_command({"squeue", "--noheader", "--array", "--states=all", "--format=%j", "--jobs=" + job}, {}, slurm_answer_s);
    if (queue.code != 0) throw failure("squeue: {}", queue.complaint);
    const std::string_view name = trim(queue.output);
    if (name.empty()) throw failure("squeue lists no job {}; nothing was cancelled", job);
    if (!is_job_name_of(name, folder))
        throw usage_error("{}: SLURM job {} is called {}, and is none that {} was made for; nothing was cancelled", run.info().id, job,
                          faceter::quoted(name), folder.string());
}

}  // namespace

std::optional<JobState> parse_job_line(std::string_view line) {
    const auto fields = split(trim(line), '|');
    if (fields.size() < 2) return std::nullopt;
    const auto field = [&](std::size_t i) { return i < fields.size() ? std::string(fields[i].substr(0, 200)) : std::string(); };
    JobState job{field(0), field(1), field(2), field(3), 0};
    if (is_array_element(job.job)) return job;
    if (job.phase() != JobPhase::cancelled) return std::nullopt;
    if (const auto rest = job.job.find("_["); rest != std::string::npos) job.job.resize(rest);  // "12_[2-5]": what had not begun
    return parse_int(job.job) ? std::optional(job) : std::nullopt;
}

std::vector<std::string> refresh_slurm_jobs(const Project& project, const std::atomic<bool>* abandon) {
    std::vector<std::string> warnings;
    try {
        settle_submissions(project, abandon, warnings);
        const std::vector<OpenJob> jobs = open_jobs(project, warnings);
        if (jobs.empty()) return warnings;
        const Answers answers = ask(jobs, abandon, warnings);
        for (const OpenJob& job : jobs) try {
                take_answers(project, job, answers);
            } catch (const Error& error) {
                warnings.emplace_back(error.what());  // the other jobs are worth more than one's record
            }
    } catch (const Error& error) {
        warnings.emplace_back(error.what());  // as a list of runs is
    }
    return warnings;
}

std::string stop_slurm_run(const RunDirectory& run, const Launch& launch) {
    check_not_a_copy(run, launch);
    const auto job = read_job(run);
    const bool asked_before = run.requested("stop"), waits = job && job->phase() == JobPhase::pending;
    run.request("stop");
    if (!waits && !asked_before) return fmt::format("will stop with a checkpoint; a second 'faceter stop' cancels its job {}", launch.job);
    check_own_name(run, launch.job, own_job_folder(run, launch));
    const CommandResult result = run_command({"scancel", launch.job}, {}, slurm_answer_s);
    if (result.code != 0) throw failure("scancel {}: {}", launch.job, result.complaint);
    return fmt::format("is cancelled (SLURM job {})", launch.job);
}

}  // namespace faceter
