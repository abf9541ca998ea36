#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "eval/embedding_file.h"
#include "store/sqlite.h"
#include "store/store_errors.h"
#include "support/test.h"

using namespace faceter;

namespace {

std::vector<Hash128> keys_from(std::uint64_t first, std::size_t count) {
    std::vector<Hash128> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back({first + i, ~(first + i)});
    return keys;
}

/// Row i of key k has the value k everywhere.
std::vector<float> rows_of(const std::vector<Hash128>& keys, std::size_t dim) {
    std::vector<float> rows;
    for (const Hash128& key : keys) rows.insert(rows.end(), dim, static_cast<float>(key.low));
    return rows;
}

/// How many of the keys are there, all with their own values; -1 where a value is wrong.
int count_good(EmbeddingFile& file, const std::vector<Hash128>& keys, std::size_t dim) {
    std::vector<float> rows(keys.size() * dim, -1);
    const auto found = file.read(keys, static_cast<std::int64_t>(dim), rows.data());
    int good = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!found[i]) continue;
        for (std::size_t d = 0; d < dim; ++d)
            if (rows[i * dim + d] != static_cast<float>(keys[i].low)) return -1;
        ++good;
    }
    return good;
}

}  // namespace

class TestEmbeddingFile : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void what_was_written_is_read_by_a_later_process() {
        const fs::path path = folder_.path() / "new/later.sqlite";
        const auto keys = keys_from(10, 100);
        {
            EmbeddingFile file(path, 1 << 20);
            file.write(keys, 8, rows_of(keys, 8).data());
            QCOMPARE(file.size(), std::uint64_t{100 * 8 * 4});
        }
        EmbeddingFile file(path, 1 << 20);
        QCOMPARE(count_good(file, keys, 8), 100);
        QCOMPARE(count_good(file, keys_from(1000, 5), 8), 0);
        QCOMPARE(count_good(file, keys, 16), 0);  // of another width: not ours
    }
    void a_key_is_kept_once() {
        EmbeddingFile file(folder_.path() / "once.sqlite", 1 << 20);
        const auto keys = keys_from(0, 10);
        for (int i = 0; i < 3; ++i) file.write(keys, 8, rows_of(keys, 8).data());
        QCOMPARE(file.size(), std::uint64_t{10 * 8 * 4});
    }
    void the_least_recently_used_go_first() {
        EmbeddingFile file(folder_.path() / "bounded.sqlite", 100 * 8 * 4);
        const auto old = keys_from(0, 50), used = keys_from(100, 40), fresh = keys_from(200, 40);
        file.write(old, 8, rows_of(old, 8).data());
        file.write(used, 8, rows_of(used, 8).data());
        QCOMPARE(count_good(file, keys_from(0, 5), 8), 5);  // used again
        file.write(fresh, 8, rows_of(fresh, 8).data());
        QVERIFY(file.size() <= 100 * 8 * 4);
        QCOMPARE(count_good(file, fresh, 8), 40);
        QCOMPARE(count_good(file, keys_from(0, 5), 8), 5);
        QVERIFY(count_good(file, keys_from(5, 45), 8) < 45);
        QCOMPARE(count_good(file, used, 8), 40);
    }
    void two_processes_write_and_read_one_file() {
        const fs::path path = folder_.path() / "shared.sqlite";
        std::vector<pid_t> children;
        for (int child = 0; child < 3; ++child) {
            const pid_t pid = ::fork();
            if (pid == 0) {
                int wrong = 0;
                try {
                    EmbeddingFile file(path, 1 << 22);
                    for (std::uint64_t part = 0; part < 10; ++part) {
                        const auto keys =
                            keys_from(100 * part + 50 * static_cast<std::uint64_t>(child), 100);  // half of them a sibling's as well
                        file.write(keys, 8, rows_of(keys, 8).data());
                        wrong += count_good(file, keys, 8) != 100;
                    }
                } catch (const std::exception&) {
                    wrong = 99;
                }
                ::_exit(wrong);
            }
            children.push_back(pid);
        }
        for (const pid_t pid : children) {
            int status = 0;
            QCOMPARE(::waitpid(pid, &status, 0), pid);
            QVERIFY(WIFEXITED(status));
            QCOMPARE(WEXITSTATUS(status), 0);
        }
        EmbeddingFile file(path, 1 << 22);
        QCOMPARE(count_good(file, keys_from(0, 1100), 8), 1100);
        QCOMPARE(file.size(), std::uint64_t{1100 * 8 * 4});
    }
    void a_killed_writer_leaves_the_file_whole() {
        const fs::path path = folder_.path() / "killed.sqlite";
        EmbeddingFile(path, 1 << 24);
        for (int round = 0; round < 8; ++round) {
            const pid_t pid = ::fork();
            if (pid == 0) {
                EmbeddingFile file(path, 1 << 24);
                for (std::uint64_t part = 0;; ++part) {
                    const auto keys = keys_from(10000 * part, 500);
                    file.write(keys, 32, rows_of(keys, 32).data());
                }
            }
            ::usleep(static_cast<useconds_t>(20'000 + 7'000 * round));
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
            EmbeddingFile file(path, 1 << 24);
            QVERIFY(count_good(file, keys_from(0, 500), 32) >= 0);
            QCOMPARE(file.size() % (500 * 32 * 4), std::uint64_t{0});  // a write is there whole or not at all
        }
    }
    void a_row_that_is_not_what_was_written_is_computed_again() {
        const fs::path path = folder_.path() / "turned.sqlite";
        const auto keys = keys_from(1, 20);
        EmbeddingFile(path, 1 << 20).write(keys, 8, rows_of(keys, 8).data());
        Database(path).execute("UPDATE embeddings SET row = zeroblob(length(row)) WHERE key IN (SELECT key FROM embeddings LIMIT 1)");
        EmbeddingFile file(path, 1 << 20);
        QCOMPARE(count_good(file, keys, 8), 19);
        QCOMPARE(file.size(), std::uint64_t{19 * 8 * 4});
        file.write(keys, 8, rows_of(keys, 8).data());
        QCOMPARE(count_good(file, keys, 8), 20);
        QCOMPARE(file.size(), std::uint64_t{20 * 8 * 4});
    }
    void a_file_that_turns_out_damaged_behind_its_beginning_is_made_new() {
        const fs::path path = folder_.path() / "rotten.sqlite";
        const auto keys = keys_from(1, 3000);
        EmbeddingFile(path, 1 << 24).write(keys, 64, rows_of(keys, 64).data());
        std::string bytes = read_file(path);
        for (std::size_t i = bytes.size() / 2; i < bytes.size(); ++i) bytes[i] = 'x';
        write_file_atomic(path, bytes);
        EmbeddingFile file(path, 1 << 24);
        QVERIFY(count_good(file, keys, 64) < 3000);
        file.write(keys, 64, rows_of(keys, 64).data());
        QCOMPARE(count_good(file, keys, 64), 3000);
    }
    void the_work_goes_on_where_nothing_can_be_kept() {
        EmbeddingFile file(folder_.path() / "full.sqlite", 1 << 20);
        const auto keys = keys_from(1, 3);
        set_statement_hook([] { throw Unwritable("the disk is full"); });
        file.write(keys, 4, rows_of(keys, 4).data());
        set_statement_hook({});
        QCOMPARE(count_good(file, keys, 4), 0);
    }
    void a_damaged_file_is_made_new() {
        const fs::path path = folder_.path() / "damaged.sqlite";
        std::ofstream(path) << std::string(5000, 'x');
        EmbeddingFile file(path, 1 << 20);
        const auto keys = keys_from(1, 3);
        file.write(keys, 4, rows_of(keys, 4).data());
        QCOMPARE(count_good(file, keys, 4), 3);
    }
};

FACETER_TEST(TestEmbeddingFile)
#include "test_embedding_file.moc"
