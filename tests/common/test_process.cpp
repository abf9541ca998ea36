#include "common/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "common/command.h"
#include "common/file.h"
#include "common/lock_file.h"
#include "support/test.h"

using namespace faceter;

namespace {

int output_file(const fs::path& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); }

/// What a shell says on its standard output, started so.
std::string said(const std::string& script, Kinship kinship) {
    const TemporaryDirectory folder;
    const fs::path path = folder.path() / "said";
    const int out = output_file(path);
    const StartedProcess started = start_process({{"sh", "-c", script}, kinship, -1, out, -1, {{"GREETING", "a b; $(id)"}}});
    ::close(out);
    if (started.process > 0) wait_for_process(started.process);
    return read_file(path);
}

std::string command_output(const std::string& script) { return run_command({"sh", "-c", script}).output; }

}  // namespace

class TestProcess : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void arguments_and_variables_reach_it_as_they_are() {
        QCOMPARE(said("printf %s \"$GREETING\"", Kinship::child), std::string("a b; $(id)"));
    }
    void its_input_is_empty_where_none_is_given() { QCOMPARE(said("cat; echo end", Kinship::child), std::string("end\n")); }
    void a_program_that_is_not_there_gives_the_reason() {
        for (const Kinship kinship : {Kinship::child, Kinship::leashed, Kinship::orphan}) {
            const StartedProcess started = start_process({{"/no/such/program"}, kinship});
            QCOMPARE(started.error, ENOENT);
            QCOMPARE(started.process, -1);
        }
        QVERIFY(::waitpid(-1, nullptr, WNOHANG) < 0);  // none of them is left as a zombie
    }
    void a_child_is_of_our_group_and_a_leashed_one_of_its_own() {
        const std::string ours = std::to_string(::getpgrp());
        const std::string group = "ps -o pgid= -p $$ | tr -d ' \\n'";
        QCOMPARE(said(group, Kinship::child), ours);
        QVERIFY(said(group, Kinship::leashed) != ours);
    }
    void an_orphan_is_nobodys_child() {
        const TemporaryDirectory folder;
        const fs::path path = folder.path() / "parent";
        const StartedProcess started = start_process(
            {{"sh", "-c", "ps -o sid= -p $$ > " + path.string() + ".new; mv " + path.string() + ".new " + path.string()}, Kinship::orphan});
        QCOMPARE(started.error, 0);
        QVERIFY(::waitpid(-1, nullptr, WNOHANG) < 0);
        QTRY_VERIFY(fs::exists(path));
        QVERIFY(std::stoi(read_file(path)) != ::getsid(0));
    }
    void signals_that_we_ignore_reach_it() {
        ::signal(SIGTERM, SIG_IGN);
        const StartedProcess started = start_process({{"sh", "-c", "kill -TERM $$; echo still here"}, Kinship::child});
        ::signal(SIGTERM, SIG_DFL);
        QCOMPARE(wait_for_process(started.process), 128 + SIGTERM);
    }
    void what_runs_in_a_scope_is_given_up_with_it() {
        std::atomic<bool> flag = false;
        QVERIFY(!abandon_requested());
        {
            const AbandonScope outer(flag);
            QCOMPARE(command_output("echo heard"), std::string("heard\n"));
            std::thread other([&] { flag = true; });
            const CommandResult result = run_command({"sh", "-c", "sleep 600"});
            other.join();
            QCOMPARE(result.code, 124);
            QCOMPARE(result.complaint, std::string("given up before it answered"));
            const std::atomic<bool> not_yet = false;
            const AbandonScope inner(not_yet);
            QCOMPARE(command_output("echo heard"), std::string("heard\n"));
        }
        QVERIFY(!abandon_requested());
    }
    void a_command_gets_its_input_and_says_how_it_ended() {
        QCOMPARE(command_output("echo out; echo err >&2"), std::string("out\n"));
        const CommandResult result = run_command({"sh", "-c", "cat; echo no >&2; exit 3"}, "given");
        QCOMPARE(result.code, 3);
        QCOMPARE(result.output, std::string("given"));
        QCOMPARE(result.complaint, std::string("no"));
    }
    void an_answer_without_end_is_an_error_and_not_kept() {
        const CommandResult result = run_command({"sh", "-c", "echo odd >&2; exec cat /dev/zero"});
        QCOMPARE(result.code, 124);
        QCOMPARE(result.complaint, std::string("it answered with more than 64 MiB: odd"));
        QVERIFY(result.output.size() < (std::size_t{66} << 20));
    }
    void a_folder_is_locked_by_several_to_read_and_by_one_to_change() {
        using Kind = LockFile::Kind;
        using namespace std::chrono_literals;
        const TemporaryDirectory folder;
        LockFile first(folder.path()), second(folder.path());
        QCOMPARE(first.try_lock(Kind::read, 0s), LockOutcome::taken);
        QCOMPARE(second.try_lock(Kind::read, 0s), LockOutcome::taken);
        QCOMPARE(second.try_lock(Kind::change, 0s), LockOutcome::held);
    }
    void a_lock_is_held_by_one_and_seen_without_being_taken() {
        const TemporaryDirectory folder;
        const fs::path path = folder.path() / "lock";
        QVERIFY(!is_locked(path));
        {
            LockFile first(path), second(path);
            QCOMPARE(first.try_lock(), LockOutcome::taken);
            QCOMPARE(second.try_lock(LockFile::Kind::change, std::chrono::seconds(0)), LockOutcome::held);
            QVERIFY(is_locked(path));
        }
        QVERIFY(!is_locked(path));
    }
    void a_lock_that_may_only_be_read_is_seen_and_who_looks_is_not() {
        const TemporaryDirectory folder;
        fs::permissions(folder.path(), fs::perms(0755));
        const fs::path path = folder.path() / "lock";
        const bool root = ::geteuid() == 0;  // who may write everything
        const auto as_another = [&](const auto& look) {
            if (root && ::seteuid(65534) != 0) return false;
            const bool seen = look();
            return (!root || ::seteuid(0) == 0) && seen;
        };
        std::error_code ignored;
        if (!as_another([&] { return fs::is_directory(folder.path(), ignored); })) QSKIP("another user cannot come to the folder of tests");
        {
            LockFile lock(path);
            QCOMPARE(lock.try_lock(), LockOutcome::taken);
            fs::permissions(path, fs::perms(0444));
            QVERIFY(as_another([&] { return is_locked(path); }));
        }
        LockFile looks(folder.path());
        QCOMPARE(looks.try_lock(LockFile::Kind::read), LockOutcome::taken);
        QVERIFY(!is_locked(folder.path()));
    }
};

FACETER_TEST(TestProcess)
#include "test_process.moc"
