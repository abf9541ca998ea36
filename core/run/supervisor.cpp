#include "run/supervisor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <thread>

#include "common/cancel.h"
#include "common/error.h"
#include "common/strings.h"
#include "run/state.h"
#include "run/store.h"

namespace faceter {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);
constexpr std::size_t log_tail_bytes = 8192;

/// The last line of a worker's log that says something: what a user would look for first.
std::string last_log_line(const fs::path& log) {
    try {
        const std::string text = read_file(log, std::uint64_t(1) << 31);
        const std::string_view tail = std::string_view(text).substr(text.size() > log_tail_bytes ? text.size() - log_tail_bytes : 0);
        const auto lines = split(tail, '\n');
        for (auto line = lines.rbegin(); line != lines.rend(); ++line)
            if (!trim(*line).empty()) return std::string(trim(*line)).substr(0, 500);
    } catch (const std::exception&) {
    }
    return "";
}

/// logs/<n>, exclusively: n is what FACETER_ATTEMPT hands to the worker.
int take_log_folder(const RunDirectory& run) {
    const std::vector<int> before = run.attempts();
    int attempt = before.empty() ? 1 : before.back() + 1;
    make_directories(run.folder() / "logs");
    std::error_code error;
    while (!fs::create_directory(run.attempt_log(attempt).parent_path(), error)) {
        if (error) throw failure("{}: cannot create folder: {}", run.attempt_log(attempt).parent_path().string(), error.message());
        ++attempt;
    }
    return attempt;
}

/// One worker a run: the lock is the worker's own for as long as it lives, even when the supervisor goes first.
int lock_run(const RunDirectory& run) {
    make_directories(run.control());
    const int lock = ::open((run.control() / "lock").c_str(), O_RDWR | O_CREAT, 0666);
    if (lock < 0) throw failure("{}: cannot create: {}", (run.control() / "lock").string(), errno_text(errno));
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return lock;   // a file system without locks has to do without
    ::close(lock);
    throw failure("{}: another worker is running it", run.info().id);
}

[[noreturn]] void exec_worker(const std::string& worker, const fs::path& run, int log, int attempt) {
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) ::signal(signal, SIG_DFL);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::setenv("FACETER_ATTEMPT", std::to_string(attempt).c_str(), 1);
    const std::string path = run.string();
    const char* const arguments[] = {worker.c_str(), "run", path.c_str(), nullptr};
    ::execv(worker.c_str(), const_cast<char* const*>(arguments));
    fmt::print(stderr, "{}: cannot start: {}\n", worker, errno_text(errno));
    std::fflush(stderr);
    ::_exit(static_cast<int>(ExitCode::failed));
}

class Supervisor {
  public:
    explicit Supervisor(Queue queue) : queue_(std::move(queue)) {
        for (const fs::path& run : queue_.runs) waiting_.push_back(run);
    }

    void work() {
        for (const fs::path& folder : queue_.runs) attempt_quietly([&] { write_supervisor(RunDirectory(folder), ProcessIdentity::own()); });
        while (!waiting_.empty() || !working_.empty()) {
            if (stop_requested() != StopRequest::none) stop_all();
            while (!waiting_.empty() && static_cast<int>(working_.size()) < queue_.jobs) start_next();
            reap();
            hand_on_stops();
            if (!working_.empty()) std::this_thread::sleep_for(poll_interval);
        }
    }

  private:
    struct Job {
        fs::path run;
        int attempt = 0;
        bool told_to_stop = false;
    };

    /// One run's trouble must not end the others.
    template <typename Body>
    bool attempt_quietly(Body body) {
        try {
            body();
            return true;
        } catch (const std::exception& error) {
            fmt::print(stderr, "{} {}\n", utc_now(), error.what());
            std::fflush(stderr);
            return false;
        }
    }

    void start_next() {
        const fs::path folder = waiting_.front();
        waiting_.pop_front();
        if (!attempt_quietly([&] { start(RunDirectory(folder)); })) record_done(folder, static_cast<int>(ExitCode::failed));
    }

    void start(const RunDirectory& run) {
        if (run.requested("stop")) return record_done(run.folder(), static_cast<int>(ExitCode::stopped));
        const int lock = lock_run(run);
        const int attempt = take_log_folder(run);
        const fs::path log_path = run.attempt_log(attempt);
        const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (log < 0) throw failure("{}: cannot create: {}", log_path.string(), errno_text(errno));
        const pid_t child = ::fork();
        if (child == 0) exec_worker(queue_.worker, run.folder(), log, attempt);
        ::close(log);
        ::close(lock);
        if (child < 0) throw failure("cannot start a process: {}", errno_text(errno));
        working_[child] = {run.folder(), attempt, false};
    }

    void reap() {
        int status = 0;
        for (pid_t child; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            const auto job = working_.find(child);
            if (job == working_.end()) continue;
            finish(job->second, status);
            working_.erase(job);
        }
    }

    void finish(const Job& job, int status) {
        WorkerExit exit;
        exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        exit.code = exit.signal ? static_cast<int>(ExitCode::failed) : WEXITSTATUS(status);
        attempt_quietly([&] {
            const RunDirectory run(job.run);
            if (exit.code != 0) exit.message = last_log_line(run.attempt_log(job.attempt));
            const std::vector<int> attempts = run.attempts();
            write_worker_exit(run, attempts.empty() ? job.attempt : std::max(job.attempt, attempts.back()), exit);
            Store(run.project()).ingest(run);
        });
        record_done(job.run, exit.code);
    }

    void record_done(const fs::path& run, int code) {
        attempt_quietly([&] { write_file_atomic(queue_.folder / "done" / run.filename(), std::to_string(code) + "\n"); });
    }

    void stop_all() {
        clear_stop_request();
        for (const fs::path& run : waiting_) attempt_quietly([&] { RunDirectory(run).request("stop"); });
        for (const auto& [child, job] : working_) attempt_quietly([&] { RunDirectory(job.run).request("stop"); });
    }

    void hand_on_stops() {
        for (auto& [child, job] : working_) {
            std::error_code ignored;
            if (job.told_to_stop || !fs::exists(job.run / "control" / "stop", ignored)) continue;
            ::kill(child, SIGTERM);
            job.told_to_stop = true;
        }
    }

    Queue queue_;
    std::deque<fs::path> waiting_;
    std::map<pid_t, Job> working_;
};

}  // namespace

int supervise(const fs::path& queue_folder) {
    Queue queue = Queue::open(queue_folder);
    const int lock = ::open((queue.folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) throw failure("{}: another supervisor works on it", queue.folder.string());
    ::signal(SIGHUP, SIG_IGN);
    install_stop_handlers();
    Supervisor(queue).work();
    write_file_atomic(queue.folder / "ended", utc_now() + "\n");
    return 0;
}

}  // namespace faceter
