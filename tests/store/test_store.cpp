#include "store/store.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/hash.h"
#include "common/random.h"
#include "store/store_errors.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A project with runs of every kind.
void fill(const fs::path& project) {
    const RunDirectory start = sample_run(project, 0), em = sample_run(project, 1), mix = sample_run(project, 3);
    write_attempt(start, 1, 1, "finished");
    write_results(start, 0);
    write_attempt(em, 1, 5000, "stopped");
    write_attempt(em, 4001, 6000, "finished", 2.0);
    write_results(em, 2);
    em.write_figure("loss", {{"name", "loss"}});
    em.write_table("scores", {{"name", "scores"}});
    em.append_user_event({{"tag", "paper"}});
    write_attempt(mix, 1, 10, "");
    write_worker_exit(mix, 1, {5, 9, ""});
    write_similarity(mix, 0.5);
}

/// A journal of some 250 bytes a step, written a line at a time.
void write_long_attempt(const RunDirectory& run, int steps) {
    write_attempt(run, 1, 1, "");
    const fs::path file = run.attempt_journal(1);
    std::int64_t seq = read_journal(file).events.back().seq;
    std::ofstream journal(file, std::ios::binary | std::ios::app);
    const auto add = [&](const std::string& rest) {
        ++seq;
        const std::string body = fmt::format("{{\"seq\":{},\"t\":{}{}", seq, 2e9 + static_cast<double>(seq), rest);
        journal << body << fmt::format(",\"crc\":\"{:08x}\"}}\n", crc32c(body));
    };
    for (int step = 2; step <= steps; ++step)
        add(
            fmt::format(",\"event\":\"step\",\"step\":{},\"total_steps\":{},\"loss\":{},\"lr\":1e-05,\"grad_norm\":1.5,\"pairs\":64,"
                        "\"tokens_per_s\":123456.5,\"temperature\":0.05,\"loss/retrieval\":0.25,\"seconds/forward\":0.125",
                        step, steps, 1.0 / step));
    add(",\"event\":\"finished\"");
}

/// The most memory that this process has had.
double peak_mib() {
    const std::string status = read_file("/proc/self/status");
    return std::stod(status.substr(status.find("VmHWM:") + 6)) / 1024;
}

/// Ingest in a child that is killed before its `kill_at`th statement. Returns false where it came to its end before.
bool ingest_and_die(const fs::path& project, int kill_at) {
    const pid_t child = ::fork();
    if (child == 0) {
        int statements = 0;
        set_statement_hook([&] {
            if (++statements == kill_at) ::kill(::getpid(), SIGKILL);
        });
        try {
            Store(project).ingest_all();
        } catch (...) {
            ::_exit(3);
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

std::string reference_dump(const fs::path& project) {
    Store store(project);
    store.ingest_all();
    return store.dump();
}

/// The first statement of `body` finds the disk full.
void with_full_disk(const std::function<void()>& body) {
    bool told = false;
    set_statement_hook([&] {
        if (!std::exchange(told, true)) throw Unwritable("the disk is full");
    });
    body();
    set_statement_hook({});
}

void remove_store(const fs::path& project) {
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(Store::location(project).string() + ending);
}

}  // namespace

class TestStore : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_long_journal_is_read_without_being_in_memory_whole() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        QSKIP("a sanitizer has memory of its own, and keeps what was given back");
#endif
        constexpr int steps = 120'000;
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        write_long_attempt(run, steps);
        const double journal_mib = static_cast<double>(fs::file_size(run.attempt_journal(1))) / (1 << 20), before = peak_mib();
        QVERIFY(journal_mib > 24);
        Store store(folder.path());
        QCOMPARE(store.ingest_all(), std::vector<std::string>{});
        const double taken = peak_mib() - before;
        // SQLite keeps up to 32 MiB of what it writes; the events at once would take six times the journal.
        QVERIFY2(taken < 2 * journal_mib, fmt::format("{} MiB for a journal of {} MiB", taken, journal_mib).c_str());
        QCOMPARE(store.runs().at(0).state.phase, RunPhase::done);
        QCOMPARE(store.runs().at(0).state.step, std::int64_t{steps});
        const std::vector<SeriesPoint> losses = store.series(run.info().id, "loss");
        QCOMPARE(losses.size(), std::size_t{steps});
        QCOMPARE(losses.at(70'000).value, 1.0 / 70'001);
    }
    void those_who_make_a_store_at_the_same_time_wait_for_one_another() {
        for (int round = 0; round < 60; ++round) {
            const TemporaryDirectory project;
            std::barrier start(4);
            std::atomic<int> refused = 0;
            std::vector<std::jthread> threads;
            for (int i = 0; i < 4; ++i)
                threads.emplace_back([&] {
                    start.arrive_and_wait();
                    try {
                        Store store(project.path());
                    } catch (const std::exception&) {
                        ++refused;
                    }
                });
            threads.clear();
            QCOMPARE(refused.load(), 0);
        }
    }
    void what_each_rank_takes_of_its_machine_is_a_curve_of_its_own() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        const int attempt = run.begin_attempt();
        for (const int rank : {0, 1}) {
            JournalWriter journal(run, attempt, {"", 0, Json::object(), rank});
            for (const int step : {3, 9}) {
                if (rank == 0) journal.step({{"step", step}, {"loss", 0.5}});
                if (rank == 1) journal.event("phase", {{"name", "train"}, {"step", step}});
                journal.sample({{"cpu_percent", 100 * step + rank}, {"memory_gib", 1.5}});
            }
        }
        Store store(project.path());
        QVERIFY(store.ingest_all().empty());
        const std::vector<std::string> expected{"loss", "system/cpu_percent", "system/cpu_percent (rank 1)", "system/memory_gib",
                                                "system/memory_gib (rank 1)"};
        QCOMPARE(store.series_names(run.info().id), expected);
        const std::vector<SeriesPoint> points = store.series(run.info().id, "system/cpu_percent (rank 1)");
        QCOMPARE(points.size(), std::size_t(2));
        QCOMPARE(points.back().value, 901.0);
        QCOMPARE(store.series(run.info().id, "system/cpu_percent").front().step, std::int64_t(3));  // where the training was
    }
    void runs_results_and_costs_are_read_back() {
        const TemporaryDirectory project;
        fill(project.path());
        Store store(project.path());
        QVERIFY(store.ingest_all().empty());
        const std::vector<RunRow> runs = store.runs();
        QCOMPARE(runs.size(), std::size_t{3});
        const auto row = [&](const std::string& variant) {
            return *std::find_if(runs.begin(), runs.end(), [&](const RunRow& one) { return one.info.variant == variant; });
        };
        QCOMPARE(row("EM").state.phase, RunPhase::done);
        QCOMPARE(row("EM").state.attempts, 2);
        QCOMPARE(row("EM").tags, std::vector<std::string>{"paper"});
        QCOMPARE(row("EM").num_scores, 3);
        QCOMPARE(row("Mix").state.phase, RunPhase::dead);
        const std::string id = row("EM").info.id;
        QCOMPARE(store.results(id, true).at(0).per_example.size(), std::size_t{20});
        QCOMPARE(store.cost(id).total_parameters.value(), std::int64_t{22713216});
        QCOMPARE(store.cost(id).encode_latency_ms.value(), 12.5);
        QCOMPARE(store.settings(id), RunDirectory(project.path() / "runs" / id).settings());
        QCOMPARE(store.documents(id, "figure").size(), std::size_t{1});
        QCOMPARE(store.documents(row("Mix").info.id, "analysis").at(0).first, std::string("inter_task_similarity"));
        QCOMPARE(store.integrity(), std::string("ok"));
    }
    void a_series_shows_the_last_attempts_value_of_a_step() {
        const TemporaryDirectory project;
        fill(project.path());
        Store store(project.path());
        store.ingest_all();
        std::string id;
        for (const RunRow& row : store.runs())
            if (row.info.variant == "EM") id = row.info.id;
        const std::vector<SeriesPoint> loss = store.series(id, "loss");
        QCOMPARE(loss.size(), std::size_t{6000});
        QCOMPARE(loss[3999].value, 1.0 / 4000);
        QCOMPARE(loss[4000].value, 2.0 / 4001);
        QCOMPARE(loss[5999].step, std::int64_t{6000});
        QCOMPARE(store.series_names(id), (std::vector<std::string>{"loss", "lr"}));
    }
    void ingesting_twice_gives_the_same_rows() {
        const TemporaryDirectory project;
        fill(project.path());
        const std::string once = reference_dump(project.path());
        QCOMPARE(reference_dump(project.path()), once);
        Store store(project.path());
        for (const std::string& id : Project(project.path(), false).run_ids()) store.ingest(RunDirectory(project.path() / "runs" / id));
        QCOMPARE(store.dump(), once);
    }
    void looking_often_while_a_run_writes_gives_the_same_rows_as_looking_once() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            Store store(project.path());
            for (int step = 1; step <= 9000; ++step) {
                journal.step({{"step", step}, {"loss", 1.0 / step}});
                if (step % 700 == 0) {
                    journal.flush();
                    store.ingest(run);
                }
            }
            journal.event("finished", {});
        }
        const std::string often = reference_dump(project.path());
        remove_store(project.path());
        QCOMPARE(reference_dump(project.path()), often);
    }
    /// FACETER_KILLS=200 makes it a campaign.
    void killed_at_any_statement_it_ends_with_the_same_rows() {
        const TemporaryDirectory project;
        fill(project.path());
        std::uint64_t statements = 0;
        set_statement_hook([&] { ++statements; });
        { Store(project.path()).ingest_all(); }
        set_statement_hook(nullptr);
        const std::string expected = reference_dump(project.path());
        remove_store(project.path());
        RandomStream random(7, "kills");
        const int trials = std::max(20, qEnvironmentVariableIntValue("FACETER_KILLS"));
        int killed = 0;
        for (int trial = 0; trial < trials; ++trial) {
            killed += ingest_and_die(project.path(), 1 + static_cast<int>(random.below(statements)));
            Store store(project.path());
            QCOMPARE(store.integrity(), std::string("ok"));
            if (trial % 4 == 3) {
                store.ingest_all();
                QCOMPARE(store.dump(), expected);
                remove_store(project.path());
            }
        }
        QVERIFY2(killed >= trials / 4, "too few trials were killed for the test to mean anything");
        qInfo("%d of %d trials were killed, over %d statements", killed, trials, static_cast<int>(statements));
    }
    void two_programs_at_once_give_the_same_rows() {
        const TemporaryDirectory project;
        fill(project.path());
        const std::string expected = reference_dump(project.path());
        remove_store(project.path());
        std::vector<std::thread> programs;
        for (int i = 0; i < 4; ++i) programs.emplace_back([&] { Store(project.path()).ingest_all(); });
        for (std::thread& program : programs) program.join();
        QCOMPARE(reference_dump(project.path()), expected);
    }
    void a_store_made_anew_equals_the_old_one() {
        const TemporaryDirectory project;
        fill(project.path());
        const std::string expected = reference_dump(project.path());
        Store::rebuild(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
    }
    void who_looks_while_a_store_is_made_anew_misses_no_run() {
        const TemporaryDirectory project;
        fill(project.path());
        Store(project.path()).ingest_all();
        const fs::path file = Store::location(project.path());
        const std::int64_t all = Database(file).scalar("SELECT count(*) FROM runs WHERE scores <> x''");
        std::int64_t fewest = all;
        bool looks = false;
        set_statement_hook([&] {
            if (std::exchange(looks, true)) return;
            fewest = std::min(fewest, Database(file).scalar("SELECT count(*) FROM runs WHERE scores <> x''"));
            looks = false;
        });
        const auto unhook = qScopeGuard([] { set_statement_hook({}); });
        Store::rebuild(project.path());
        QVERIFY(all > 0);
        QCOMPARE(fewest, all);
    }
    void where_neither_project_nor_cache_can_be_written_it_lies_in_memory() {
        const QByteArray before = qgetenv("FACETER_CACHE");
        qputenv("FACETER_CACHE", "/dev/null/cache");
        const auto restore = qScopeGuard([&] { before.isEmpty() ? qunsetenv("FACETER_CACHE") : qputenv("FACETER_CACHE", before); });
        EXPECT_ERROR(Store::location("/nonexistent/project"), "/nonexistent/project: has no place for its store: /dev/null/cache/stores");
        Store store("/nonexistent/project");
        QVERIFY(store.file().empty());
        QCOMPARE(store.runs().size(), std::size_t{0});
    }
    void a_store_that_cannot_be_opened_hides_no_run_and_can_be_made_anew() {
        const TemporaryDirectory project;
        fill(project.path());
        const std::string expected = reference_dump(project.path());
        const fs::path file = Store::location(project.path());
        const auto check = [&](const char* why) {
            Store store(project.path());
            const std::vector<std::string> warnings = store.ingest_all();
            QVERIFY(!warnings.empty());
            for (const std::string& piece : {std::string("faceter.sqlite: ") + why, std::string("faceter ingest --rebuild")})
                QVERIFY2(warnings.back().find(piece) != std::string::npos, warnings.back().c_str());
            QVERIFY(store.file().empty());
            QCOMPARE(store.dump(), expected);
        };
        remove_store(project.path());
        fs::create_directory(file);
        check("is no file");
        Store::rebuild(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
        remove_store(project.path());
        QCOMPARE(::mkfifo(file.c_str(), 0600), 0);
        check("is no file");
        Store::rebuild(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
        remove_store(project.path());
        const fs::path elsewhere = project.path() / "elsewhere.sqlite";
        fs::create_symlink(elsewhere, file);
        check("is a link");
        QVERIFY(!fs::exists(elsewhere));
        Store::rebuild(project.path());
        QVERIFY(!fs::exists(elsewhere));
        QCOMPARE(reference_dump(project.path()), expected);
        const TemporaryDirectory folder;
        fs::create_directory_symlink(project.path(), folder.path() / "link");  // the project itself may be behind one
        QVERIFY(!Store(folder.path() / "link").file().empty());
        QCOMPARE(reference_dump(folder.path() / "link"), expected);
        if (::geteuid() == 0) return;  // may open everything
        fs::permissions(file, fs::perms::none);
        check("cannot be opened: Permission denied");
        Store::rebuild(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
    }
    void a_damaged_store_says_what_to_do_and_can_be_made_anew() {
        const TemporaryDirectory project;
        fill(project.path());
        const std::string expected = reference_dump(project.path());
        remove_store(project.path());
        write_file_atomic(Store::location(project.path()), std::string(8192, 'x'));
        EXPECT_ERROR(Store(project.path()), "faceter.sqlite", "faceter ingest --rebuild");
        Store::rebuild(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
    }
    void a_database_of_another_program_is_left_alone() {
        const TemporaryDirectory project;
        fill(project.path());
        const std::string expected = reference_dump(project.path());
        remove_store(project.path());
        const fs::path file = Store::location(project.path());
        { Database(file).execute("CREATE TABLE birds (name); INSERT INTO birds VALUES ('heron')"); }
        for (const int its_version : {0, 1, 3}) {
            Database(file).execute(fmt::format("PRAGMA user_version = {}", its_version));
            EXPECT_ERROR(Store(project.path()), "faceter.sqlite", "is a database of another program", "birds", "move it away");
            EXPECT_ERROR(Store::rebuild(project.path()), "is a database of another program");
        }
        {
            Database kept(file);
            QCOMPARE(kept.scalar("SELECT count(*) FROM birds WHERE name = 'heron'"), std::int64_t{1});
            QCOMPARE(kept.scalar("SELECT count(*) FROM sqlite_master"), std::int64_t{1});
        }
        remove_store(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
    }
    void a_database_of_another_program_stays_byte_for_byte_as_it_was() {
        for (const std::string mode : {"DELETE", "WAL", "left"}) {
            const TemporaryDirectory project;
            fill(project.path());
            const fs::path file = Store::location(project.path()), left = file.string() + "-wal";
            {
                Database its(file);
                its.execute("CREATE TABLE runs (name); CREATE TABLE birds (name)");
                if (mode == "left")  // by a program that was killed
                    sqlite3_db_config(its.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
                else
                    its.execute("PRAGMA journal_mode = " + mode);
                its.execute("INSERT INTO birds VALUES ('heron')");
            }
            const std::string before = read_file(file);
            QCOMPARE(fs::exists(left), mode == "left");
            const std::string beside = mode == "left" ? read_file(left) : std::string();
            EXPECT_ERROR(Store(project.path()), "is a database of another program");
            EXPECT_ERROR(Store::rebuild(project.path()), "is a database of another program");
            QVERIFY(read_file(file) == before);
            QCOMPARE(fs::exists(left), mode == "left");
            QVERIFY(mode != "left" || read_file(left) == beside);
        }
    }
    void a_store_that_was_turned_to_another_mode_is_turned_back() {
        const TemporaryDirectory project;
        fill(project.path());
        const std::string expected = reference_dump(project.path());
        { Database(Store::location(project.path())).execute("PRAGMA journal_mode = DELETE"); }
        QCOMPARE(reference_dump(project.path()), expected);
        Database turned(Store::location(project.path()));
        Statement mode(turned, "PRAGMA journal_mode");
        QVERIFY(mode.next());
        QCOMPARE(mode.text(0), std::string("wal"));
    }
    void who_waits_for_a_held_store_says_how_long() {
        const TemporaryDirectory project;
        { const Store made(project.path()); }
        Database other(Store::location(project.path()));
        other.execute("PRAGMA locking_mode = EXCLUSIVE");
        other.execute("BEGIN EXCLUSIVE");
        set_store_wait(std::chrono::milliseconds(10));
        EXPECT_ERROR(Store(project.path()), "another program holds the store", "for 0.01 s");
        set_store_wait(std::chrono::seconds(20));
    }
    void nothing_of_a_foreign_store_is_run() {
        const char* const endless = "WITH RECURSIVE c(x, y) AS (SELECT 1, 2 UNION ALL SELECT x + 1, y FROM c) SELECT x, y FROM c";
        const TemporaryDirectory project;
        fill(project.path());
        const std::string expected = reference_dump(project.path());
        const auto spoil = [&](const std::string& sql) { Database(Store::location(project.path())).execute(sql); };
        spoil(fmt::format("DROP TABLE tags; CREATE VIEW tags(run, tag) AS {}", endless));
        EXPECT_ERROR(Store(project.path()).ingest_all(), "faceter.sqlite", "faceter ingest --rebuild");
        Store::rebuild(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
        spoil("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END");
        Store::rebuild(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
        spoil("PRAGMA user_version = -5");
        EXPECT_ERROR(Store(project.path()), "no store of Faceter", "faceter ingest --rebuild");
        Store::rebuild(project.path());
        QCOMPARE(reference_dump(project.path()), expected);
    }
    void a_store_of_a_newer_faceter_is_left_alone() {
        const TemporaryDirectory project;
        Project(project.path(), true);
        { Store store(project.path()); }
        { Database(Store::location(project.path())).execute("PRAGMA user_version = 99"); }
        EXPECT_ERROR(Store(project.path()), "newer Faceter");
    }
    void a_store_of_version_1_is_lifted_with_all_that_it_holds() {
        const TemporaryDirectory project;
        Project(project.path(), true);
        Database(Store::location(project.path()))
            .execute(read_file(fs::path(FACETER_SOURCE_DIR) / "tests/store/fixtures/store_version_1.sql"));
        Store store(project.path());
        const std::vector<RunRow> runs = store.runs();
        QCOMPARE(runs.size(), std::size_t{2});
        QCOMPARE(runs[0].info.id, std::string("old-em-s1"));
        QCOMPARE(runs[0].mean_score, 66.5);
        QCOMPARE(runs[0].num_scores, 2);
        QCOMPARE(runs[0].tags, std::vector<std::string>{"paper"});
        QCOMPARE(runs[0].note, std::string("kept"));
        QVERIFY(!runs[0].pinned);
        QCOMPARE(store.series("old-em-s1", "loss").size(), std::size_t{200});
        QCOMPARE(store.series_range("old-em-s1", "loss", SeriesX::step).count, std::int64_t{200});
        QCOMPARE(store.series_range("old-em-s1", "loss", SeriesX::tokens).to, 20'000.0);
        QCOMPARE(store.series_sample("old-em-s1", "loss", SeriesX::step, 101, 110, 1).at(0).max, 2.0 / 101);  // the second attempt's
        QCOMPARE(store.key_settings().values.at("old-em-s2").at("training.learning_rate"), std::string("1e-05"));
        QCOMPARE(store.integrity(), std::string("ok"));
        store.ingest_all();
        QCOMPARE(store.changes_since(1).removed.size(), std::size_t{2});  // their folders are not here
    }
    void runs_whose_folders_are_gone_leave_the_store() {
        const TemporaryDirectory project;
        fill(project.path());
        Store store(project.path());
        store.ingest_all();
        fs::remove_all(project.path() / "runs" / store.runs().front().info.id);
        store.ingest_all();
        QCOMPARE(store.runs().size(), std::size_t{2});
        QCOMPARE(store.integrity(), std::string("ok"));
    }
    void folders_that_are_no_runs_and_torn_journals_are_warnings() {
        const TemporaryDirectory project;
        fill(project.path());
        make_directories(project.path() / "runs" / "stray");
        const RunDirectory torn = sample_run(project.path(), 4);
        write_attempt(torn, 1, 5, "finished");
        const std::string whole = read_file(torn.attempt_journal(1));
        write_file_atomic(torn.attempt_journal(1), whole + whole.substr(0, 40));
        write_file_atomic(torn.results() / "bad.json", "{\"score\": ");
        Store store(project.path());
        const std::vector<std::string> warnings = store.ingest_all();
        QCOMPARE(warnings.size(), std::size_t{3});
        QCOMPARE(store.runs().size(), std::size_t{4});
    }
    void the_last_line_of_a_live_run_is_on_its_way_and_no_warning() {
        const TemporaryDirectory project;
        const RunDirectory live = sample_run(project.path(), 1);
        write_attempt(live, 1, 5, "");
        const std::string whole = read_file(live.attempt_journal(1));
        write_file_atomic(live.attempt_journal(1), whole + whole.substr(0, 40));
        Store store(project.path());
        QVERIFY(store.ingest_all().empty());
        write_file_atomic(live.attempt_journal(1), whole + "not a line\n");  // whole, and wrong
        QCOMPARE(store.ingest_all().size(), std::size_t{1});
    }
    void hostile_results_do_no_harm() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        run.write_result("a", {{"score", "high"}, {"n", -5}, {"metrics", 3}, {"per_example", {1, "x", nullptr}}, {"name", 7}});
        run.write_result("b", Json::array());
        run.write_result("_model", {{"total_parameters", "many"}});
        Store store(project.path());
        const std::vector<std::string> said = store.ingest_all();  // else a run would leave the comparisons without a word
        QCOMPARE(said.size(), std::size_t{2});
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
            QVERIFY2(said[i].find(i == 0 ? "a.json: is no result" : "b.json: is no result") != std::string::npos, said[i].c_str());
        const auto results = store.results(run.info().id, true);
        QCOMPARE(results.size(), std::size_t{1});
        QCOMPARE(results[0].name, std::string("a"));
        QCOMPARE(results[0].per_example.size(), std::size_t{3});
        QVERIFY(!store.cost(run.info().id).total_parameters);
    }
    void a_look_gives_back_the_pages_that_it_wrote() {
        const TemporaryDirectory project;
        for (int i = 0; i < 12; ++i) write_attempt(sample_run(project.path()), 1, 6000, "finished");
        Store store(project.path());
        const std::int64_t before = sqlite3_memory_used();
        store.ingest_all();
        const auto written = static_cast<std::int64_t>(fs::file_size(store.file()));
        const std::int64_t kept = sqlite3_memory_used() - before;
        QVERIFY(written > 1'000'000);
        QVERIFY2(kept < written / 4, qPrintable(QStringLiteral("%1 bytes of %2").arg(kept).arg(written)));
    }
    void runs_that_were_taken_in_stay_when_the_disk_gets_full_data() {
        QTest::addColumn<bool>("all");
        QTest::newRow("one by one") << false;
        QTest::newRow("in a look at all") << true;
    }
    void runs_that_were_taken_in_stay_when_the_disk_gets_full() {
        QFETCH(bool, all);
        const TemporaryDirectory project;
        const RunDirectory first = sample_run(project.path(), 1), second = sample_run(project.path(), 2);
        Store store(project.path());
        if (all) QVERIFY(store.ingest_all().empty());
        if (!all) store.ingest(first);
        with_full_disk([&] { store.ingest(second); });
        QVERIFY(store.file().empty());
        QCOMPARE(store.runs().size(), std::size_t{2});
        store.ingest_changed();
        QCOMPARE(store.runs().size(), std::size_t{2});
    }
    /// The store in memory once gave out the numbers of the one on disk again.
    void what_changes_while_the_disk_gets_full_is_told_to_who_knows_the_rest() {
        const TemporaryDirectory project;
        const RunDirectory first = sample_run(project.path(), 1), second = sample_run(project.path(), 2);
        Store store(project.path());
        store.ingest_all();
        const std::int64_t known = store.changes_since(0).revision;
        const std::uint64_t counter = store.change_counter();
        first.append_user_event({{"tag", "late"}});
        with_full_disk([&] { store.ingest_all(); });
        QVERIFY(store.change_counter() != counter);
        const RunChanges changes = store.changes_since(known);
        const auto changed =
            std::find_if(changes.changed.begin(), changes.changed.end(), [&](const RunRow& row) { return row.info.id == first.info().id; });
        QVERIFY(changed != changes.changed.end());
        QCOMPARE(changed->tags, std::vector<std::string>{"late"});
        QVERIFY(changes.removed.empty());
        QVERIFY(store.changes_since(changes.revision).changed.empty());
    }
    void a_run_that_goes_while_the_disk_gets_full_is_told_to_be_gone() {
        const TemporaryDirectory project;
        const RunDirectory first = sample_run(project.path(), 1), second = sample_run(project.path(), 2);
        Store store(project.path());
        store.ingest_all();
        const std::int64_t known = store.changes_since(0).revision;
        Project(project.path(), false).remove(second.info().id);
        with_full_disk([&] { store.ingest_all(); });
        QCOMPARE(store.changes_since(known).removed, std::vector<std::string>{second.info().id});
        QCOMPARE(store.runs().size(), std::size_t{1});
    }
    void file_systems_of_several_machines_are_known() {
        QVERIFY(is_shared_file_system(0x6969));
        QVERIFY(is_shared_file_system(0x0BD00BD0));
        QVERIFY(!is_shared_file_system(0xEF53));
    }
};

FACETER_TEST(TestStore)
#include "test_store.moc"
