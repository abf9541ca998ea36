#include "record/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "common/error.h"
#include "common/hash.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestJournal : public QObject {
    Q_OBJECT

    TemporaryDirectory folder_;
    RunDirectory new_run() { return sample_run(folder_.path()); }

  private Q_SLOTS:
    void what_is_written_is_read_in_order() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 10, "finished");
        const JournalContent content = read_journal(run.attempt_journal(1));
        QCOMPARE(content.events.size(), std::size_t{13});
        QCOMPARE(content.events.front().type, std::string("attempt_started"));
        QCOMPARE(content.events[2].fields["loss"].get<double>(), 1.0);
        QCOMPARE(content.events.back().type, std::string("finished"));
        QCOMPARE(content.events.back().seq, std::int64_t{13});
        QCOMPARE(content.torn_bytes, std::uint64_t{0});
        QVERIFY(content.problem.empty());
    }
    void the_first_line_names_the_process_and_the_checkpoint() {
        const RunDirectory run = new_run();
        write_attempt(run, 6, 7, "");
        const Json first = read_journal(run.attempt_journal(1)).events.front().fields;
        QCOMPARE(first["from_step"].get<int>(), 5);
        QCOMPARE(first["from_checkpoint"].get<std::string>(), std::string("checkpoints/step"));
        QCOMPARE(first["pid"].get<std::int64_t>(), ProcessIdentity::own().pid);
        QVERIFY(ProcessIdentity::own().alive());
        ProcessIdentity another = ProcessIdentity::own();
        another.start = "other:1";
        QVERIFY(!another.alive());
    }
    void a_journal_and_a_log_on_a_full_disk_end_no_process() {
        const RunDirectory run = new_run();
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(::open("/dev/full", O_WRONLY), STDERR_FILENO);
            {
                JournalWriter journal(run, run.begin_attempt(), {});
                set_file_fault_hook(
                    [](FileOperation operation, const fs::path&) { return operation == FileOperation::write ? ENOSPC : 0; });
                journal.step({{"step", 1}});
            }  // cannot write the step, nor say so
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        QVERIFY(WIFEXITED(status));
        QCOMPARE(WEXITSTATUS(status), 0);
    }
    void a_journal_torn_at_any_byte_keeps_every_whole_line() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 3, "finished");
        const fs::path file = run.attempt_journal(1);
        const std::string whole = read_file(file);
        std::size_t lines = 0;
        for (std::size_t length = 0; length <= whole.size(); ++length) {
            if (length > 0 && whole[length - 1] == '\n') ++lines;
            overwrite(file, whole.substr(0, length));
            const JournalContent content = read_journal(file);
            QCOMPARE(content.events.size(), lines);
            QCOMPARE(content.valid_bytes + content.torn_bytes, std::uint64_t{length});
            QCOMPARE(content.problem.empty(), content.torn_bytes == 0);
        }
    }
    void a_flipped_bit_is_never_believed() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 3, "finished");
        const fs::path file = run.attempt_journal(1);
        const std::string whole = read_file(file);
        const std::size_t second = whole.find('\n') + 1, third = whole.find('\n', second) + 1;
        for (std::size_t at = second; at < third; ++at) {
            std::string broken = whole;
            broken[at] = static_cast<char>(broken[at] ^ 0x04);
            overwrite(file, broken);
            const JournalContent content = read_journal(file);
            QCOMPARE(content.events.size(), std::size_t{1});
            QVERIFY(!content.problem.empty());
        }
    }
    void an_attempt_that_was_killed_before_its_first_line_holds_nothing() {
        const RunDirectory run = new_run();
        const int attempt = run.begin_attempt();
        QCOMPARE(run.attempts(), std::vector<int>{attempt});
        const JournalContent content = read_journal(run.attempt_journal(attempt));
        QVERIFY(content.events.empty());
        QVERIFY(content.problem.empty());
    }
    void a_missing_or_repeated_line_is_noticed() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 3, "finished");
        const fs::path file = run.attempt_journal(1);
        const std::string whole = read_file(file);
        const std::size_t second = whole.find('\n') + 1, third = whole.find('\n', second) + 1;
        overwrite(file, whole.substr(0, second) + whole.substr(third));
        QCOMPARE(read_journal(file).problem, std::string("a line is missing"));
        overwrite(file, whole.substr(0, third) + whole.substr(second));
        QCOMPARE(read_journal(file).events.size(), std::size_t{2});
        QCOMPARE(read_journal(file).problem, std::string("a line stands twice"));
    }
    void a_sealed_line_that_costs_more_than_its_bytes_is_cut_data() {
        QTest::addColumn<QByteArray>("value");
        QTest::newRow("deep") << QByteArray(500'000, '[') + QByteArray(500'000, ']');
        QByteArray members = "{\"0\":0";
        for (int i = 1; i < 100'000; ++i) members += ",\"" + QByteArray::number(i) + "\":0";
        QTest::newRow("many members") << members + "}";
    }
    void a_sealed_line_that_costs_more_than_its_bytes_is_cut() {
        QFETCH(QByteArray, value);
        const RunDirectory run = new_run();
        const fs::path file = run.attempt_journal(1);
        make_directories(file.parent_path());
        const std::string body = "{\"seq\":1,\"t\":1,\"event\":\"x\",\"v\":" + value.toStdString();
        overwrite(file, fmt::format("{},\"crc\":\"{:08x}\"}}\n", body, crc32c(body)));  // anyone can compute the seal
        const JournalContent content = read_journal(file);
        const JournalContent copy = content;
        QCOMPARE(copy.events.size(), std::size_t{0});
        QCOMPARE(copy.problem, std::string("a line is not an event"));
        QCOMPARE(journal_span(file).first, 0.0);
    }
    void hostile_journals_are_cut_not_believed() {
        const RunDirectory run = new_run();
        const fs::path file = run.attempt_journal(1);
        make_directories(file.parent_path());
        for (const std::string& content :
             {std::string("\n\n\n"), std::string("[1,2]\n"), std::string(100, '\0'), std::string("{\"seq\":1}\n"),
              std::string(6 << 20, 'x'), std::string("{\"seq\":1,\"crc\":\"zzzzzzzz\"}\n")}) {
            overwrite(file, content);
            const JournalContent read = read_journal(file);
            QVERIFY(read.events.empty());
            QVERIFY(!read.problem.empty());
        }
    }
    void reading_goes_on_where_it_ended() {
        const RunDirectory run = new_run();
        JournalWriter journal(run, run.begin_attempt(), {});
        const JournalContent first = read_journal(run.attempt_journal(1));
        QCOMPARE(first.events.size(), std::size_t{1});
        journal.event("warning", {{"message", "x"}});
        const JournalContent second = read_journal(run.attempt_journal(1), first.valid_bytes, 2);
        QCOMPARE(second.events.size(), std::size_t{1});
        QCOMPARE(second.events[0].type, std::string("warning"));
    }
    void an_event_brings_the_gathered_steps_to_disk_in_order() {
        const RunDirectory run = new_run();
        JournalWriter journal(run, run.begin_attempt(), {});
        for (int i = 1; i <= 5; ++i) journal.step({{"step", i}});
        journal.event("checkpoint", {{"step", 5}});
        const JournalContent content = read_journal(run.attempt_journal(1));
        QCOMPARE(content.events.size(), std::size_t{7});
        QCOMPARE(content.events.back().type, std::string("checkpoint"));
    }
    void two_attempts_never_share_a_file() {
        const RunDirectory run = new_run();
        QCOMPARE(run.begin_attempt(), 1);
        QCOMPARE(run.begin_attempt(), 2);
        const JournalWriter first(run, 1, {});
        EXPECT_ERROR(JournalWriter(run, 1, {}), "rank-0.jsonl", "File exists");
    }
    void attempts_begun_at_the_same_time_get_different_numbers() {
        const RunDirectory run = new_run();
        std::vector<int> numbers(8);
        std::vector<std::thread> threads;
        for (int& number : numbers) threads.emplace_back([&number, &run] { number = run.begin_attempt(); });
        for (std::thread& thread : threads) thread.join();
        std::sort(numbers.begin(), numbers.end());
        for (int i = 0; i < 8; ++i) QCOMPARE(numbers[static_cast<std::size_t>(i)], i + 1);
    }
    void reserved_members_cannot_be_forged() {
        const RunDirectory run = new_run();
        JournalWriter journal(run, run.begin_attempt(), {});
        journal.event("warning",
                      {{"seq", 99}, {"crc", "00000000"}, {"event", "finished"}, {"message", "bad \xff utf-8 \n"}, {"loss", std::nan("")}});
        const JournalContent content = read_journal(run.attempt_journal(1));
        QCOMPARE(content.events.size(), std::size_t{2});
        QCOMPARE(content.events[1].type, std::string("warning"));
        QVERIFY(content.events[1].fields["loss"].is_null());
    }
    void a_full_disk_is_an_error_and_what_was_written_stays() {
        const RunDirectory run = new_run();
        JournalWriter journal(run, run.begin_attempt(), {});
        journal.event("phase", {{"name", "train"}});
        set_file_fault_hook([](FileOperation operation, const fs::path& path) {
            return operation == FileOperation::write && path.filename() == "rank-0.jsonl" ? ENOSPC : 0;
        });
        EXPECT_ERROR(journal.event("checkpoint", {}), "rank-0.jsonl", "No space left");
        set_file_fault_hook(nullptr);
        EXPECT_ERROR(journal.event("checkpoint", {}), "could not be written before");
        QCOMPARE(read_journal(run.attempt_journal(1)).events.size(), std::size_t{2});
    }
    void a_run_that_is_moved_while_it_runs_ends_at_its_next_line() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        const std::string id = run.info().id;
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            journal.event("stage_started", {{"total_steps", 100}});
            fs::rename(project.path() / "runs", project.path() / "moved");
            make_directories(run.checkpoints());  // what a worker that goes on would make at the old place
            EXPECT_ERROR(journal.event("checkpoint", {{"step", 1}}), "was moved or removed", "faceter resume");
            EXPECT_ERROR(journal.event("finished"), "was moved or removed");
            fs::remove_all(run.folder());
            EXPECT_ERROR(run.write_result("set", {{"score", 1}}), "was moved or removed", "faceter resume");
            EXPECT_ERROR(run.write_figure("loss", {{"name", "loss"}}), "was moved or removed");
            QVERIFY(!fs::exists(run.folder()));
        }
        fs::remove_all(project.path() / "runs");
        fs::rename(project.path() / "moved", project.path() / "runs");
        const JournalContent content = read_journal(run.attempt_journal(1));
        QCOMPARE(content.events.back().type, std::string("stage_started"));  // not that it is done: the rest of it is not here
        QVERIFY(content.problem.empty());
    }
    void a_pipe_in_place_of_a_journal_holds_nobody() {
        const RunDirectory run = new_run();
        const fs::path journal = run.attempt_journal(run.begin_attempt());
        QCOMPARE(::mkfifo(journal.c_str(), 0600), 0);
        QVERIFY(read_journal(journal).events.empty());
        QCOMPARE(journal_span(journal).first, 0.0);
    }
    void many_threads_may_write() {
        const RunDirectory run = new_run();
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            std::vector<std::thread> threads;
            for (int t = 0; t < 4; ++t)
                threads.emplace_back([&] {
                    for (int i = 0; i < 200; ++i) journal.step({{"step", i}});
                });
            for (std::thread& thread : threads) thread.join();
        }
        const JournalContent content = read_journal(run.attempt_journal(1));
        QCOMPARE(content.events.size(), std::size_t{801});
        QVERIFY(content.problem.empty());
    }
    void the_span_is_read_from_the_files_ends() {
        const RunDirectory run = new_run();
        write_attempt(run, 1, 5000, "finished");
        const auto events = read_journal(run.attempt_journal(1)).events;
        const auto [first, last] = journal_span(run.attempt_journal(1));
        QCOMPARE(first, events.front().time);
        QCOMPARE(last, events.back().time);
        QCOMPARE(journal_span("/nowhere").first, 0.0);
    }
};

FACETER_TEST(TestJournal)
#include "test_journal.moc"
