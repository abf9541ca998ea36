#include "run/slurm.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <regex>

#include "common/error.h"
#include "common/strings.h"
#include "run/command.h"
#include "run/manifest.h"
#include "run/supervisor.h"

namespace faceter {
namespace {

constexpr int answer_s = 20;   // a controller that is down keeps its clients waiting for minutes

SlurmJob job_of(const fs::path& project, const fs::path& folder, const std::string& name, std::size_t num_runs) {
    return {"faceter-" + safe_file_name(name), project, folder, num_runs, (program_folder() / "faceter").string(), absolute_path(worker_program()).string()};
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
    if (result.code != 0) throw failure("sbatch refused: {}", result.complaint.empty() ? fmt::format("exit code {}", result.code) : result.complaint);
    if (!parse_int(number)) throw failure("sbatch answered {}, not with the number of a job", faceter::quoted(result.output));
    return number;
}

/// A submission of the project that is not over.
struct OpenJob {
    fs::path folder;
    std::string number;
    std::vector<std::string> runs;   ///< ids
};

std::vector<OpenJob> open_jobs(const Project& project) {
    std::vector<OpenJob> jobs;
    std::error_code error, ignored;
    for (fs::directory_iterator it(project.folder() / "jobs", error), end; !error && it != end; it.increment(error)) {
        const fs::path file = it->path() / "job.json";
        if (!fs::exists(file, ignored) || fs::exists(it->path() / "over", ignored)) continue;
        const Json json = read_json(file, 16 << 20);
        jobs.push_back({it->path(), json_at<std::string>(json, "job", file.string()), json_at<std::vector<std::string>>(json, "runs", file.string())});
        if (!parse_int(jobs.back().number)) throw data_error("{}: 'job' is {}; expected a number", file.string(), faceter::quoted(jobs.back().number));
    }
    return jobs;
}

using Answers = std::map<std::string, JobState>;

void take_lines(const std::string& output, Answers& answers) {
    for (const std::string_view line : split(output, '\n'))
        if (auto job = parse_job_line(line)) answers.emplace(job->job, *job);
}

std::string numbers_of(const std::vector<OpenJob>& jobs) {
    std::vector<std::string> numbers;
    for (const OpenJob& job : jobs) numbers.push_back(job.number);
    return join(numbers, ",");
}

/// squeue knows what waits, runs, or ended some minutes ago; sacct, where the cluster keeps accounts, what ended earlier.
std::optional<Answers> ask(const std::vector<OpenJob>& jobs, std::vector<std::string>& warnings) {
    Answers answers;
    const std::string numbers = numbers_of(jobs);
    try {
        const CommandResult queue = run_command({"squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r|%N", "--jobs=" + numbers}, {}, answer_s);
        if (queue.code != 0 && queue.complaint.find("Invalid job id") == std::string::npos) throw failure("squeue: {}", queue.complaint);
        take_lines(queue.output, answers);
        const bool all = std::all_of(jobs.begin(), jobs.end(), [&](const OpenJob& job) { return answers.contains(job.number + "_0"); });
        if (!all) take_lines(run_command({"sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State", "--jobs=" + numbers}, {}, answer_s).output, answers);
    } catch (const Error& error) {
        warnings.push_back(fmt::format("what is known of SLURM jobs {} may be old: {}", numbers, error.what()));
        return std::nullopt;
    }
    return answers;
}

/// Written where something is new, and where a job waits again after an attempt that began since we last looked.
void note(const RunDirectory& run, JobState job) {
    const auto before = read_job(run);
    if (before) job.attempts_before = before->attempts_before;
    const std::vector<int> attempts = run.attempts();
    if (!before || !(*before == job) || (job.phase() == JobPhase::pending && !attempts.empty() && journal_is_newer_than_job(run, attempts.back()))) write_job(run, job);
}

void take_answers(const Project& project, const OpenJob& open, const Answers& answers) {
    bool over = true;
    for (std::size_t i = 0; i < open.runs.size(); ++i) {
        const std::string element = fmt::format("{}_{}", open.number, i);
        const fs::path folder = project.runs_folder() / safe_file_name(open.runs[i]);
        std::error_code ignored;
        if (!fs::exists(folder / "run.json", ignored)) continue;   // deleted
        const RunDirectory run(folder);
        const auto launch = read_launch(run);
        if (!launch || launch->job != element) continue;   // started anew since, by another job or here
        const auto answer = answers.find(element);
        const JobState job = answer == answers.end() ? JobState{element, "UNKNOWN", "", "", 0} : answer->second;
        note(run, job);
        over &= job.is_over();
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
    std::vector<int> attempts_before;   // counted before it can have begun
    for (const RunDirectory& run : runs) attempts_before.push_back(run.attempts().empty() ? 0 : run.attempts().back());
    std::string number;
    try {
        number = submit(job);
    } catch (const Error&) {
        std::error_code ignored;
        fs::remove_all(job.folder, ignored);
        throw;
    }
    write_file_atomic(job.folder / "job.json", Json{{"job", number}, {"profile", profile.name}, {"runs", ids}}.dump(1) + "\n");
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string element = fmt::format("{}_{}", number, i);
        write_launch(runs[i], {"slurm", profile.name, element, job.folder});
        write_job(runs[i], {element, "PENDING", "", "", attempts_before[i]});
    }
    return number;
}

std::string describe_slurm_job(const fs::path& project, const Profile& profile, const std::string& name, std::size_t num_runs) {
    const fs::path folder = absolute_path(project);
    const SlurmJob job = job_of(folder, folder / "jobs" / "j-NEW", name, num_runs);
    std::string command;
    for (const std::string& word : sbatch_command(job)) command += (command.empty() ? "" : " ") + (word.find_first_of(" '\"$`\\") == std::string::npos ? word : shell_word(word));
    return slurm_script(profile, job) + "\n# " + command + "\n";
}

std::optional<JobState> parse_job_line(std::string_view line) {
    static const std::regex id("[0-9]{1,12}_[0-9]{1,9}");
    const auto fields = split(trim(line), '|');
    if (fields.size() < 2 || fields[0].size() > 30 || !std::regex_match(std::string(fields[0]), id)) return std::nullopt;
    const auto field = [&](std::size_t i) { return i < fields.size() ? std::string(fields[i].substr(0, 200)) : std::string(); };
    return JobState{field(0), field(1), field(2), field(3), 0};
}

std::vector<std::string> refresh_slurm_jobs(const Project& project) {
    std::vector<std::string> warnings;
    try {
        const std::vector<OpenJob> jobs = open_jobs(project);
        if (jobs.empty()) return warnings;
        if (const auto answers = ask(jobs, warnings))
            for (const OpenJob& job : jobs) take_answers(project, job, *answers);
    } catch (const Error& error) {
        warnings.emplace_back(error.what());   // a list of runs is worth more than one job's record
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
