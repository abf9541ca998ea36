#include "launch/slurm.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "common/error.h"
#include "common/strings.h"
#include "experiment/machine.h"
#include "experiment/manifest.h"
#include "launch/command.h"
#include "launch/supervisor.h"

namespace faceter {
namespace {

constexpr int answer_s = 20;  // a controller that is down keeps its clients waiting for minutes

SlurmJob job_of(const fs::path& project, const fs::path& folder, const std::string& name, std::size_t num_runs) {
    return {"faceter-" + safe_file_name(name),       project, folder, num_runs, (program_folder() / "faceter").string(),
            absolute_path(worker_program()).string()};
}

fs::path make_job_folder(const Project& project) {
    make_directories(project.folder() / "jobs");
    std::string name = (project.folder() / "jobs" / "j-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw failure("{}: cannot create folder: {}", name, errno_text(errno));
    return name;
}

/// "1234" or "1234;cluster".
std::string submit(const SlurmJob& job) {
    const CommandResult result = run_command(sbatch_command(job));
    const std::string number(trim(std::string_view(result.output).substr(0, result.output.find(';'))));
    if (result.code != 0)
        throw failure("sbatch refused: {}", result.complaint.empty() ? fmt::format("exit code {}", result.code) : result.complaint);
    if (!parse_int(number)) throw failure("sbatch answered {}, not with the number of a job", faceter::quoted(result.output));
    return number;
}

/// A submission of the project that is not over.
struct OpenJob {
    fs::path folder;
    std::string number;
    std::vector<std::string> runs;  ///< ids
};

std::vector<OpenJob> open_jobs(const Project& project) {
    std::vector<OpenJob> jobs;
    std::error_code error, ignored;
    for (fs::directory_iterator it(project.folder() / "jobs", error), end; !error && it != end; it.increment(error)) {
        const fs::path file = it->path() / "job.json";
        if (!fs::exists(file, ignored) || fs::exists(it->path() / "over", ignored)) continue;
        const Json json = read_json(file, 16 << 20);
        jobs.push_back(
            {it->path(), json_at<std::string>(json, "job", file.string()), json_at<std::vector<std::string>>(json, "runs", file.string())});
        if (!parse_int(jobs.back().number))
            throw data_error("{}: 'job' is {}; expected a number", file.string(), faceter::quoted(jobs.back().number));
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
        {"squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r|%N", "--jobs=" + numbers}, {}, answer_s, abandon);
    if (queue.code != 0 && queue.complaint.find("Invalid job id") == std::string::npos) throw failure("squeue: {}", queue.complaint);
    take_lines(queue.output, answers);
}

/// What ended earlier, where the cluster keeps accounts; many do not, which is no failure: squeue is the only one to ask then.
void ask_sacct(const std::string& numbers, const std::atomic<bool>* abandon, Answers& answers) {
    const CommandResult accounts = run_command(
        {"sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State", "--jobs=" + numbers}, {}, answer_s, abandon);
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

}  // namespace

std::string submit_to_slurm(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs) {
    const SlurmJob job = job_of(project.folder(), make_job_folder(project), runs.front().info().experiment, runs.size());
    std::string paths;
    Json ids = Json::array();
    for (const RunDirectory& run : runs) {
        paths += run.folder().string() + "\n";
        ids.push_back(run.info().id);
    }
    write_file_atomic(job.folder / "job.sh", slurm_script(profile, job));
    write_file_atomic(job.folder / "runs", paths);
    std::vector<int> attempts_before;  // counted before it can have begun
    for (const RunDirectory& run : runs) attempts_before.push_back(run.attempts().empty() ? 0 : run.attempts().back());
    std::string number;
    try {
        number = submit(job);
    } catch (const Error&) {
        std::error_code ignored;
        fs::remove_all(job.folder, ignored);
        throw;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string element = fmt::format("{}_{}", number, i);
        write_launch(runs[i], {"slurm", profile.name, element, job.folder});
        write_job(runs[i], {element, "PENDING", "", "", attempts_before[i]});
    }
    // Last: from now on refresh_slurm_jobs asks, and a job that no run speaks of is over.
    write_file_atomic(job.folder / "job.json", Json{{"job", number}, {"profile", profile.name}, {"runs", ids}}.dump(1) + "\n");
    return number;
}

std::string describe_slurm_job(const fs::path& project, const Profile& profile, const std::string& name, std::size_t num_runs) {
    const fs::path folder = absolute_path(project);
    const SlurmJob job = job_of(folder, folder / "jobs" / "j-NEW", name, num_runs);
    std::string command;
    for (const std::string& word : sbatch_command(job))
        command += (command.empty() ? "" : " ") + (word.find_first_of(" '\"$`\\") == std::string::npos ? word : shell_word(word));
    return slurm_script(profile, job) + "\n# " + command + "\n";
}

std::optional<JobState> parse_job_line(std::string_view line) {
    const auto fields = split(trim(line), '|');
    if (fields.size() < 2) return std::nullopt;
    const auto field = [&](std::size_t i) { return i < fields.size() ? std::string(fields[i].substr(0, 200)) : std::string(); };
    JobState job{field(0), field(1), field(2), field(3), 0};
    const bool cancelled_array = job.phase() == JobPhase::cancelled && parse_int(job.job);
    return is_array_element(job.job) || cancelled_array ? std::optional(job) : std::nullopt;
}

std::vector<std::string> refresh_slurm_jobs(const Project& project, const std::atomic<bool>* abandon) {
    std::vector<std::string> warnings;
    try {
        const std::vector<OpenJob> jobs = open_jobs(project);
        if (jobs.empty()) return warnings;
        const Answers answers = ask(jobs, abandon, warnings);
        for (const OpenJob& job : jobs) take_answers(project, job, answers);
    } catch (const Error& error) {
        warnings.emplace_back(error.what());  // a list of runs is worth more than one job's record
    }
    return warnings;
}

std::string stop_slurm_run(const RunDirectory& run, const Launch& launch) {
    const auto job = read_job(run);
    const bool asked_before = run.requested("stop"), waits = job && job->phase() == JobPhase::pending;
    run.request("stop");
    if (!waits && !asked_before) return fmt::format("will stop with a checkpoint; a second 'faceter stop' cancels its job {}", launch.job);
    const CommandResult result = run_command({"scancel", launch.job}, {}, answer_s);
    if (result.code != 0) throw failure("scancel {}: {}", launch.job, result.complaint);
    return fmt::format("is cancelled (SLURM job {})", launch.job);
}

}  // namespace faceter
