#include "store/sqlite.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "common/error.h"
#include "store/store_errors.h"

namespace faceter {
namespace {

std::chrono::milliseconds& store_wait() {
    static std::chrono::milliseconds wait = std::chrono::seconds(20);
    return wait;
}

std::function<void()>& statement_hook() {
    static std::function<void()> hook;
    return hook;
}

/// SQLite says FULL where a write meets ENOSPC alone: not of the index that readers and writers share, and not of a quota.
bool is_unwritable(int code) {
    const int kind = code & 0xff;
    return kind == SQLITE_FULL || kind == SQLITE_READONLY ||
           (kind == SQLITE_IOERR && code != SQLITE_IOERR_READ && code != SQLITE_IOERR_SHORT_READ);
}

/// The project may lie behind a link; the store may not be one, which would write wherever somebody's project leads it.
fs::path without_links_above(const fs::path& file) {
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(file.parent_path(), error);
    return error ? file : folder / file.filename();
}

/// The file may have come with somebody's project: what is not ours in it is not run.
void distrust(sqlite3* handle) {
    for (const int what : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
        sqlite3_db_config(handle, what, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

/// None where nothing is there.
std::optional<FileIdentity> identity_of(const fs::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return std::nullopt;
    return FileIdentity{info.st_dev, info.st_ino};
}

}  // namespace

void set_store_wait(std::chrono::milliseconds wait) { store_wait() = wait; }

std::string why_closed(const fs::path& file) {
    std::error_code ignored;
    const fs::file_status status = fs::status(file, ignored);
    if (fs::is_symlink(fs::symlink_status(file, ignored))) return "is a link";
    if (!fs::exists(status)) return "";
    if (!fs::is_regular_file(status)) return "is no file";
    return ::access(file.c_str(), R_OK | W_OK) == 0 ? "" : fmt::format("cannot be opened: {}", errno_text(errno));
}

void set_statement_hook(std::function<void()> hook) { statement_hook() = std::move(hook); }

Database::Database(const fs::path& file) : file_(file) {
    const std::string name = file.empty() ? ":memory:" : without_links_above(file).string();
    constexpr int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    if (sqlite3_open_v2(name.c_str(), &handle_, how, nullptr) != SQLITE_OK) {
        const std::string why = handle_ ? sqlite3_errmsg(handle_) : "out of memory";
        sqlite3_close(handle_);
        throw Unwritable(fmt::format("{}: cannot open the store: {}", file.string(), why));
    }
    if (!file.empty()) identity_ = identity_of(file);
    sqlite3_busy_timeout(handle_, static_cast<int>(store_wait().count()));
    distrust(handle_);
    try {
        turn_to_wal();
        execute("PRAGMA synchronous = NORMAL");
        execute("PRAGMA foreign_keys = ON");
        execute("PRAGMA cache_size = -32768");  // KiB; the 2 MiB of default hold a tenth of what a list of 10,000 runs reads
    } catch (...) {
        sqlite3_close(handle_);
        throw;
    }
}

/// What holds something stays in the mode that it has: it may be another program's (Store looks, and sees to a store's). Of processes that
/// make a new file at the same time SQLite turns all but one away at once: each holds what another needs, so it does not wait.
void Database::turn_to_wal() {
    const auto deadline = std::chrono::steady_clock::now() + store_wait();
    bool is_new = true;
    const auto holds_something = [](void* is_new, int, char**, char**) { return *static_cast<bool*>(is_new) = false, 0; };
    const auto look = [&] { return sqlite3_exec(handle_, "SELECT 1 FROM sqlite_master LIMIT 1", holds_something, &is_new, nullptr); };
    const auto turn = [&] { return sqlite3_exec(handle_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr); };
    while (look() != SQLITE_OK || (is_new && turn() != SQLITE_OK)) {
        if (sqlite3_errcode(handle_) != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline) fail("use the store");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

bool Database::is_replaced() const {
    const auto now = identity_ ? identity_of(file_) : std::nullopt;
    return now && now != identity_;
}

Database::~Database() { sqlite3_close(handle_); }

/// ERROR: our own statements do not fit its tables, or one of them is a view.
bool Database::is_damaged() const {
    const int code = sqlite3_errcode(handle_);
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
}

void Database::fail(std::string_view doing) const {
    if (const int code = sqlite3_extended_errcode(handle_); is_unwritable(code))
        throw Unwritable(fmt::format("{}: cannot be written: {}; free some space and try again", file_.string(),
                                     code == SQLITE_IOERR_SHMSIZE ? "no room on its disk" : sqlite3_errmsg(handle_)));
    const std::string what = fmt::format("{}: cannot {}: {}", file_.string(), doing, sqlite3_errmsg(handle_));
    if (is_damaged())
        throw DamagedStore(what +
                           "; it is damaged, or none of Faceter's. A store holds nothing that the run directories do not: "
                           "faceter ingest --rebuild removes it and makes it new");
    if (const int kind = sqlite3_errcode(handle_); kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
        throw BusyStore(fmt::format(
            "{}: another program holds the store (a database browser, a backup?), and let nobody in for {} s; close it and try again",
            file_.string(), std::chrono::duration<double>(store_wait()).count()));
    throw Error(ExitCode::failed, what);
}

void Database::execute(const std::string& sql) {
    if (statement_hook()) statement_hook()();
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail("use the store");
}

std::int64_t Database::scalar(const std::string& sql) {
    Statement statement(*this, sql);
    return statement.next() ? statement.integer(0) : 0;
}

std::int64_t Database::total_changes() const { return sqlite3_total_changes64(handle_); }
int Database::changes() const { return sqlite3_changes(handle_); }

void Database::enclose(const char* begin, const std::function<void()>& body) {
    execute(begin);
    try {
        body();
        execute("COMMIT");
    } catch (...) {
        if (sqlite3_get_autocommit(handle_) == 0) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
}

void Database::transaction(const std::function<void()>& body) { enclose("BEGIN IMMEDIATE", body); }
void Database::snapshot(const std::function<void()>& body) { enclose("BEGIN", body); }

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
    if (sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement_, nullptr) != SQLITE_OK)
        database.fail("read the store");
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::reset() {
    sqlite3_reset(statement_);
    bound_ = 0;
}

bool Statement::next() {
    if (statement_hook()) statement_hook()();
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) database_.fail("use the store");
    return false;
}

void Statement::run() {
    while (next()) {
    }
    sqlite3_reset(statement_);
}

void Statement::bind_next(std::int64_t value) { sqlite3_bind_int64(statement_, ++bound_, value); }

void Statement::bind_next(double value) {
    if (std::isnan(value))
        sqlite3_bind_null(statement_, ++bound_);
    else
        sqlite3_bind_double(statement_, ++bound_, value);
}

void Statement::bind_next(std::string_view value) {
    sqlite3_bind_text64(statement_, ++bound_, value.data() ? value.data() : "", value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind_next(std::span<const std::byte> blob) {
    static const char nothing = 0;
    sqlite3_bind_blob64(statement_, ++bound_, blob.empty() ? static_cast<const void*>(&nothing) : blob.data(), blob.size(),
                        SQLITE_TRANSIENT);
}

std::string Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))) : std::string();
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::real(int column) const {
    return is_null(column) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(statement_, column);
}

std::string_view Statement::blob(int column) const {
    const void* bytes = sqlite3_column_blob(statement_, column);
    return bytes ? std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
                 : std::string_view();
}

int Statement::columns() const { return sqlite3_column_count(statement_); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

}  // namespace faceter
