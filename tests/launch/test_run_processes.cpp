#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "common/error.h"
#include "launch/run_processes.h"
#include "launch/slurm.h"
#include "launch/supervisor.h"
#include "record/state.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// A run's worker processes, here shell scripts, as a supervisor sees them: how they end says what the run's record says.
class TestRunProcesses : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    RunDirectory new_run() const { return sample_run(folder_.path()); }
    /// A worker that is this script; $2 is the run's folder.
    std::string worker(const std::string& script) const {
        const fs::path file = folder_.path() / "worker";
        write_file_atomic(file, "#!/bin/sh\n" + script + "\n");
        fs::permissions(file, fs::perms(0700));
        return file.string();
    }
    static std::string ready(const std::string& then) { return "touch \"$2/ready-$RANK\"\n" + then; }
    static bool all_ready(const RunDirectory& run, int ranks) {
        for (int rank = 0; rank < ranks; ++rank)
            if (!fs::exists(run.folder() / fmt::format("ready-{}", rank))) return false;
        return true;
    }
    static void reap(RunProcesses& processes) {
        int status = 0;
        for (pid_t child; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) processes.ended(child, status);
    }
    /// What a supervisor makes of the processes: told to stop when all of them are ready, with their end in the run's record.
    static WorkerExit stopped(const RunDirectory& run, const std::string& worker, int ranks) {
        RunProcesses processes(run, worker, ranks);
        [&] { QTRY_VERIFY(all_ready(run, ranks)); }();
        processes.stop();
        return ended(run, processes, ranks);
    }
    static WorkerExit ended(const RunDirectory& run, RunProcesses& processes, int ranks) {
        [&] { QTRY_VERIFY((reap(processes), processes.over())); }();
        for (int rank = 0; rank < ranks; ++rank)
            if (const pid_t hung = processes.process(rank)) ::kill(hung, SIGKILL);
        if (!processes.over()) return {-1, 0, "it hung"};
        const std::vector<int> attempts = run.attempts();
        write_worker_exit(run, attempts.empty() ? processes.attempt() : attempts.back(), processes.exit());
        return processes.exit();
    }
    /// It has stopped, and another attempt at it can begin.
    static void require_stopped(const RunDirectory& run) {
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::stopped);
        QCOMPARE(state.exit_code, static_cast<int>(ExitCode::stopped));
        QVERIFY(!is_run_locked(run));
        prepare_resume({run});
        QVERIFY(!run.requested("stop"));
    }

  private Q_SLOTS:
    void a_stop_that_meets_workers_which_still_load_leaves_a_run_that_goes_on_data() {
        QTest::addColumn<int>("ranks");
        for (const int ranks : {1, 2}) QTest::addRow("%d", ranks) << ranks;
    }
    void a_stop_that_meets_workers_which_still_load_leaves_a_run_that_goes_on() {
        QFETCH(int, ranks);
        const RunDirectory run = new_run();
        const WorkerExit exit = stopped(run, worker(ready("exec sleep 1000")), ranks);
        QCOMPARE(exit.code, static_cast<int>(ExitCode::stopped));
        QCOMPARE(exit.signal, 0);
        QCOMPARE(exit.message, std::string("stopped while it started"));
        require_stopped(run);
        RunProcesses next(run, worker("exit 0"), ranks);
        QCOMPARE(next.attempt(), 2);
        QCOMPARE(ended(run, next, ranks).code, 0);
    }

    /// Over several nodes srun hands their signal on as a shell does.
    void a_stop_that_meets_workers_of_several_nodes_which_still_load_leaves_a_run_that_goes_on() {
        for (const int signal : {SIGTERM, SIGUSR1}) {
            const RunDirectory run = new_run();
            end_attended_attempt(run.folder(), begin_attended_attempt(run.folder()), 128 + signal);
            require_stopped(run);
        }
        const RunDirectory run = new_run();
        end_attended_attempt(run.folder(), begin_attended_attempt(run.folder()), 128 + SIGSEGV);
        QCOMPARE(read_state(run).phase, RunPhase::dead);
    }

    void what_keeps_processes_from_being_started_is_said_of_the_run() {
        const RunDirectory run = new_run();
        const QByteArray before = qgetenv("TMPDIR");
        qputenv("TMPDIR", "/nonexistent/place");
        const auto restore = qScopeGuard([&] { before.isEmpty() ? qunsetenv("TMPDIR") : qputenv("TMPDIR", before); });
        EXPECT_ERROR(RunProcesses(run, worker("exit 0"), 2), "/nonexistent/place: no folder for temporary files");
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::failed);
        QVERIFY2(state.cause.find("/nonexistent/place: no folder for temporary files") != std::string::npos, state.cause.c_str());
        QVERIFY(!is_run_locked(run));
    }

    void a_run_that_another_has_done_meanwhile_is_not_run_again() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 5, "finished");
        EXPECT_ERROR(RunProcesses(run, worker("exit 0"), 1), "has run it to its end");
        QCOMPARE(run.attempts().size(), std::size_t{1});
        QCOMPARE(read_state(run).phase, RunPhase::done);
        QVERIFY(!is_run_locked(run));
    }

    /// Up already, it looks for a stop itself.
    void a_worker_that_ends_itself_before_its_first_step_has_stopped() {
        const RunDirectory run = new_run();
        const std::string script = "trap 'echo \"stopped while fetching a model\"; exit 6' TERM\n" + ready("while :; do sleep 0.05; done");
        const WorkerExit exit = stopped(run, worker(script), 1);
        QCOMPARE(exit.code, static_cast<int>(ExitCode::stopped));
        QCOMPARE(exit.message, std::string("stopped while fetching a model"));
        require_stopped(run);
    }

    void ranks_that_lose_the_one_that_has_stopped_are_not_to_blame_data() {
        QTest::addColumn<int>("stopping");
        for (const int stopping : {0, 1}) QTest::addRow("rank %d stops", stopping) << stopping;
    }
    void ranks_that_lose_the_one_that_has_stopped_are_not_to_blame() {
        QFETCH(int, stopping);
        const RunDirectory run = new_run();
        const std::string script = fmt::format("trap 'test $RANK = {} && exit 6; exit 8' TERM\n", stopping);
        QCOMPARE(stopped(run, worker(script + ready("while :; do sleep 0.05; done")), 2).code, static_cast<int>(ExitCode::stopped));
        require_stopped(run);
    }

    void a_rank_that_fails_while_the_run_stops_is_to_blame() {
        const RunDirectory run = new_run();
        const std::string script = "trap 'test $RANK = 1 && exit 7; exit 8' TERM\n" + ready("while :; do sleep 0.05; done");
        const WorkerExit exit = stopped(run, worker(script), 2);
        QCOMPARE(exit.code, static_cast<int>(ExitCode::out_of_memory));
        QVERIFY2(exit.message.starts_with("rank 1 of 2 ended with exit code 7"), exit.message.c_str());
        QCOMPARE(read_state(run).phase, RunPhase::failed);
    }

    void a_worker_that_somebody_else_ends_is_dead() {
        const RunDirectory run = new_run();
        RunProcesses processes(run, worker("kill -TERM $$; exec sleep 1000"), 1);
        const WorkerExit exit = ended(run, processes, 1);
        QCOMPARE(exit.code, static_cast<int>(ExitCode::failed));
        QCOMPARE(exit.signal, SIGTERM);
        QCOMPARE(read_state(run).phase, RunPhase::dead);
    }

    /// As a job's element does it on its node.
    void a_stop_that_is_asked_for_in_the_runs_folder_while_its_worker_loads_is_one() {
        const RunDirectory run = new_run();
        const std::string script = worker("mkdir -p \"$2/control\"\ntouch \"$2/control/stop\"\nexec sleep 1000");
        qputenv("FACETER_WORKER", script.c_str());
        const auto back = qScopeGuard([] { qunsetenv("FACETER_WORKER"); });
        QCOMPARE(attend_run(run.folder(), 1), static_cast<int>(ExitCode::stopped));
        require_stopped(run);
    }
};

FACETER_TEST(TestRunProcesses)
#include "test_run_processes.moc"
