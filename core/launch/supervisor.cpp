#include "launch/supervisor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>

#include "common/cancel.h"
#include "common/error.h"
#include "common/lock_file.h"
#include "common/printable.h"
#include "common/strings.h"
#include "launch/queue_order.h"
#include "launch/run_processes.h"
#include "record/state.h"
#include "store/store.h"
#include "store/store_errors.h"

namespace faceter {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(100);
constexpr std::size_t room_bytes = 64 << 10;
constexpr auto store_wait = std::chrono::milliseconds(500);  // runs wait meanwhile, and whoever reads the store next takes all of them in

bool is_full(const fs::path& folder) {
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    return !error && space.available < room_bytes;
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
            drop_stopped();
            while (may_start()) start_next();
            reap();
            hand_on_stops();
            if (!working_.empty() || !waiting_.empty()) std::this_thread::sleep_for(poll_interval);
        }
        give_room();
    }

  private:
    /// One run's trouble must not end the others.
    template <typename Body>
    bool attempt_quietly(Body body) {
        try {
            body();
            return true;
        } catch (const std::exception& error) {
            say(stderr, "{} {}\n", utc_now(), error.what());
            std::fflush(stderr);
            return false;
        }
    }

    bool may_start() const { return !waiting_.empty() && static_cast<int>(working_.size()) < queue_.jobs && !is_paused(queue_); }

    /// What waits and was asked to stop leaves at once, also while the queue is paused.
    void drop_stopped() {
        std::error_code ignored;
        std::erase_if(waiting_, [&](const fs::path& run) {
            const bool stopped = fs::exists(run / "control" / "stop", ignored);
            if (stopped) record_done(run, static_cast<int>(ExitCode::stopped));
            return stopped;
        });
    }

    void start_next() {
        attempt_quietly([&] { waiting_ = in_queue_order(queue_, waiting_); });
        const fs::path folder = waiting_.front();
        waiting_.erase(waiting_.begin());
        if (attempt_quietly([&] { start(RunDirectory(folder)); })) return;
        ExitCode code = ExitCode::failed;
        attempt_quietly([&] {
            const RunDirectory run(folder);
            if (read_state(run).phase == RunPhase::done) code = ExitCode::done;  // by another queue
            let_go(run);
        });
        record_done(folder, static_cast<int>(code));
    }

    /// It waits for this process no more, and its state must not say so: another may start it.
    static void let_go(const RunDirectory& run) {
        if (run.attempts().empty()) return;  // nothing tells that it failed: that what should start it is gone must be seen
        const auto supervisor = read_supervisor(run);
        if (supervisor && supervisor->to_json() == ProcessIdentity::own().to_json()) remove_file(run.control() / "supervisor.json");
    }

    /// Where it goes there is room on a full disk, so that how a run ended can be written down all the same.
    fs::path room() const { return queue_.folder / "room"; }
    void keep_room() {
        std::error_code ignored;
        if (!fs::exists(room(), ignored)) attempt_quietly([&] { write_file_atomic(room(), std::string(room_bytes, ' ')); });
    }
    void give_room() {
        attempt_quietly([&] { remove_file(room()); });
    }

    void start(const RunDirectory& run) {
        if (run.requested("stop")) return record_done(run.folder(), static_cast<int>(ExitCode::stopped));
        if (read_state(run).phase == RunPhase::done) return record_done(run.folder(), 0);  // by another queue, while it waited
        keep_room();
        working_.push_back(std::make_unique<RunProcesses>(run, queue_.worker, queue_.devices));
    }

    void reap() {
        int status = 0;
        for (pid_t child; (child = ::waitpid(-1, &status, WNOHANG)) > 0;)
            for (const auto& job : working_)
                if (job->ended(child, status)) break;
        for (const auto& job : working_) job->over() ? finish(*job) : job->end_stragglers();
        std::erase_if(working_, [](const auto& job) { return job->over(); });
    }

    void finish(const RunProcesses& job) {
        WorkerExit exit = job.exit();
        int code = exit.code;
        const bool full = is_full(job.run());
        if (full) {
            give_room();
            if (code == static_cast<int>(ExitCode::failed) && exit.message.empty())  // its log had no room either
                exit.message = fmt::format("the disk of {} is full; free some space, and go on with faceter resume", job.run().string());
        }
        attempt_quietly([&] {
            const RunDirectory run(job.run());
            const std::vector<int> attempts = run.attempts();
            write_worker_exit(run, attempts.empty() ? job.attempt() : std::max(job.attempt(), attempts.back()), exit);
            if (read_state(run).phase == RunPhase::done) code = 0;  // its record is whole: what happened behind that changes nothing
            if (!full) Store(run.project()).ingest(run);            // it would take the room that is left
        });
        record_done(job.run(), code);
    }

    void record_done(const fs::path& run, int code) {
        attempt_quietly([&] { write_file_atomic(queue_.folder / "done" / run.filename(), std::to_string(code) + "\n"); });
    }

    void stop_all() {
        clear_stop_request();
        for (const fs::path& run : waiting_) attempt_quietly([&] { RunDirectory(run).request("stop"); });
        for (const auto& job : working_) attempt_quietly([&] { RunDirectory(job->run()).request("stop"); });
    }

    void hand_on_stops() {
        std::error_code ignored;
        for (const auto& job : working_)
            if (fs::exists(job->run() / "control" / "stop", ignored)) job->stop();
    }

    Queue queue_;
    std::vector<fs::path> waiting_;
    std::vector<std::unique_ptr<RunProcesses>> working_;
};

}  // namespace

int supervise(const fs::path& queue_folder) {
    Queue queue = Queue::open(queue_folder);
    LockFile lock(queue.lock_file());
    const LockOutcome outcome = lock.try_lock();
    // Where locks hold, supervised() would now see our own.
    if (outcome == LockOutcome::held || (outcome == LockOutcome::unsupported && queue.supervised()))
        throw failure("{}: another supervisor works on it", queue.folder.string());
    if (outcome == LockOutcome::unsupported) write_file_atomic(queue.name_file(), ProcessIdentity::own().to_json().dump() + "\n");
    ::signal(SIGHUP, SIG_IGN);
    install_stop_handlers();
    set_store_wait(store_wait);
    // Threads of runs side by side that spin while they wait take the cores from those that they wait for.
    if (queue.jobs > 1) ::setenv("OMP_WAIT_POLICY", "passive", 0);
    Supervisor(queue).work();
    write_file_atomic(queue.folder / "ended", utc_now() + "\n");
    return 0;
}

}  // namespace faceter
