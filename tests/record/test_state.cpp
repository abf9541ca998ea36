#include "record/state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "common/error.h"
#include "common/hash.h"
#include "launch/supervisor.h"
#include "record/launch.h"
#include "record/run_lock.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A journal of another machine: one attempt_started line with that host.
void write_foreign_attempt(const RunDirectory& run) {
    const fs::path file = run.attempt_journal(run.begin_attempt());
    const std::string body = R"({"seq":1,"t":100.0,"event":"attempt_started","host":"elsewhere.invalid","pid":1,"pid_start":"x:1")";
    write_file_atomic(file, body + fmt::format(",\"crc\":\"{:08x}\"}}\n", crc32c(body)));
}

/// The identity of a process that has ended.
ProcessIdentity ended_process() {
    ProcessIdentity identity = ProcessIdentity::own();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    identity.pid = child;
    return identity;
}

/// Dates the lines of an attempt anew, each so long after the one before it.
void set_pauses(const RunDirectory& run, int attempt, const std::function<double(Json&)>& pause) {
    std::string text;
    double time = 2e9;
    for (const JournalEvent& event : read_journal(run.attempt_journal(attempt)).events) {
        Json line = event.fields;
        line.erase("crc");
        time += pause(line);
        line["t"] = time;
        std::string body = line.dump();
        body.pop_back();
        text += fmt::format("{},\"crc\":\"{:08x}\"}}\n", body, crc32c(body));
    }
    overwrite(run.attempt_journal(attempt), text);
}

}  // namespace

class TestState : public QObject {
    Q_OBJECT

    TemporaryDirectory folder_;
    RunDirectory new_run() { return sample_run(folder_.path()); }

  private Q_SLOTS:
    void a_new_run_is_queued() { QCOMPARE(read_state(new_run()).phase, RunPhase::queued); }
    /// It was killed behind its last step; where it went on it had no loss, in lists and in --where.
    void an_attempt_that_had_no_step_left_keeps_the_loss_of_the_one_before() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 5, "");
        write_worker_exit(run, 1, {5, 9, ""});
        JournalWriter journal(run, run.begin_attempt(), {"checkpoints/step", 5, Json::object(), 0});
        journal.event("stage_started", {{"stage", "train"}, {"total_steps", 5}});
        journal.event("finished", {});
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::done);
        QCOMPARE(state.step, std::int64_t{5});
        QCOMPARE(state.loss, 1.0 / 5);
    }
    /// Its data was gone, say: lists had neither its steps nor its loss.
    void an_attempt_that_failed_before_its_first_step_keeps_those_it_went_on_from() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 7, "");
        write_worker_exit(run, 1, {5, 9, ""});
        JournalWriter(run, run.begin_attempt(), {"checkpoints/step", 5, Json::object(), 0})
            .event("failed", {{"message", "gone"}, {"code", 4}});
        RunFollower follower(run);
        for (int look = 0; look < 2; ++look) {
            follower.update();
            QCOMPARE(follower.state().phase, RunPhase::failed);
            QCOMPARE(follower.state().step, std::int64_t{5});  // 6 and 7 would have been made again
            QCOMPARE(follower.state().total_steps, std::int64_t{100});
            QCOMPARE(follower.state().loss, 1.0 / 5);
        }
        JournalWriter(run, run.begin_attempt(), {"", 0, Json::object(), 0});  // killed at its start
        write_worker_exit(run, 3, {5, 9, ""});
        follower.update();
        QCOMPARE(follower.state().phase, RunPhase::dead);
        QCOMPARE(follower.state().step, std::int64_t{7});
    }
    void a_journal_that_cannot_be_looked_into_is_an_error() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 3, "finished");
        const fs::path attempt = run.attempt_journal(1).parent_path(), journal = attempt.parent_path();
        for (const fs::path& place : {attempt, journal}) {  // a link to itself, as a folder without permission
            fs::remove_all(place);
            fs::create_symlink(place.filename(), place);
            EXPECT_ERROR(read_state(run), "journal", "cannot be looked into");
        }
        fs::remove(journal);
        QCOMPARE(read_state(run).phase, RunPhase::queued);
    }
    void an_end_that_cannot_be_read_is_an_end() {
        for (const std::string& text : {std::string(2 << 20, ' '), std::string("{\"code\": "), std::string(1 << 19, '[')}) {
            const RunDirectory run = new_run();
            write_attempt(run, 1, 3, "");
            overwrite(run.attempt_journal(1).parent_path() / "exit.json", text);
            const RunState state = read_state(run);
            QCOMPARE(state.phase, RunPhase::failed);
            QCOMPARE(state.exit_code, 5);
            const bool is_too_large = text.size() > 1 << 20;  // else its members are missing
            QVERIFY2(!is_too_large || state.cause.find("how it ended cannot be read: ") != std::string::npos, state.cause.c_str());
            QVERIFY2(!is_too_large || state.cause.find("exit.json") != std::string::npos, state.cause.c_str());
        }
    }
    void a_run_whose_process_lives_is_running() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 30, "");
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::running);
        QCOMPARE(state.step, std::int64_t{30});
        QCOMPARE(state.total_steps, std::int64_t{100});
        QCOMPARE(state.doing, std::string("train"));
        QVERIFY(std::abs(state.loss - 1.0 / 30) < 1e-12);
    }
    void how_it_ended_is_taken_from_its_last_word() {
        const RunDirectory done = new_run(), stopped = new_run(), failed = new_run();
        write_attempt(done, 1, 3, "finished");
        write_attempt(stopped, 1, 3, "stopped");
        write_attempt(failed, 1, 3, "failed");
        QCOMPARE(read_state(done).phase, RunPhase::done);
        QCOMPARE(read_state(stopped).phase, RunPhase::stopped);
        QCOMPARE(read_state(failed).phase, RunPhase::failed);
        QCOMPARE(read_state(failed).cause, std::string("the reason"));
        QCOMPARE(read_state(failed).exit_code, 7);
    }
    void only_runs_that_stand_still_and_are_not_done_can_go_on() {
        const RunDirectory running = new_run(), done = new_run(), stopped = new_run(), failed = new_run();
        write_attempt(running, 1, 3, "");
        write_attempt(done, 1, 3, "finished");
        write_attempt(stopped, 1, 3, "stopped");
        write_attempt(failed, 1, 3, "failed");
        stopped.request("stop");
        EXPECT_ERROR(prepare_resume({stopped, running}), "stop it first");
        EXPECT_ERROR(prepare_resume({stopped, done}), "a rerun");
        QVERIFY(stopped.requested("stop"));  // nothing was changed for a list that cannot go on whole
        prepare_resume({stopped, failed});
        QVERIFY(!stopped.requested("stop"));
    }
    void a_newer_attempt_replaces_an_older_one() {
        const RunDirectory run = new_run();
        RunFollower follower(run);
        write_attempt(run, 1, 20, "stopped");
        follower.update();
        QCOMPARE(follower.state().phase, RunPhase::stopped);
        write_attempt(run, 11, 40, "finished");
        std::vector<std::string> seen;
        follower.update([&](const JournalEvent& event) { seen.push_back(event.type); });
        QCOMPARE(seen.front(), std::string("attempt_started"));
        QCOMPARE(seen.back(), std::string("finished"));
        const RunState state = follower.state();
        QCOMPARE(state.phase, RunPhase::done);
        QCOMPARE(state.attempts, 2);
        QCOMPARE(state.step, std::int64_t{40});
    }
    void a_clock_that_is_set_back_takes_no_time_from_a_run() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 20, "finished");
        set_pauses(run, 1, [](const Json& line) { return line.at("seq") == 10 ? -3600.0 : 2.0; });
        const std::int64_t lines = read_journal(run.attempt_journal(1)).events.back().seq;
        QCOMPARE(lines, std::int64_t{23});
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::done);
        QCOMPARE(state.active_s, 2.0 * (static_cast<double>(lines) - 2));
        QCOMPARE(state.steps_per_s, 0.5);
    }
    void a_clock_that_is_set_forward_adds_no_time_to_a_run() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 20, "stopped");
        write_attempt(run, 2, 40, "finished");
        const auto pause = [](const Json& line) { return line.at("seq") == 10 ? 5 * 3600.0 : line.at("seq") == 15 ? -9 * 3600.0 : 2.0; };
        set_pauses(run, 1, pause);
        const std::int64_t lines = read_journal(run.attempt_journal(1)).events.back().seq;
        QCOMPARE(read_state(run).attempts, 2);
        set_pauses(run, 2, pause);
        const std::int64_t more = read_journal(run.attempt_journal(2)).events.back().seq;
        QVERIFY(more > lines && lines > 15);
        const RunState state = read_state(run);
        QCOMPARE(state.active_s, 2.0 * static_cast<double>(lines - 3 + more - 3));
        QCOMPARE(state.steps_per_s, 0.5);
    }
    /// A list that is looked at every second must not read hours of them each time.
    void an_earlier_attempt_is_read_again_only_where_its_journal_changed() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 20, "stopped");
        write_attempt(run, 21, 40, "finished");
        for (const int attempt : {1, 2}) set_pauses(run, attempt, [](const Json&) { return 2.0; });
        const double before = read_state(run).active_s;
        const fs::path journal = run.attempt_journal(1);
        const auto written = fs::last_write_time(journal);
        set_pauses(run, 1, [](const Json&) { return 3.0; });  // of the same size
        fs::last_write_time(journal, written);
        QCOMPARE(read_state(run).active_s, before);
        fs::last_write_time(journal, written + std::chrono::seconds(1));
        QVERIFY(read_state(run).active_s > before);
    }
    void the_step_during_which_the_clock_was_set_takes_its_own_time() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 20, "finished");
        set_pauses(run, 1, [](Json& line) {
            if (line["seq"] == 10) line["tokens"] = 300, line["tokens_per_s"] = 100.0;
            if (line["seq"] == 12) line["step_s"] = 4.0;
            return line["seq"] == 10 || line["seq"] == 12 ? 3600.0 : 2.0;
        });
        const std::int64_t lines = read_journal(run.attempt_journal(1)).events.back().seq;
        QCOMPARE(read_state(run).active_s, 2.0 * static_cast<double>(lines - 3) + 3 + 4);
    }
    void a_run_that_ended_behind_a_damaged_line_of_its_journal_says_so() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 20, "finished");
        write_worker_exit(run, 1, {0, 0, ""});
        QCOMPARE(read_state(run).phase, RunPhase::done);
        std::string text = read_file(run.attempt_journal(1));
        text[text.size() / 2] ^= 1;
        overwrite(run.attempt_journal(1), text);
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::failed);
        QVERIFY2(state.cause.starts_with("its journal is damaged at byte "), state.cause.c_str());
        QVERIFY2(state.cause.ends_with("faceter resume " + run.info().id), state.cause.c_str());
        overwrite(run.attempt_journal(1), text.substr(0, text.find('\n') + 1));
        QCOMPARE(read_state(run).cause, std::string("the worker ended without saying that it was done"));
    }
    void a_run_whose_worker_loads_runs_though_its_supervisor_is_gone() {
        for (const bool resumed : {false, true}) {
            const RunDirectory run = new_run();
            if (resumed) write_attempt(run, 1, 3, "stopped");
            write_supervisor(run, ended_process());
            QCOMPARE(read_state(run).phase, resumed ? RunPhase::stopped : RunPhase::dead);
            std::optional<RunLock> lock(std::in_place, run);
            QVERIFY(read_state(run).phase != RunPhase::running);  // nothing was started: who looks has the lock for himself
            fs::create_directories(run.attempt_log(resumed ? 2 : 1).parent_path());
            QCOMPARE(read_state(run).phase, RunPhase::running);
            QCOMPARE(read_state(run).cause, std::string());
            EXPECT_ERROR(prepare_resume({run}), "is running; stop it first");
            lock.reset();
            QCOMPARE(read_state(run).phase, resumed ? RunPhase::stopped : RunPhase::dead);
            prepare_resume({run});
        }
    }
    void a_run_that_was_only_scored_in_its_last_attempts_keeps_its_steps() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 20, "");
        const auto attempt = [&](const char* ending) {
            JournalWriter journal(run, run.begin_attempt(), {});
            Json fields = Json::object();
            if (std::string_view(ending) == "stopped") fields["phase"] = "evaluate";
            journal.event(ending, fields);
        };
        for (const char* ending : {"stopped", "finished"}) {
            attempt(ending);
            const RunState state = read_state(run);
            QCOMPARE(state.step, std::int64_t{20});
            QCOMPARE(state.total_steps, std::int64_t{100});
            QVERIFY(std::abs(state.loss - 1.0 / 20) < 1e-12);
            if (state.phase == RunPhase::stopped) QCOMPARE(state.cause, std::string("stopped before all was scored"));
        }
        QCOMPARE(read_state(run).phase, RunPhase::done);
    }
    void a_process_that_is_gone_without_a_word_is_dead() {
        const RunDirectory run = new_run();
        const pid_t child = ::fork();
        if (child == 0) {
            JournalWriter* journal = new JournalWriter(run, run.begin_attempt(), {});
            journal->event("phase", {{"name", "train"}});
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::dead);
        QVERIFY(state.cause.find("faceter resume") != std::string::npos);
    }
    void the_supervisors_word_tells_a_killed_worker_from_a_failed_one() {
        const RunDirectory killed = new_run(), crashed = new_run(), mute = new_run();
        for (const RunDirectory& run : {killed, crashed, mute}) write_attempt(run, 1, 3, "");
        write_worker_exit(killed, 1, {5, 9, ""});
        write_worker_exit(crashed, 1, {4, 0, "x.safetensors: broken"});
        write_worker_exit(mute, 1, {0, 0, ""});
        QCOMPARE(read_state(killed).phase, RunPhase::dead);
        QVERIFY(read_state(killed).cause.find("signal 9") != std::string::npos);
        QCOMPARE(read_state(crashed).phase, RunPhase::failed);
        QCOMPARE(read_state(crashed).exit_code, 4);
        QVERIFY(read_state(crashed).cause.find("x.safetensors: broken") != std::string::npos);
        QCOMPARE(read_state(mute).phase, RunPhase::failed);
    }
    void a_worker_that_could_not_even_begin_has_failed() {
        const RunDirectory run = new_run();
        write_worker_exit(run, 1, {5, 0, "cannot start"});
        QCOMPARE(read_state(run).phase, RunPhase::failed);
        QVERIFY(read_state(run).cause.find("cannot start") != std::string::npos);
    }
    void a_quiet_run_elsewhere_is_silent_by_the_file_systems_clock() {
        const RunDirectory run = new_run();
        write_foreign_attempt(run);
        QCOMPARE(read_state(run).phase, RunPhase::running);  // its lines say the year 1970, the file was written just now
        const timespec old[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
        ::utimensat(AT_FDCWD, run.attempt_journal(1).c_str(), old, 0);
        QCOMPARE(read_state(run).phase, RunPhase::silent);
        QVERIFY(read_state(run).cause.find("elsewhere.invalid") != std::string::npos);
    }
    void a_quiet_run_that_nothing_can_be_written_into_is_silent_by_this_machines_clock() {
        const RunDirectory run = new_run();
        write_foreign_attempt(run);
        const timespec old[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
        ::utimensat(AT_FDCWD, run.attempt_journal(1).c_str(), old, 0);
        fs::remove_all(run.control());  // as in a copy without empty folders; root may write in spite of any permission
        QCOMPARE(read_state(run).phase, RunPhase::silent);
        write_file_atomic(run.control(), "");
        QCOMPARE(read_state(run).phase, RunPhase::silent);
    }
    void what_a_journal_says_of_its_pauses_does_not_keep_a_run_running_for_ever() {
        const RunDirectory run = new_run();
        write_foreign_attempt(run);
        const std::string body = R"({"seq":2,"t":1e+300,"event":"phase","name":"train")";
        OutputFile(run.attempt_journal(1), OutputFile::Mode::append).write(body + fmt::format(",\"crc\":\"{:08x}\"}}\n", crc32c(body)));
        const timespec old[2] = {{::time(nullptr) - 100'000, 0}, {::time(nullptr) - 100'000, 0}};
        ::utimensat(AT_FDCWD, run.attempt_journal(1).c_str(), old, 0);
        QCOMPARE(read_state(run).phase, RunPhase::silent);
    }
    void a_mirror_is_not_judged_by_the_processes_of_this_machine() {
        const RunDirectory run = new_run();
        write_launch(run, {"ssh", "box", "", "/there"});
        const pid_t child = ::fork();
        if (child == 0) {
            new JournalWriter(run, run.begin_attempt(), {});  // the rest of the journal is on its way
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        QCOMPARE(read_state(run).phase, RunPhase::running);
        clear_launch(run);
        QCOMPARE(read_state(run).phase, RunPhase::dead);
    }
    void a_run_stopped_before_it_began_is_stopped() {
        const RunDirectory run = new_run();
        run.request("stop");
        QCOMPARE(read_state(run).phase, RunPhase::stopped);
    }
    void a_queued_run_whose_supervisor_is_gone_is_dead() {
        const RunDirectory run = new_run();
        write_supervisor(run, ProcessIdentity::own());
        QCOMPARE(read_state(run).phase, RunPhase::queued);
        write_supervisor(run, ended_process());
        QCOMPARE(read_state(run).phase, RunPhase::dead);
    }
    void a_resumed_run_waits_whatever_clocks_and_its_last_supervisor_say() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 5, "stopped");
        const auto later = fs::file_time_type::clock::now() + std::chrono::hours(1);  // the clock has been set back since
        for (const fs::path& path : {run.attempt_journal(1), run.attempt_journal(1).parent_path()}) fs::last_write_time(path, later);
        write_supervisor(run, ProcessIdentity::own());
        QCOMPARE(read_state(run).phase, RunPhase::queued);
        write_worker_exit(run, 1, {6, 0, ""});
        QCOMPARE(read_state(run).phase, RunPhase::queued);
        EXPECT_ERROR(prepare_resume({run}), "waits in a queue");
        write_attempt(run, 6, 7, "stopped");
        QCOMPARE(read_state(run).phase, RunPhase::stopped);
    }
    void a_run_that_nobody_has_started_for_long_waits_for_nobody() {
        const RunDirectory run = new_run();
        fs::last_write_time(run.folder() / "run.json", fs::file_time_type::clock::now() - std::chrono::hours(1));
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::dead);
        QVERIFY2(state.cause.find("faceter resume " + run.info().id) != std::string::npos, state.cause.c_str());
        prepare_resume({run});
        write_supervisor(run, ProcessIdentity::own());
        QCOMPARE(read_state(run).phase, RunPhase::queued);
        write_launch(run, {"ssh", "box", "", "/there"});
        QCOMPARE(read_state(run).phase, RunPhase::queued);
    }
    void odd_but_sealed_lines_do_no_harm() {
        const RunDirectory run = new_run();
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            journal.event("step", {{"step", "many"}, {"loss", Json::array()}});
            journal.event("failed", {{"code", "x"}, {"message", 3}});
        }
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::failed);
        QCOMPARE(state.exit_code, 5);
    }
    void numbers_that_no_step_can_be_are_passed_over() {
        const RunDirectory run = new_run();
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            journal.event("step", {{"step", 7}, {"total_steps", 100}});
            journal.event("step", {{"step", 1e30}, {"total_steps", 2.5}});
            journal.event("failed", {{"code", 1e10}});
        }
        const RunState state = read_state(run);
        QCOMPARE(state.step, std::int64_t{7});
        QCOMPARE(state.total_steps, std::int64_t{100});
        QCOMPARE(state.exit_code, 5);
    }
    void steps_at_both_ends_of_their_range_have_a_rate() {
        const RunDirectory run = new_run();
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            for (const std::int64_t step : {-9'000'000'000'000'000'000, 9'000'000'000'000'000'000}) journal.event("step", {{"step", step}});
            journal.event("finished");
        }
        QVERIFY(read_state(run).steps_per_s >= 0);
    }
    void a_copy_of_a_run_that_is_running_does_not_run() {
        const RunDirectory run = new_run();
        const RunLock lock(run);
        write_attempt(run, 1, 30, "");
        const TemporaryDirectory elsewhere;
        make_directories(elsewhere.path() / "runs");
        const fs::path copied = elsewhere.path() / "runs" / run.folder().filename();
        fs::copy(run.folder(), copied, fs::copy_options::recursive);
        QCOMPARE(read_state(run).phase, RunPhase::running);
        const RunState state = read_state(RunDirectory(copied));
        QCOMPARE(state.phase, RunPhase::dead);
        QVERIFY(state.cause.starts_with("a copy of a run that process"));
        prepare_resume({RunDirectory(copied)});
    }
};

FACETER_TEST(TestState)
#include "test_state.moc"
