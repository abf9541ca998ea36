#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/hash.h"
#include "launch/supervisor.h"
#include "record/launch.h"
#include "record/run_lock.h"
#include "record/state.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A journal whose only line says that this process began it.
void write_attempt_of(const RunDirectory& run, const ProcessIdentity& process, bool locked = false) {
    const fs::path file = run.attempt_journal(run.begin_attempt());
    Json line = {{"seq", 1}, {"t", 100.0}, {"event", "attempt_started"}};
    line.update(process.to_json());
    line["locked"] = locked;
    std::string body = line.dump();
    body.pop_back();
    write_file_atomic(file, body + fmt::format(",\"crc\":\"{:08x}\"}}\n", crc32c(body)));
}

/// As if it had been written an hour ago.
void let_time_pass(const RunDirectory& run) {
    const timespec old[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
    ::utimensat(AT_FDCWD, run.attempt_journal(1).c_str(), old, 0);
}

/// A process of this machine that has ended.
ProcessIdentity ended_process() {
    ProcessIdentity identity = ProcessIdentity::own();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    identity.pid = child;
    return identity;
}

/// One of another machine.
ProcessIdentity far_process() { return {"elsewhere.invalid", 1, "0000-boot:1", "another machine", "pid:[1]"}; }

}  // namespace

class TestTakeOver : public QObject {
    Q_OBJECT

    TemporaryDirectory folder_;
    RunDirectory new_run() { return sample_run(folder_.path()); }
    RunDirectory silent_run() {
        const RunDirectory run = new_run();
        write_attempt_of(run, far_process());
        let_time_pass(run);
        return run;
    }

  private Q_SLOTS:
    void a_machine_that_was_renamed_still_sees_that_its_process_is_gone() {
        const RunDirectory dead = new_run(), alive = new_run();
        ProcessIdentity renamed = ended_process();
        renamed.host = "its-old-name.invalid";
        write_attempt_of(dead, renamed);
        QCOMPARE(read_state(dead).phase, RunPhase::dead);
        prepare_resume({dead});
        ProcessIdentity own = ProcessIdentity::own();
        own.host = "its-old-name.invalid";
        write_attempt_of(alive, own);
        QCOMPARE(read_state(alive).phase, RunPhase::running);
    }
    void the_same_name_on_another_machine_is_another_machine() {
        const RunDirectory run = new_run();
        ProcessIdentity twin = far_process();
        twin.host = ProcessIdentity::own().host;
        if (ProcessIdentity::own().machine.empty()) QSKIP("this machine has no /etc/machine-id");
        QVERIFY(!twin.on_this_machine());
        write_attempt_of(run, twin);
        QCOMPARE(read_state(run).phase, RunPhase::running);  // and not dead because no process here has its number
    }
    void a_machine_that_was_started_anew_has_lost_its_processes() {
        ProcessIdentity before = ProcessIdentity::own();
        before.start = "0000-boot:1";
        QVERIFY(before.on_this_machine());
        QVERIFY(!before.alive());
    }
    void of_another_container_the_lock_tells() {
        const RunDirectory run = new_run();
        ProcessIdentity container = ProcessIdentity::own();
        container.host = "0123456789ab";
        container.pid_namespace = "pid:[1]";
        QVERIFY(!container.on_this_machine() && container.shares_kernel());
        write_attempt_of(run, container, true);
        {
            const RunLock lock(run);
            QCOMPARE(read_state(run).phase, RunPhase::running);
        }
        QCOMPARE(read_state(run).phase, RunPhase::dead);
    }
    void an_attempt_without_a_word_is_dead_after_a_while_unless_its_lock_is_held() {
        const RunDirectory run = new_run();
        const fs::path attempt = run.attempt_journal(run.begin_attempt()).parent_path();
        QCOMPARE(read_state(run).phase, RunPhase::running);
        fs::last_write_time(attempt, fs::file_time_type::clock::now() - std::chrono::minutes(5));
        {
            const RunLock lock(run);
            QCOMPARE(read_state(run).phase, RunPhase::running);
        }
        QCOMPARE(read_state(run).phase, RunPhase::dead);
        prepare_resume({run});
    }
    void a_silent_run_can_be_taken_over_and_then_goes_on() {
        const RunDirectory run = silent_run();
        QCOMPARE(read_state(run).phase, RunPhase::silent);
        EXPECT_ERROR(prepare_resume({run}), "elsewhere.invalid", "--take-over");
        QVERIFY(take_over_question(run).find("elsewhere.invalid") != std::string::npos);
        take_over(run);
        QCOMPARE(read_state(run).phase, RunPhase::failed);
        QVERIFY(read_state(run).cause.find("took it over") != std::string::npos);
        prepare_resume({run});
        QVERIFY(take_over_question(run).empty());
    }
    void a_silent_run_that_was_taken_over_can_be_deleted() {
        const RunDirectory run = silent_run();
        const Project project(folder_.path(), false);
        EXPECT_ERROR(project.trash(run.info().id), "elsewhere.invalid", "--take-over");
        take_over(run);
        project.trash(run.info().id);
        QVERIFY(!fs::exists(run.folder()));
    }
    void a_process_that_was_given_up_and_lives_ends_at_its_next_event() {
        const RunDirectory run = new_run();
        JournalWriter journal(run, run.begin_attempt(), {});
        journal.event("phase", {{"name", "train"}});
        write_worker_exit(run, 1, {5, 0, "given up"});
        EXPECT_ERROR(journal.event("checkpoint", {{"step", 5}}), "was given up");
        QCOMPARE(read_journal(run.attempt_journal(1)).events.back().type, std::string("phase"));
    }
    void what_is_not_silent_or_still_speaks_elsewhere_is_not_taken_over() {
        const RunDirectory running = new_run(), mirrored = silent_run(), job = silent_run();
        write_attempt(running, 1, 5, "");
        EXPECT_ERROR(take_over(running), "is running, not silent");
        write_launch(mirrored, {"ssh", "box", "", "/there"});
        EXPECT_ERROR(take_over(mirrored), "profile 'box'");
        write_launch(job, {"slurm", "gpu", "7_0", "/p/jobs/j"});
        write_job(job, {"7_0", "RUNNING", "", "n1", 0});
        EXPECT_ERROR(take_over(job), "SLURM job 7_0");
        QCOMPARE(read_state(job).phase, RunPhase::silent);
    }
};

FACETER_TEST(TestTakeOver)
#include "test_take_over.moc"
