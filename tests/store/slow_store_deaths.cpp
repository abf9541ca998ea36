#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/error.h"
#include "store/store.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Runs `body` in a process of its own that is killed at its `wanted`th statement. False where it came to its end before.
bool killed_at(int wanted, const std::function<void()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        int statements = 0;
        set_statement_hook([&] {
            if (++statements == wanted) ::kill(::getpid(), SIGKILL);
        });
        body();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

/// The same with files that cannot grow beyond so many bytes, as on a disk that is full then. `body` says whether it noticed.
bool notices_at_size(rlim_t bytes, const std::function<bool()>& body) {
    constexpr int wrong = 3, noticed = 5;
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, bytes};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        try {
            ::_exit(body() ? noticed : 0);
        } catch (const Error& error) {
            qWarning("at %zu bytes: %s", static_cast<std::size_t>(bytes), error.what());
            ::_exit(wrong);
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == wrong) throw failure("a full disk is no reason to fail where the runs can be read");
    return WEXITSTATUS(status) == noticed;
}

/// All runs are there, whatever the store has room for.
bool ingests_without_room(const fs::path& project) {
    Store store(project);
    const std::vector<std::string> warnings = store.ingest_all();
    if (store.runs().size() != 2) throw failure("{} runs", store.runs().size());
    const bool told = !warnings.empty() && warnings.back().find("cannot be written") != std::string::npos;
    if (told != store.file().empty()) throw failure("{} warnings", warnings.size());
    return told;
}

void remove_store(const fs::path& project) {
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(Store::location(project).string() + ending);
}

/// A project with two runs, and what its store holds.
struct Filled {
    TemporaryDirectory folder;
    std::string expected;
    Filled() {
        const RunDirectory done = sample_run(folder.path(), 1), stopped = sample_run(folder.path(), 2);
        write_attempt(done, 1, 40, "finished");
        write_results(done, 1, 2);
        write_attempt(stopped, 1, 20, "stopped");
        expected = ingested();
        remove_store(folder.path());
    }
    std::string ingested() const {
        Store store(folder.path());
        store.ingest_all();
        return store.integrity() + "\n" + store.dump();
    }
};

/// A store of version 1 alone.
struct Old {
    TemporaryDirectory folder;
    Old() {
        Project(folder.path(), true);
        lay();
    }
    void lay() const {
        remove_store(folder.path());
        Database(Store::location(folder.path()))
            .execute(read_file(fs::path(FACETER_SOURCE_DIR) / "tests/store/fixtures/store_version_1.sql"));
    }
    std::string opened() const {
        Store store(folder.path());
        return store.integrity() + "\n" + store.dump();
    }
};

}  // namespace

/// The store after a death or an error at any point of what is written into it.
class SlowStoreDeaths : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_death_at_any_statement_of_an_ingest_loses_nothing() {
        const Filled filled;
        int statement = 1;
        for (; killed_at(statement, [&] { Store(filled.folder.path()).ingest_all(); }); ++statement) {
            QCOMPARE(filled.ingested(), filled.expected);
            remove_store(filled.folder.path());
        }
        QVERIFY2(statement > 50, fmt::format("{} statements", statement).c_str());
    }
    void a_death_at_any_statement_of_a_migration_leaves_the_old_store_or_the_new() {
        const Old old;
        const std::string expected = old.opened();
        int statement = 1;
        for (old.lay(); killed_at(statement, [&] { const Store store(old.folder.path()); }); ++statement) {
            QCOMPARE(old.opened(), expected);
            old.lay();
        }
        QVERIFY2(statement > 10, fmt::format("{} statements", statement).c_str());
    }
    void a_disk_that_is_full_at_any_size_hides_no_run_and_the_next_ingest_is_whole() {
        const Filled filled;
        int noticed = 0;
        for (rlim_t bytes = 0; bytes <= 256 << 10; bytes += 8 << 10) {
            noticed += notices_at_size(bytes, [&] { return ingests_without_room(filled.folder.path()); });
            QCOMPARE(filled.ingested(), filled.expected);
            remove_store(filled.folder.path());
        }
        QVERIFY2(noticed > 5, fmt::format("{} times", noticed).c_str());
    }
    void a_disk_that_is_full_at_any_size_of_a_migration_leaves_the_old_store() {
        const Old old;
        const std::string expected = old.opened();
        int noticed = 0;
        for (rlim_t bytes = 0; bytes <= 512 << 10; bytes += 8 << 10) {
            old.lay();
            noticed += notices_at_size(bytes, [&] { return Store(old.folder.path()).file().empty(); });
            QCOMPARE(old.opened(), expected);
        }
        QVERIFY2(noticed > 5, fmt::format("{} times", noticed).c_str());
    }
};

FACETER_TEST(SlowStoreDeaths)
#include "slow_store_deaths.moc"
