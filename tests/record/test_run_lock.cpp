#include "record/run_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "common/error.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A file system without locks, for as long as this lives.
struct NoLocks {
    NoLocks() {
        set_file_fault_hook([](FileOperation operation, const fs::path&) { return operation == FileOperation::lock ? ENOLCK : 0; });
    }
    ~NoLocks() { set_file_fault_hook(nullptr); }
};

void write_holder(const RunDirectory& run, const ProcessIdentity& process) {
    write_file_atomic(run.control() / "lock.held", process.to_json().dump());
}

ProcessIdentity far_process() { return {"elsewhere.invalid", 1, "0000-boot:1", "another machine", "pid:[1]"}; }

}  // namespace

class TestRunLock : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void one_at_a_time_has_a_run() {
        const RunDirectory run = sample_run(folder_.path());
        {
            const RunLock lock(run);
            QVERIFY(lock.supported());
            QVERIFY(is_run_locked(run));
            EXPECT_ERROR(RunLock(run), "another worker is running it");
        }
        QVERIFY(!is_run_locked(run));
        const RunLock again(run);
    }
    void what_was_started_meanwhile_holds_it_on() {
        const RunDirectory run = sample_run(folder_.path());
        int end[2];
        QCOMPARE(::pipe(end), 0);
        pid_t child = 0;
        {
            RunLock lock(run);
            child = ::fork();
            if (child == 0) {
                char byte;
                ::close(end[1]);
                [[maybe_unused]] const auto got = ::read(end[0], &byte, 1);
                ::_exit(0);
            }
            lock.leave_to_children();
        }
        QVERIFY(is_run_locked(run));
        ::close(end[1]);
        ::waitpid(child, nullptr, 0);
        QVERIFY(!is_run_locked(run));
    }
    void without_locks_a_file_stands_in() {
        const RunDirectory run = sample_run(folder_.path());
        const NoLocks none;
        {
            const RunLock lock(run);
            QVERIFY(!lock.supported());
            QVERIFY(is_run_locked(run));
            EXPECT_ERROR(RunLock(run), "another worker is running it", "lock.held");
        }
        QVERIFY(!fs::exists(run.control() / "lock.held"));
        const RunLock again(run);
    }
    void the_file_of_a_holder_that_is_gone_is_taken_over() {
        const RunDirectory run = sample_run(folder_.path());
        const NoLocks none;
        ProcessIdentity gone = ProcessIdentity::own();
        gone.start += "1";
        write_holder(run, gone);
        QVERIFY(!is_run_locked(run));
        const RunLock lock(run);
        QCOMPARE(ProcessIdentity::from_json(Json::parse(read_file(run.control() / "lock.held"))).start, ProcessIdentity::own().start);
    }
    void one_that_took_a_stale_file_over_first_keeps_it() {
        const RunDirectory run = sample_run(folder_.path());
        ProcessIdentity gone = ProcessIdentity::own();
        gone.start += "1";
        write_holder(run, gone);
        bool taken = false;
        set_file_fault_hook([&](FileOperation operation, const fs::path& path) {
            if (operation == FileOperation::lock) return ENOLCK;
            if (operation == FileOperation::rename && path.string().find(".stale-") != std::string::npos && !std::exchange(taken, true))
                write_holder(run, far_process());  // between this one's look and its hand
            return 0;
        });
        EXPECT_ERROR(RunLock(run), "another worker has just begun to run it");
        set_file_fault_hook(nullptr);
        QVERIFY(taken);
        QCOMPARE(ProcessIdentity::from_json(Json::parse(read_file(run.control() / "lock.held"))).host, far_process().host);
    }
    void a_holder_elsewhere_counts_while_it_touches_the_file() {
        const RunDirectory run = sample_run(folder_.path());
        const NoLocks none;
        write_holder(run, far_process());
        EXPECT_ERROR(RunLock(run), "another worker is running it");
        const timespec old[2] = {{::time(nullptr) - 120, 0}, {::time(nullptr) - 120, 0}};
        ::utimensat(AT_FDCWD, (run.control() / "lock.held").c_str(), old, 0);
        const RunLock lock(run);
    }
};

FACETER_TEST(TestRunLock)
#include "test_run_lock.moc"
