#include "eval/embedding_file.h"

#include <sys/vfs.h>

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "common/printable.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store/store_errors.h"

namespace faceter {
namespace {

constexpr int file_format = 2;
constexpr double kept_share = 0.9;  ///< of the bound, after an eviction: not every write evicts

constexpr std::size_t seal_bytes = sizeof(std::uint32_t);

std::span<const std::byte> bytes_of(const Hash128& key) { return std::as_bytes(std::span(&key, 1)); }

/// Stands behind each row: SQLite does not look whether what it has of a row is what was written, and a bit that a disk turned would be
/// somebody's score.
std::uint32_t seal_of(const Hash128& key, std::string_view row) {
    return crc32c(row, crc32c({reinterpret_cast<const char*>(&key), sizeof key}));
}

bool is_sealed(const Hash128& key, std::string_view stored) {
    const std::uint32_t seal = seal_of(key, stored.substr(0, stored.size() - seal_bytes));
    return std::memcmp(&seal, stored.data() + stored.size() - seal_bytes, seal_bytes) == 0;
}

void remove_database(const fs::path& file) {
    std::error_code ignored;
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(file.string() + ending, ignored);
}

/// A file of another form, or one that is damaged, is of no use to anybody.
std::unique_ptr<Database> open_database(const fs::path& file) {
    const auto open = [&] {
        auto database = std::make_unique<Database>(file);
        if (const auto found = database->scalar("PRAGMA user_version"); found != file_format && found != 0)
            throw data_error("{}: made by another version", file.string());
        database->transaction([&] {
            database->execute(
                "CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, used INTEGER NOT NULL, row BLOB NOT NULL) WITHOUT ROWID");
            database->execute("CREATE INDEX IF NOT EXISTS embeddings_used ON embeddings (used)");
            database->execute("CREATE TABLE IF NOT EXISTS totals (bytes INTEGER NOT NULL, clock INTEGER NOT NULL)");
            database->execute("INSERT INTO totals SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM totals)");
            database->execute(fmt::format("PRAGMA user_version = {}", file_format));
        });
        return database;
    };
    try {
        return open();
    } catch (const BusyStore&) {
        throw failure("{}: another program holds this cache of embeddings; wait for it, or leave --cache out", file.string());
    } catch (const Error& error) {
        if (error.code() != ExitCode::data)
            throw Error(error.code(), fmt::format("the cache of embeddings cannot be used: {}; or leave --cache out", error.what()));
    }
    remove_database(file);
    try {
        return open();
    } catch (const DamagedStore&) {
        throw failure("{}: this cache of embeddings is damaged, and cannot be removed; leave --cache out", file.string());
    }
}

void need_local(const fs::path& folder) {
    struct statfs info {};
    if (::statfs(folder.c_str(), &info) == 0 && is_shared_file_system(static_cast<std::uint64_t>(info.f_type)))
        throw usage_error("{}: lies on a file system that several machines may write; give a cache file on a local disk", folder.string());
}

}  // namespace

struct EmbeddingFile::State {
    fs::path file;
    std::uint64_t max_bytes;
    std::unique_ptr<Database> database;  ///< null: it could not be used any more

    /// Whoever asks computes what he does not find here: a file that is damaged is made new, and without one that is locked or whose disk
    /// is full the work goes on.
    template <typename Body>
    bool use(Body body) {
        if (!database) return false;
        try {
            body();
            return true;
        } catch (const DamagedStore&) {
            database.reset();
            remove_database(file);
            try {
                database = open_database(file);
            } catch (const Error& error) {
                give_up(error.what());
            }
        } catch (const Error& error) {
            give_up(error.what());
        }
        return false;
    }
    void give_up(const char* why) {
        database.reset();
        say(stderr, "warning: the cache of embeddings is not used any more: {}\n", why);
    }

    std::int64_t next_clock() {
        database->execute("UPDATE totals SET clock = clock + 1");
        return database->scalar("SELECT clock FROM totals");
    }
    void evict() {
        auto total = static_cast<std::uint64_t>(database->scalar("SELECT bytes FROM totals"));
        if (total <= max_bytes) return;
        const auto bound = static_cast<std::uint64_t>(kept_share * static_cast<double>(max_bytes));
        Statement oldest(*database, fmt::format("SELECT key, length(row) - {} FROM embeddings ORDER BY used LIMIT 1000", seal_bytes));
        Statement remove(*database, "DELETE FROM embeddings WHERE key = ?");
        while (total > bound) {
            std::vector<std::pair<std::string, std::uint64_t>> batch;
            for (oldest.reset(); oldest.next();) batch.emplace_back(oldest.blob(0), static_cast<std::uint64_t>(oldest.integer(1)));
            oldest.reset();
            if (batch.empty()) break;
            for (const auto& [key, size] : batch) {
                if (total <= bound) break;
                remove.bind(std::as_bytes(std::span<const char>(key.data(), key.size()))).run();
                total -= std::min(total, size);
            }
        }
        Statement(*database, "UPDATE totals SET bytes = ?").bind(total).run();
    }
};

EmbeddingFile::EmbeddingFile(const fs::path& file, std::uint64_t max_bytes) : state_(std::make_unique<State>()) {
    make_directories(absolute_path(file).parent_path());
    need_local(absolute_path(file).parent_path());
    state_->file = file;
    state_->max_bytes = max_bytes;
    state_->database = open_database(file);
}

EmbeddingFile::~EmbeddingFile() = default;

std::vector<bool> EmbeddingFile::read(std::span<const Hash128> keys, std::int64_t dim, float* rows) {
    const std::size_t width = static_cast<std::size_t>(dim) * sizeof(float);
    std::vector<bool> found(keys.size(), false);
    std::vector<std::size_t> touched;
    std::vector<std::pair<std::size_t, std::size_t>> broken;  ///< place, bytes
    const bool whole = state_->use([&] {
        state_->database->snapshot([&] {
            Statement select(*state_->database, "SELECT row FROM embeddings WHERE key = ?");
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (!select.bind(bytes_of(keys[i])).next()) continue;
                const std::size_t size = select.blob(0).size();
                if (size != width + seal_bytes || !is_sealed(keys[i], select.blob(0))) {
                    broken.emplace_back(i, size - std::min(size, seal_bytes));
                    continue;
                }
                std::memcpy(reinterpret_cast<char*>(rows) + i * width, select.blob(0).data(), width);
                found[i] = true;
                touched.push_back(i);
            }
        });
    });
    if (!whole) found.assign(keys.size(), false);
    if (!whole || (touched.empty() && broken.empty())) return found;
    state_->use([&] {
        state_->database->transaction([&] {
            const std::int64_t now = state_->next_clock();
            Statement touch(*state_->database, "UPDATE embeddings SET used = ? WHERE key = ?");
            for (const std::size_t i : touched) touch.bind(now, bytes_of(keys[i])).run();
            Statement remove(*state_->database, "DELETE FROM embeddings WHERE key = ?");
            Statement forget(*state_->database, "UPDATE totals SET bytes = max(0, bytes - ?)");
            for (const auto& [i, bytes] : broken) {
                remove.bind(bytes_of(keys[i])).run();
                if (state_->database->changes() > 0) forget.bind(bytes).run();
            }
        });
    });
    return found;
}

void EmbeddingFile::write(std::span<const Hash128> keys, std::int64_t dim, const float* rows) {
    const std::size_t width = static_cast<std::size_t>(dim) * sizeof(float);
    const auto put = [&] {
        state_->database->transaction([&] {
            const std::int64_t now = state_->next_clock();
            std::uint64_t added = 0;
            Statement insert(*state_->database, "INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)");
            for (std::size_t i = 0; i < keys.size(); ++i) {
                std::string row(reinterpret_cast<const char*>(rows) + i * width, width);
                const std::uint32_t seal = seal_of(keys[i], row);
                row.append(reinterpret_cast<const char*>(&seal), seal_bytes);
                insert.bind(bytes_of(keys[i]), now, std::as_bytes(std::span<const char>(row))).run();
                if (state_->database->changes() > 0) added += width;
            }
            Statement(*state_->database, "UPDATE totals SET bytes = bytes + ?").bind(added).run();
            state_->evict();
        });
    };
    if (!state_->use(put)) state_->use(put);  // into the new file
}

std::uint64_t EmbeddingFile::size() const {
    std::uint64_t bytes = 0;
    state_->use([&] { bytes = static_cast<std::uint64_t>(state_->database->scalar("SELECT bytes FROM totals")); });
    return bytes;
}
const fs::path& EmbeddingFile::file() const { return state_->file; }
fs::path EmbeddingFile::default_file() { return cache_directory() / "embeddings.sqlite"; }

}  // namespace faceter
