#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "common/error.h"
#include "store/project_findings.h"
#include "store/store.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr int writers = 16, rounds = 25, steps_a_round = 20;

/// What a worker and its supervisor do: steps, a result now and then, and an ingest of the one run.
void work(const RunDirectory& run) {
    JournalWriter journal(run, run.begin_attempt(), {});
    journal.event("stage_started", {{"stage", "train"}, {"total_steps", rounds * steps_a_round}});
    for (int round = 0; round < rounds; ++round) {
        for (int i = 1; i <= steps_a_round; ++i) journal.step({{"step", round * steps_a_round + i}, {"loss", 1.0 / i}, {"lr", 1e-5}});
        journal.flush();
        write_results(run, round, 1);
        Store(run.project()).ingest(run);
    }
    journal.event("finished");
}

pid_t start_writer(const RunDirectory& run) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    try {
        work(run);
    } catch (const std::exception& error) {
        qWarning("%s", error.what());
        ::_exit(1);
    }
    ::_exit(0);
}

/// How many have ended since the last call; `failed` counts those that did not end well.
int ended_writers(int& failed) {
    int status = 0, ended = 0;
    for (; ::waitpid(-1, &status, WNOHANG) > 0; ++ended) failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return ended;
}

std::string ingested(const fs::path& project) {
    Store store(project);
    store.ingest_all();
    return store.integrity() + "\n" + store.dump();
}

}  // namespace

class SlowStoreLoad : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void sixteen_processes_write_one_store_while_another_reads_it() {
        const TemporaryDirectory folder;
        std::vector<RunDirectory> runs;
        for (int i = 0; i < writers; ++i) runs.push_back(sample_run(folder.path(), static_cast<std::size_t>(i) % 4));
        { const Store made(folder.path()); }
        for (const RunDirectory& run : runs) QVERIFY(start_writer(run) > 0);
        Store reader(folder.path());
        std::map<std::string, std::int64_t> seen;
        int failed = 0, looks = 0;
        for (int open = writers; open > 0; open -= ended_writers(failed), ++looks) {
            reader.ingest_changed();
            for (const RunRow& row : reader.runs()) {
                QVERIFY2(row.state.step >= seen[row.info.id], row.info.id.c_str());
                seen[row.info.id] = row.state.step;
                QVERIFY(reader.series(row.info.id, "loss").size() <= std::size_t{rounds * steps_a_round});
            }
        }
        QCOMPARE(failed, 0);
        QVERIFY2(looks > 1, fmt::format("{} looks", looks).c_str());
        const std::string together = ingested(folder.path());
        for (const char* ending : {"", "-wal", "-shm"}) fs::remove(Store::location(folder.path()).string() + ending);
        QCOMPARE(together, ingested(folder.path()));
    }
    void a_store_that_another_program_keeps_for_itself_says_what_to_do() {
        const TemporaryDirectory folder;
        sample_run(folder.path());
        { const Store made(folder.path()); }
        Database other(Store::location(folder.path()));
        other.execute("PRAGMA locking_mode = EXCLUSIVE");
        other.execute("BEGIN EXCLUSIVE");
        int told = 0;
        for (const DoctorFinding& finding : find_in_project(Project(folder.path(), false))) {
            if (finding.what.find("another program holds the store") == std::string::npos) continue;
            ++told;
            QVERIFY2(finding.what.find("faceter.sqlite") != std::string::npos, finding.what.c_str());
            QVERIFY2(finding.what.find("close it and try again") != std::string::npos, finding.what.c_str());
            QCOMPARE(finding.command, std::string());  // it is well, and must not be moved away
        }
        QCOMPARE(told, 1);
    }
};

FACETER_TEST(SlowStoreLoad)
#include "slow_store_load.moc"
