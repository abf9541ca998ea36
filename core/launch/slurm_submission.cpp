#include "launch/slurm_submission.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <regex>

#include <fmt/chrono.h>

#include "common/command.h"
#include "common/error.h"
#include "common/lock_file.h"
#include "common/strings.h"
#include "experiment/machine.h"
#include "experiment/manifest.h"
#include "launch/slurm.h"
#include "record/journal.h"

namespace faceter {
namespace {

/// After which a submission of a process that cannot be looked for from here is over for sure: sbatch gets a minute.
constexpr auto submission_limit = std::chrono::hours(1);

/// jobs/<...>/submission.json: written before sbatch is asked.
struct Submission {
    fs::path folder;
    std::string name;  ///< of the job; no other has it
    std::string profile;
    std::vector<std::string> runs;
    std::vector<int> attempts_before;
    std::string day;  ///< since when accounts are asked
    ProcessIdentity process;
    bool locked = false;  ///< its process holds the folder's lock while it is at work
};

fs::path lock_path(const fs::path& folder) { return folder / "lock"; }

SlurmJob job_of(const fs::path& project, const fs::path& folder, const std::string& experiment, std::size_t num_runs) {
    const std::string own = folder.filename().string().substr(2);  // j-XXXXXX
    return {fmt::format("faceter-{}-{}", safe_file_name(experiment), own),
            project,
            folder,
            num_runs,
            (program_folder() / "faceter").string(),
            absolute_path(worker_program()).string()};
}

fs::path make_job_folder(const Project& project) {
    make_directories(project.folder() / "jobs");
    std::string name = (project.folder() / "jobs" / "j-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw failure("{}: cannot create folder: {}", name, errno_text(errno));
    return name;
}

Submission submission_of(const SlurmJob& job, const Profile& profile, const std::vector<RunDirectory>& runs) {
    const auto yesterday = std::chrono::system_clock::now() - std::chrono::hours(24);
    Submission submission{job.folder, job.name, profile.name, {}, {}, "", ProcessIdentity::own(), false};
    submission.day = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::to_time_t(yesterday)));
    for (const RunDirectory& run : runs) {
        submission.runs.push_back(run.info().id);
        submission.attempts_before.push_back(run.attempts().empty() ? 0 : run.attempts().back());
    }
    return submission;
}

void write_submission_file(const Submission& submission) {
    Json json = submission.process.to_json();
    json.update({{"name", submission.name},
                 {"profile", submission.profile},
                 {"runs", submission.runs},
                 {"attempts_before", submission.attempts_before},
                 {"day", submission.day},
                 {"locked", submission.locked}});
    write_file_atomic(submission.folder / "submission.json", json.dump(1) + "\n");
}

Submission read_submission_file(const fs::path& folder) {
    const fs::path file = folder / "submission.json";
    const std::string where = file.string();
    const Json json = read_json(file, 16 << 20);
    Submission submission{folder,
                          json_at<std::string>(json, "name", where),
                          json_at<std::string>(json, "profile", where),
                          json_at<std::vector<std::string>>(json, "runs", where),
                          json_at<std::vector<int>>(json, "attempts_before", where),
                          json_at<std::string>(json, "day", where),
                          ProcessIdentity::from_json(json),
                          json_at<bool>(json, "locked", where)};
    if (submission.name != safe_file_name(submission.name) || !is_job_name_of(submission.name, folder) ||
        submission.day != safe_file_name(submission.day) || submission.runs.size() != submission.attempts_before.size())
        throw data_error("{}: not what a submission writes", where);
    return submission;
}

/// From the number of the first element that a list names.
std::optional<std::string> number_in(const std::string& output) {
    for (const std::string_view line : split(output, '\n'))
        if (const auto job = parse_job_line(line)) return job->job.substr(0, job->job.find('_'));
    return std::nullopt;
}

/// The number of the job of that name, or nothing where SLURM knows none. Throws where it does not answer.
std::optional<std::string> find_job(const Submission& submission, const std::atomic<bool>* abandon) {
    const CommandResult queue =
        run_command({"squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r|%N", "--name=" + submission.name}, {},
                    slurm_answer_s, abandon);
    if (queue.code != 0) throw failure("squeue: {}", queue.complaint);
    if (const auto number = number_in(queue.output)) return number;
    const CommandResult accounts = run_command({"sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State",
                                                "--name=" + submission.name, "--starttime=" + submission.day},
                                               {}, slurm_answer_s, abandon);
    if (accounts.code != 0 && accounts.complaint.find("accounting storage is disabled") == std::string::npos)
        throw failure("sacct: {}", accounts.complaint);
    return number_in(accounts.output);
}

/// Each run learns of its element; job.json of the folder last: from then on refresh_slurm_jobs asks, and the submission is settled.
void record(const Project& project, const Submission& submission, const std::string& number) {
    std::error_code ignored;
    for (std::size_t i = 0; i < submission.runs.size(); ++i) {
        const fs::path folder = project.runs_folder() / safe_file_name(submission.runs[i]);
        if (!fs::exists(folder / "run.json", ignored)) continue;  // deleted
        const RunDirectory run(folder);
        const std::string element = fmt::format("{}_{}", number, i);
        write_launch(run, {"slurm", submission.profile, element, submission.folder});
        write_job(run, {element, "PENDING", "", "", submission.attempts_before[i]});
    }
    write_file_atomic(submission.folder / "job.json",
                      Json{{"job", number}, {"profile", submission.profile}, {"runs", submission.runs}}.dump(1) + "\n");
}

/// No job came of it: what the runs were before counts again.
void drop(const Submission& submission) {
    remove_file(submission.folder / "submission.json");
    remove_tree(submission.folder);
}

/// "1234" or "1234;cluster"; nothing where sbatch answers otherwise.
std::optional<std::string> number_of(const CommandResult& result) {
    const std::string number(trim(std::string_view(result.output).substr(0, result.output.find(';'))));
    return result.code == 0 && parse_int(number) ? std::optional(number) : std::nullopt;
}

std::string refusal(const CommandResult& result) {
    if (result.code == 0) return fmt::format("sbatch answered {}, not with the number of a job", faceter::quoted(result.output));
    return fmt::format("sbatch refused: {}", result.complaint.empty() ? fmt::format("exit code {}", result.code) : result.complaint);
}

/// sbatch may have been heard although it says no, or nothing: what it was told got lost on its way back.
bool is_doubtful(const CommandResult& result) {
    if (result.code == 0 || result.code >= 124) return true;  // no number; ended by its limit or by a signal
    static const std::regex lost("tim(e|ed)[ -]?out|zero bytes|communication|connection (reset|closed)", std::regex::icase);
    return std::regex_search(result.complaint, lost);
}

/// Where that is in doubt, the queue knows.
std::string settle_refusal(const Submission& submission, const CommandResult& result) {
    std::optional<std::string> number;
    if (!is_doubtful(result)) {
        drop(submission);
        throw failure("{}", refusal(result));
    }
    try {
        number = find_job(submission, nullptr);
    } catch (const std::exception& error) {
        throw JobMayWait(
            ExitCode::failed,
            fmt::format("{}; whether a job waits all the same is not known, since SLURM does not answer ({}). The runs are kept; "
                        "'faceter list' asks again",
                        refusal(result), error.what()));
    }
    if (number) return *number;
    drop(submission);
    throw failure("{}", refusal(result));
}

std::string submit(const SlurmJob& job, const Submission& submission) {
    CommandResult result;
    try {
        result = run_command(sbatch_command(job));
    } catch (const Error&) {  // there is no sbatch
        drop(submission);
        throw;
    }
    if (const auto number = number_of(result)) return *number;
    return settle_refusal(submission, result);
}

/// Where locks hold, a process that is not at it holds none; elsewhere it counts for as long as it lives, or could.
bool may_be_at_work(const Submission& submission) {
    if (is_locked(lock_path(submission.folder))) return true;
    if (submission.process.on_this_machine()) return !submission.locked && submission.process.alive();
    std::error_code error;
    const auto written = fs::last_write_time(submission.folder / "submission.json", error);
    return !error && fs::file_time_type::clock::now() - written < submission_limit;
}

void settle(const Project& project, const Submission& submission, const std::atomic<bool>* abandon) {
    if (is_locked(lock_path(submission.folder))) return;
    if (const auto number = find_job(submission, abandon))
        record(project, submission, *number);
    else if (!may_be_at_work(submission))
        drop(submission);
}

}  // namespace

bool is_job_name_of(std::string_view name, const fs::path& folder) {
    const std::string made = folder.filename().string();
    constexpr std::string_view begin = "faceter-";
    return made.size() == std::string_view("j-XXXXXX").size() && made.starts_with("j-") && name.size() > begin.size() + made.size() - 1 &&
           name.starts_with(begin) && name.ends_with(made.substr(1));
}

std::string submit_to_slurm(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs) {
    const SlurmJob job = job_of(project.folder(), make_job_folder(project), runs.front().info().experiment, runs.size());
    LockFile lock(lock_path(job.folder));
    Submission submission = submission_of(job, profile, runs);  // attempts are counted before it can have begun
    submission.locked = lock.try_lock() == LockOutcome::taken;
    try {
        std::string paths;
        for (const RunDirectory& run : runs) paths += run.folder().string() + "\n";
        write_file_atomic(job.folder / "job.sh", slurm_script(profile, job));
        write_file_atomic(job.folder / "runs", paths);
        write_submission_file(submission);
        for (const RunDirectory& run : runs) write_submission(run, job.folder.filename().string());
    } catch (const std::exception&) {  // sbatch has not been asked
        drop(submission);
        throw;
    }
    const std::string number = submit(job, submission);
    try {
        record(project, submission, number);
    } catch (const std::exception& error) {
        throw JobMayWait(
            ExitCode::failed,
            fmt::format("SLURM job {} waits, but not all that belongs to it could be recorded: {}. The runs are kept; 'faceter "
                        "list' takes it in",
                        number, error.what()));
    }
    return number;
}

void settle_submissions(const Project& project, const std::atomic<bool>* abandon, std::vector<std::string>& warnings) {
    std::error_code error, ignored;
    for (fs::directory_iterator it(project.folder() / "jobs", error), end; !error && it != end; it.increment(error)) {
        const fs::path folder = it->path();
        if (!fs::exists(folder / "submission.json", ignored) || fs::exists(folder / "job.json", ignored)) continue;
        try {
            settle(project, read_submission_file(folder), abandon);
        } catch (const Error& problem) {
            warnings.push_back(fmt::format("{}: what came of this submission is not known yet: {}", folder.string(), problem.what()));
        }
    }
}

std::string describe_slurm_job(const fs::path& project, const Profile& profile, const std::string& name, std::size_t num_runs) {
    const fs::path folder = absolute_path(project);
    const SlurmJob job = job_of(folder, folder / "jobs" / "j-NEW", name, num_runs);
    std::string command;
    for (const std::string& word : sbatch_command(job))
        command += (command.empty() ? "" : " ") + (word.find_first_of(" '\"$`\\") == std::string::npos ? word : shell_word(word));
    return slurm_script(profile, job) + "\n# " + command + "\n";
}

}  // namespace faceter
