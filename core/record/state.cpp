#include "record/state.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <map>
#include <mutex>

#include "common/error.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "record/launch.h"
#include "record/run_lock.h"

namespace faceter {
namespace {

constexpr double least_silence_s = 60, silence_factor = 5, most_silence_s = 24 * 3600;  // whatever a journal says of its pauses
constexpr double most_pause_s = 600;   // between two lines: a process that works writes one each ten seconds
constexpr double most_making_s = 900;  // from the making of a run to that of the last one which is started with it

/// The fallback also for an odd member in a line with a good checksum: from another version, or somebody's who can compute one.
template <typename T>
T member(const Json& object, const char* key, T fallback) {
    if (!object.is_object() || !object.contains(key)) return fallback;
    if constexpr (WholeNumber<T>) return whole_number<T>(object[key]).value_or(fallback);
    try {
        return object[key].is_null() ? fallback : object[key].get<T>();
    } catch (const nlohmann::json::exception&) {
        return fallback;
    }
}

/// What is to be done with a run that ended without a word.
std::string way_on(const RunInfo& info) {
    return info.is_imported() ? "its import was cut short: import it again" : "go on with: faceter resume " + info.id;
}

/// At a step, while it was scored, or in between with a message of its own.
std::string stop_cause(const JournalEvent& event, std::int64_t last_step) {
    const auto said = event.fields.contains("step") ? std::string() : member(event.fields, "message", std::string());
    if (said.empty() && event.fields.contains("phase")) return "stopped before all was scored";
    return said.empty() ? fmt::format("stopped at step {}", member(event.fields, "step", last_step)) : said;
}

/// By the trainer's own measure; the first process writes it as a rate.
double step_seconds(const Json& step) {
    const double rate = member(step, "tokens_per_s", 0.0);
    return rate > 0 ? member(step, "tokens", 0.0) / rate : member(step, "step_s", 0.0);
}

/// Seconds that a run's process worked between two lines. A longer pause is none of its work: the clock was set forward, or the machine
/// slept. What a step says of itself is by a clock that is never set.
double worked_s(double before, const JournalEvent& event) {
    const double pause = event.time - before;
    if (pause >= 0 && pause <= most_pause_s) return pause;
    const double step = event.type == "step" ? step_seconds(event.fields) : 0.0;
    return step > 0 && step < most_pause_s ? step : 0.0;
}

/// Of a whole attempt. Where its first and last line tell of no long pause between them, and few lines lie there (a clock that was set
/// back makes a short span of many), none of the others is read.
double worked_s(const fs::path& journal) {
    constexpr std::uintmax_t few_bytes = 1 << 16;
    const auto [first, last] = journal_span(journal);
    std::error_code unknown;
    if (last >= first && last - first <= most_pause_s && fs::file_size(journal, unknown) < few_bytes) return last - first;
    double sum = 0, before = 0;
    for (JournalReader lines(journal); const auto event = lines.next();) {
        if (event->seq > 1) sum += worked_s(before, *event);
        before = event->time;
    }
    return sum;
}

/// The same, remembered for as long as the file stays as it is: a program that looks at runs every second would read the journals of all
/// their earlier attempts each time.
double known_worked_s(const fs::path& journal) {
    struct Known {
        std::uintmax_t size = 0;
        fs::file_time_type written{};
        double worked = 0;
    };
    constexpr std::size_t most_known = 100'000;
    static std::mutex mutex;
    static auto& known = *new std::map<std::string, Known>;  // threads may look while a program ends
    std::error_code no_size, no_time;
    const Known now{fs::file_size(journal, no_size), fs::last_write_time(journal, no_time), 0};
    if (no_size || no_time) return worked_s(journal);
    {
        const std::lock_guard lock(mutex);
        const auto found = known.find(journal.string());
        if (found != known.end() && found->second.size == now.size && found->second.written == now.written) return found->second.worked;
    }
    const double worked = worked_s(journal);
    const std::lock_guard lock(mutex);
    if (known.size() >= most_known) known.clear();
    known[journal.string()] = {now.size, now.written, worked};
    return worked;
}

/// Of its newest attempt.
bool has_steps(const RunState& state) { return state.total_steps > 0 && !std::isnan(state.loss); }

/// Of an attempt that made no step: it only scored what an earlier one had trained, began at its last step, or ended before its own. Steps
/// behind the one that it began at are not counted: it would have made them again.
void take_earlier_steps(const RunDirectory& run, RunState& state) {
    const std::int64_t most = state.step > 0 ? state.step : std::numeric_limits<std::int64_t>::max();
    std::vector<int> attempts = run.attempts();
    std::erase_if(attempts, [&](int attempt) { return attempt >= state.attempt; });
    for (; !attempts.empty(); attempts.pop_back()) {
        std::optional<JournalEvent> last;
        for (JournalReader journal(run.attempt_journal(attempts.back())); auto event = journal.next();)
            if (event->type == "step" && member(event->fields, "step", std::int64_t{0}) <= most) last = std::move(event);
        if (!last) continue;
        state.step = member(last->fields, "step", state.step);
        state.total_steps = member(last->fields, "total_steps", state.total_steps);
        state.loss = member(last->fields, "loss", state.loss);
        return;
    }
}

/// What others keep from us is not what is missing: a run that has ended would seem to wait for its turn.
[[noreturn]] void refuse(const fs::path& place, const std::error_code& error) {
    throw data_error("{}: cannot be looked into: {}", place.string(), errno_text(error.value()));
}

bool is_there(const fs::path& file) {
    std::error_code error;
    const bool there = fs::exists(file, error);
    if (error) refuse(file, error);
    return there;
}

void check_readable(const fs::path& folder) {
    std::error_code error;
    const fs::directory_iterator first(folder, error);
    if (error && error != std::errc::no_such_file_or_directory) refuse(folder, error);
}

fs::path exit_file(const RunDirectory& run, int attempt) { return run.attempt_journal(attempt).parent_path() / "exit.json"; }

/// Nobody holds its lock, for sure: it can be asked, and no job that SLURM knows of may hold it on another machine.
bool is_free(const RunDirectory& run) {
    if (::access((run.control() / "lock").c_str(), R_OK) != 0 || is_run_locked(run)) return false;
    const auto job = read_job(run);
    return !job || job->is_over();
}

std::uint64_t inode_of(const fs::path& folder) {
    struct stat info {};
    return ::stat(folder.c_str(), &info) == 0 ? info.st_ino : 0;
}

fs::path without_links(const fs::path& folder) {
    std::error_code error;
    fs::path whole = fs::weakly_canonical(folder, error);
    return error ? folder : whole;
}

/// A folder that was moved, or is reached by a link, is the same; some file systems number it anew, at its place. Older versions wrote
/// neither.
bool is_of_another_folder(const Json& supervisor, const RunDirectory& run) {
    const auto folder = member(supervisor, "run", std::string());
    return !folder.empty() && folder != without_links(run.folder()).string() &&
           member(supervisor, "inode", std::uint64_t{0}) != inode_of(run.folder());
}

/// Nothing where it is missing, or just removed.
std::optional<Json> read_supervisor_file(const RunDirectory& run) {
    const fs::path file = run.control() / "supervisor.json";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::nullopt;
    try {
        return parse_untrusted_json(read_file(file, 1 << 16));
    } catch (const Error&) {
        return std::nullopt;
    }
}

ProcessIdentity supervisor_of(const Json& record, const RunDirectory& run) {
    auto process = ProcessIdentity::from_json(record);
    if (is_of_another_folder(record, run)) process.pid = 0;  // it knows nothing of a copy
    return process;
}

/// It was resumed, and its supervisor has not come to it yet: what the last attempt says is history. Attempts are counted, since clocks are
/// set back, and what has an attempt under its wing may say how that ended after another has the run.
bool waits_again(const RunDirectory& run, int attempt) {
    const auto record = attempt != 0 && !run.requested("stop") ? read_supervisor_file(run) : std::nullopt;
    if (!record || member(*record, "attempts", -1) < attempt) return false;
    const ProcessIdentity supervisor = supervisor_of(*record, run);
    return supervisor.on_this_machine() && supervisor.alive();
}

/// Of an attempt that ended with 0: its worker did not say that it was done, or what it said is behind a damaged line.
std::string without_last_word(const RunDirectory& run, int attempt, std::uint64_t offset, std::int64_t next_seq) {
    JournalReader rest(run.attempt_journal(attempt), offset, next_seq);
    while (rest.next()) {
    }
    if (rest.problem().empty()) return "the worker ended without saying that it was done";
    return fmt::format("its journal is damaged at byte {} ({}), and what stands behind that is not believed; {}", rest.valid_bytes(),
                       rest.problem(), way_on(run.info()));
}

/// Its worker loads: it has the run's lock and a log, and its attempt is not there yet. It does not need whoever started it.
bool is_being_started(const RunDirectory& run, int attempt) {
    std::error_code ignored;
    return fs::exists(run.attempt_log(attempt + 1).parent_path(), ignored) && is_run_locked(run);
}

void take_as_started(RunState& state) {
    state.phase = RunPhase::running;
    state.doing = "start";
    state.cause.clear();
    state.exit_code = 0;
}

}  // namespace

std::string_view run_phase_name(RunPhase phase) {
    switch (phase) {
        case RunPhase::queued:
            return "queued";
        case RunPhase::running:
            return "running";
        case RunPhase::silent:
            return "silent";
        case RunPhase::stopped:
            return "stopped";
        case RunPhase::failed:
            return "failed";
        case RunPhase::dead:
            return "dead";
        case RunPhase::done:
            return "done";
    }
    return "";
}

bool is_over(RunPhase phase) {
    return phase == RunPhase::stopped || phase == RunPhase::failed || phase == RunPhase::dead || phase == RunPhase::done;
}

void write_worker_exit(const RunDirectory& run, int attempt, const WorkerExit& exit) {
    const fs::path file = exit_file(run, attempt);
    make_directories(file.parent_path());
    write_file_atomic(file, Json{{"code", exit.code}, {"signal", exit.signal}, {"message", exit.message}}.dump(
                                -1, ' ', false, Json::error_handler_t::replace) +
                                "\n");
}

std::optional<WorkerExit> read_worker_exit(const RunDirectory& run, int attempt) {
    const fs::path file = exit_file(run, attempt);
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::nullopt;
    try {
        const Json json = parse_untrusted_json(read_file(file, 1 << 20));
        return WorkerExit{member(json, "code", 5), member(json, "signal", 0), member(json, "message", std::string())};
    } catch (const Error& error) {  // it has ended, whatever the file would say; the other runs are none the worse for it
        return WorkerExit{static_cast<int>(ExitCode::failed), 0, fmt::format("how it ended cannot be read: {}", error.what())};
    }
}

void write_supervisor(const RunDirectory& run, const ProcessIdentity& process) {
    make_directories(run.control());
    const std::vector<int> attempts = run.attempts();
    Json json = process.to_json();
    json["attempts"] = attempts.empty() ? 0 : attempts.back();
    json["run"] = without_links(run.folder()).string();
    json["inode"] = inode_of(run.folder());
    write_file_atomic(run.control() / "supervisor.json", json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<ProcessIdentity> read_supervisor(const RunDirectory& run) {
    const auto record = read_supervisor_file(run);
    return record ? std::optional(supervisor_of(*record, run)) : std::nullopt;
}

/// By a probe file beside it, which has "now" there; by this machine's clock where none may be made, for good.
double seconds_since_written(const RunDirectory& run, const fs::path& file) {
    struct stat written {
    }, probe{};
    if (::stat(file.c_str(), &written) != 0) return -1;
    std::string name = (run.control() / ".probe-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) {
        const bool for_good = errno == EROFS || errno == EACCES || errno == EPERM || errno == ENOENT || errno == ENOTDIR;
        return for_good ? static_cast<double>(::time(nullptr) - written.st_mtime) : -1;
    }
    const bool known = ::write(descriptor, "x", 1) == 1 && ::fstat(descriptor, &probe) == 0;
    ::close(descriptor);
    ::unlink(name.c_str());
    return known ? static_cast<double>(probe.st_mtime - written.st_mtime) : -1;
}

RunFollower::RunFollower(const RunDirectory& run) : run_(run) { state_.loss = std::numeric_limits<double>::quiet_NaN(); }

void RunFollower::begin(int attempt) {
    const std::vector<int> all = run_.attempts();
    active_ = 0;
    for (const int earlier : all) {
        if (earlier >= attempt) break;
        active_ += known_worked_s(run_.attempt_journal(earlier));
    }
    const double started = state_.started;
    state_ = RunState{};
    state_.loss = std::numeric_limits<double>::quiet_NaN();
    state_.started = started;
    attempt_ = attempt;
    offset_ = 0;
    next_seq_ = 1;
    process_ = {};
    locked_ = ended_ = false;
    with_earlier_steps_.reset();
    slowest_gap_ = rate_since_ = 0;
}

void RunFollower::update(const std::function<void(const JournalEvent&)>& seen) {
    const std::vector<int> all = run_.attempts();
    if (all.empty()) return check_readable(run_.folder() / "journal");
    if (all.back() != attempt_) begin(all.back());
    state_.attempts = static_cast<int>(all.size());
    state_.attempt = attempt_;
    const fs::path file = run_.attempt_journal(attempt_);
    if (is_there(file)) {
        JournalReader journal(file, offset_, next_seq_);
        while (const auto event = journal.next()) {
            offset_ = journal.valid_bytes();
            take(*event);
            if (seen) seen(*event);
        }
    }
    if (has_steps(state_)) return with_earlier_steps_.reset();
    if (with_earlier_steps_) return;
    with_earlier_steps_ = state_;
    take_earlier_steps(run_, *with_earlier_steps_);
}

void RunFollower::take_step(const JournalEvent& event) {
    state_.step = member(event.fields, "step", state_.step);
    state_.total_steps = member(event.fields, "total_steps", state_.total_steps);
    state_.loss = member(event.fields, "loss", state_.loss);
    if (rate_since_ == 0) {
        rate_since_ = event.time;
        rate_from_ = state_.step;
    } else if (event.time > rate_since_) {
        state_.steps_per_s = (static_cast<double>(state_.step) - static_cast<double>(rate_from_)) / (event.time - rate_since_);
    }
}

void RunFollower::take(const JournalEvent& event) {
    next_seq_ = event.seq + 1;
    if (state_.started == 0) state_.started = event.time;
    if (state_.last_sign > 0) {
        const double pause = event.time - state_.last_sign;
        slowest_gap_ = std::max(slowest_gap_, pause);
        active_ += worked_s(state_.last_sign, event);
        if (pause < 0 || pause > most_pause_s) rate_since_ = 0;  // of two clocks no rate
    }
    state_.last_sign = event.time;
    state_.active_s = active_;
    if (event.type == "attempt_started") {
        process_ = ProcessIdentity::from_json(event.fields);
        locked_ = member(event.fields, "locked", false);
        state_.step = member(event.fields, "from_step", std::int64_t{0});
        with_earlier_steps_.reset();
    } else if (event.type == "step") {
        take_step(event);
    } else if (event.type == "phase" || event.type == "stage_started") {
        state_.doing = member(event.fields, event.type == "phase" ? "name" : "stage", state_.doing);
        state_.total_steps = member(event.fields, "total_steps", state_.total_steps);
        rate_since_ = 0;
    } else if (event.type == "finished" || event.type == "stopped" || event.type == "failed") {
        ended_ = true;
        state_.phase = event.type == "finished" ? RunPhase::done : event.type == "stopped" ? RunPhase::stopped : RunPhase::failed;
        state_.exit_code = event.type == "failed" ? member(event.fields, "code", 5) : event.type == "stopped" ? 6 : 0;
        if (event.type == "failed") state_.cause = member(event.fields, "message", std::string("it did not say why"));
        if (event.type == "stopped") state_.cause = stop_cause(event, state_.step);
    }
}

/// The attempt's journal does not say how it ended.
void RunFollower::judge_open_attempt(RunState& state) const {
    if (const auto exit = read_worker_exit(run_, attempt_)) {
        state.exit_code = exit->signal ? static_cast<int>(ExitCode::failed) : exit->code;
        state.phase = exit->signal                                        ? RunPhase::dead
                      : exit->code == static_cast<int>(ExitCode::stopped) ? RunPhase::stopped
                                                                          : RunPhase::failed;
        const std::string said = exit->message.empty() ? "" : ": " + exit->message;
        if (exit->signal)
            state.cause = fmt::format("killed by signal {} ({}){}", exit->signal, ::strsignal(exit->signal),
                                      exit->signal == 9 ? "; was memory short?" : "");
        else
            state.cause = exit->code == 0 ? without_last_word(run_, attempt_, offset_, next_seq_) + said
                                          : fmt::format("exit code {}{}", exit->code, said);
        if (state.phase == RunPhase::failed && state.exit_code == 0) state.exit_code = static_cast<int>(ExitCode::failed);
        return;
    }
    state.phase = RunPhase::running;
    if (profile_of_mirror(run_)) return judge_quiet_attempt(state);
    if (process_.host.empty()) return judge_unbegun_attempt(state);
    const bool seen = process_.on_this_machine(), container = !seen && locked_ && process_.shares_kernel();
    if (!seen && !container) return judge_quiet_attempt(state);
    const bool alive = seen ? process_.alive() : is_run_locked(run_);
    const bool copied = alive && seen && locked_ && is_free(run_);
    if (alive && !copied) return;
    state.phase = RunPhase::dead;
    state.exit_code = static_cast<int>(ExitCode::failed);
    state.cause = fmt::format("{}; {}",
                              copied ? fmt::format("a copy of a run that process {} is running elsewhere", process_.pid)
                                     : fmt::format("its process ({}) is gone without a word", process_.pid),
                              way_on(run_.info()));
}

/// Between making the attempt's folder and its first line; or its process ended there.
void RunFollower::judge_unbegun_attempt(RunState& state) const {
    const double quiet = seconds_since_written(run_, run_.attempt_journal(attempt_).parent_path());
    if (quiet < least_silence_s || is_run_locked(run_)) return;
    state.phase = RunPhase::dead;
    state.exit_code = static_cast<int>(ExitCode::failed);
    state.cause = "its process is gone before its first word; " + way_on(run_.info());
}

/// Its process cannot be looked for from here.
void RunFollower::judge_quiet_attempt(RunState& state) const {
    const double quiet = seconds_since_written(run_, run_.attempt_journal(attempt_));
    if (quiet < std::clamp(silence_factor * slowest_gap_, least_silence_s, most_silence_s)) return;
    state.phase = RunPhase::silent;
    const std::string host = process_.host.empty() ? "its machine" : process_.host;
    state.cause = fmt::format("no sign from {} for {} (its longest pause before was {})", host, format_duration(quiet),
                              format_duration(slowest_gap_));
    state.cause += profile_of_mirror(run_) ? "; faceter follow asks for more"
                                           : "; where its process is known to be gone: faceter resume --take-over " + run_.info().id;
}

/// There is no attempt yet.
void RunFollower::judge_waiting(RunState& state) const {
    const auto supervisor = read_supervisor(run_);
    const bool gone = supervisor && supervisor->on_this_machine() && !supervisor->alive();
    if (gone && is_being_started(run_, 0)) {
        take_as_started(state);
    } else if (run_.requested("stop")) {
        state.phase = RunPhase::stopped;
        state.exit_code = static_cast<int>(ExitCode::stopped);
        state.cause = "stopped before it began";
    } else if (gone) {
        state.phase = RunPhase::dead;
        state.exit_code = static_cast<int>(ExitCode::failed);
        state.cause = "what should start it is gone; start it with: faceter resume " + run_.info().id;
    } else if (!supervisor && !read_launch(run_) && seconds_since_written(run_, run_.folder() / "run.json") > most_making_s) {
        state.phase = RunPhase::dead;
        state.exit_code = static_cast<int>(ExitCode::failed);
        state.cause =
            run_.info().is_imported() ? way_on(run_.info()) : "nothing was started for it; start it with: faceter resume " + run_.info().id;
    }
}

RunState RunFollower::state() const {
    RunState state = state_;
    if (!ended_) attempt_ != 0 ? judge_open_attempt(state) : judge_waiting(state);
    if (with_earlier_steps_ && with_earlier_steps_->total_steps > 0) {
        state.loss = with_earlier_steps_->loss;
        if (is_over(state.phase)) state.step = with_earlier_steps_->step, state.total_steps = with_earlier_steps_->total_steps;
    }
    if (state.phase == RunPhase::done) return state;
    if (is_over(state.phase) && waits_again(run_, attempt_)) {
        state.phase = RunPhase::queued;
        state.cause.clear();
    } else if (is_over(state.phase) && is_being_started(run_, attempt_) && !read_launch(run_)) {
        take_as_started(state);
    }
    if (is_being_submitted(run_)) {
        state.phase = RunPhase::queued;
        state.cause = "is being given to SLURM; what came of it is not known yet (faceter list asks)";
        return state;
    }
    if (const auto job = read_job(run_))
        apply_job(*job, {ended_, run_.requested("stop"), journal_is_newer_than_job(run_, attempt_)}, state);
    return state;
}

RunState read_state(const RunDirectory& run) {
    RunFollower follower(run);
    follower.update();
    return follower.state();
}

}  // namespace faceter
