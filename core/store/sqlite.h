#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/file.h"

struct sqlite3;
struct sqlite3_stmt;

namespace faceter {

class Database;

/// What a file is, wherever it lies.
struct FileIdentity {
    std::uint64_t device = 0, inode = 0;
    bool operator==(const FileIdentity&) const = default;
};

/// A prepared statement. Values are bound in order; rows are read with next() and the getters.
class Statement {
  public:
    Statement(Database& database, std::string_view sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    template <typename... Values>
    Statement& bind(const Values&... values) {
        reset();
        (bind_next(values), ...);
        return *this;
    }
    /// Executes a statement without rows (or ignores them).
    void run();
    bool next();
    /// Ends reading early: a statement that is still open keeps the store from being written past its rows.
    void reset();

    std::string text(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;  ///< NaN for NULL
    std::string_view blob(int column) const;
    bool is_null(int column) const;
    int columns() const;

  private:
    void bind_next(std::int64_t value);
    void bind_next(std::uint64_t value) { bind_next(static_cast<std::int64_t>(value)); }
    void bind_next(int value) { bind_next(static_cast<std::int64_t>(value)); }
    void bind_next(bool value) { bind_next(static_cast<std::int64_t>(value)); }
    void bind_next(double value);  ///< NaN: NULL
    void bind_next(std::string_view value);
    void bind_next(const std::string& value) { bind_next(std::string_view(value)); }
    void bind_next(const char* value) { bind_next(std::string_view(value)); }
    void bind_next(std::span<const std::byte> blob);

    Database& database_;
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
};

/// One connection: WAL, foreign keys on, waits up to 20 s for others. Errors name the file and say what to do.
class Database {
  public:
    explicit Database(const fs::path& file);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void execute(const std::string& sql);
    std::int64_t scalar(const std::string& sql);
    std::int64_t total_changes() const;  ///< by this connection
    int changes() const;                 ///< rows that the last INSERT, UPDATE or DELETE changed
    const fs::path& file() const { return file_; }
    /// Another file lies where it was opened: what is written here reaches nobody. False of one in memory, and where none is there now.
    bool is_replaced() const;
    sqlite3* handle() const { return handle_; }
    [[noreturn]] void fail(std::string_view doing) const;
    bool is_damaged() const;  ///< the last error was "not a database" or "malformed"

    /// BEGIN IMMEDIATE ... COMMIT; rolled back when the body throws.
    void transaction(const std::function<void()>& body);
    /// Several reads of one state of the store, whatever others write meanwhile.
    void snapshot(const std::function<void()>& body);

  private:
    void turn_to_wal();
    void enclose(const char* begin, const std::function<void()>& body);
    fs::path file_;
    std::optional<FileIdentity> identity_;  ///< none: in memory
    sqlite3* handle_ = nullptr;
};

/// Called before every statement that is executed (tests kill the process there). Null in production.
void set_statement_hook(std::function<void()> hook);

}  // namespace faceter
