#include "run/store.h"

#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>

#include "common/error.h"
#include "common/hash.h"
#include "run/store_points.h"

namespace faceter {
namespace {

/// Each entry lifts the store from its index to the next version (PRAGMA user_version). Never change one that was released: append.
constexpr std::array migrations = {
    R"(CREATE TABLE runs (id TEXT PRIMARY KEY, experiment TEXT NOT NULL, variant TEXT NOT NULL, method TEXT NOT NULL, plugin TEXT NOT NULL,
  point TEXT NOT NULL, seed INTEGER NOT NULL, created TEXT NOT NULL, parent TEXT NOT NULL, version TEXT NOT NULL, smoke INTEGER NOT NULL,
  phase INTEGER NOT NULL, cause TEXT NOT NULL, exit_code INTEGER NOT NULL, attempt INTEGER NOT NULL, attempts INTEGER NOT NULL, doing TEXT NOT NULL,
  step INTEGER NOT NULL, total_steps INTEGER NOT NULL, loss REAL, started REAL, last_sign REAL, steps_per_s REAL, active_s REAL,
  note TEXT NOT NULL, archived INTEGER NOT NULL, signature TEXT NOT NULL);
CREATE TABLE settings (run TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, json TEXT NOT NULL);
CREATE TABLE tags (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, tag TEXT NOT NULL, PRIMARY KEY (run, tag));
CREATE TABLE journals (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, attempt INTEGER NOT NULL, rank INTEGER NOT NULL,
  next_seq INTEGER NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY (run, attempt, rank));
CREATE TABLE events (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, attempt INTEGER NOT NULL, rank INTEGER NOT NULL, seq INTEGER NOT NULL,
  time REAL NOT NULL, type TEXT NOT NULL, fields TEXT NOT NULL, PRIMARY KEY (run, attempt, rank, seq));
CREATE TABLE series (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, attempt INTEGER NOT NULL, rank INTEGER NOT NULL, name TEXT NOT NULL,
  chunk INTEGER NOT NULL, points BLOB NOT NULL, PRIMARY KEY (run, attempt, rank, name, chunk));
CREATE TABLE results (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, name TEXT NOT NULL, task TEXT NOT NULL, task_type TEXT NOT NULL,
  metric TEXT NOT NULL, score REAL, n INTEGER NOT NULL, metrics TEXT NOT NULL, settings TEXT NOT NULL, per_example BLOB NOT NULL, PRIMARY KEY (run, name));
CREATE TABLE costs (run TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, total_parameters INTEGER, active_parameters INTEGER,
  multiply_adds_per_token INTEGER, encode_latency_ms REAL, peak_memory_bytes INTEGER);
CREATE TABLE documents (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, kind TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL,
  PRIMARY KEY (run, kind, name));)"};

const char* const run_columns =
    "id, experiment, variant, method, plugin, point, seed, created, parent, version, smoke, phase, cause, exit_code, attempt, attempts, doing, "
    "step, total_steps, loss, started, last_sign, steps_per_s, active_s, note, archived";

RunRow read_row(const Statement& row) {
    RunRow run;
    int column = 0;
    for (std::string* text : {&run.info.id, &run.info.experiment, &run.info.variant, &run.info.method, &run.info.plugin, &run.info.point})
        *text = row.text(column++);
    run.info.seed = static_cast<std::uint64_t>(row.integer(column++));
    for (std::string* text : {&run.info.created, &run.info.parent, &run.info.version}) *text = row.text(column++);
    run.info.smoke = row.integer(column++) != 0;
    run.state.phase = static_cast<RunPhase>(row.integer(column++));
    run.state.cause = row.text(column++);
    for (int* number : {&run.state.exit_code, &run.state.attempt, &run.state.attempts}) *number = static_cast<int>(row.integer(column++));
    run.state.doing = row.text(column++);
    for (std::int64_t* number : {&run.state.step, &run.state.total_steps}) *number = row.integer(column++);
    for (double* number : {&run.state.loss, &run.state.started, &run.state.last_sign, &run.state.steps_per_s, &run.state.active_s})
        *number = row.real(column++);
    run.note = row.text(column++);
    run.archived = row.integer(column) != 0;
    return run;
}

std::optional<std::int64_t> optional_integer(const Statement& row, int column) {
    return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
}

}  // namespace

bool is_shared_file_system(std::uint64_t magic) {
    constexpr std::uint64_t shared[] = {0x6969 /* NFS */,       0xFF534D42 /* CIFS */, 0xFE534D42 /* SMB2 */, 0x517B /* SMB */,
                                        0x65735546 /* FUSE */,  0x0BD00BD0 /* Lustre */, 0x47504653 /* GPFS */, 0x5346414F /* AFS */,
                                        0x01021997 /* 9P */,    0x00C36400 /* Ceph */, 0x19830326 /* BeeGFS */, 0x013111A8 /* IBRIX */};
    for (const std::uint64_t one : shared)
        if (one == (magic & 0xFFFFFFFF)) return true;
    return false;
}

fs::path Store::location(const fs::path& project) {
    const fs::path folder = absolute_path(project);
    struct statfs info {};
    const bool shared = ::statfs(folder.c_str(), &info) == 0 && is_shared_file_system(static_cast<std::uint64_t>(info.f_type));
    if (!shared && ::access(folder.c_str(), W_OK) == 0) return folder / "faceter.sqlite";
    const fs::path cache = cache_directory() / "stores";
    make_directories(cache);
    return cache / (hash128(fs::weakly_canonical(folder).string()).hex() + ".sqlite");
}

Store::Store(const fs::path& project) : project_(absolute_path(project)), database_(std::make_unique<Database>(location(project))) { migrate(); }

void Store::migrate() {
    constexpr auto newest = static_cast<std::int64_t>(migrations.size());
    if (database_->scalar("PRAGMA user_version") == newest) return;
    database_->transaction([&] {
        const std::int64_t version = database_->scalar("PRAGMA user_version");
        if (version > newest)
            throw data_error("{}: written by a newer Faceter (version {} of the store, {} is known here); use that one, or move the file away and run "
                             "faceter ingest", database_->file().string(), version, newest);
        for (std::int64_t step = version; step < newest; ++step) database_->execute(migrations[static_cast<std::size_t>(step)]);
        database_->execute(fmt::format("PRAGMA user_version = {}", newest));
    });
}

std::vector<RunRow> Store::runs() {
    std::map<std::string, std::pair<double, int>> scores;
    Statement means(*database_, "SELECT run, avg(score), count(score) FROM results GROUP BY run");
    while (means.next()) scores[means.text(0)] = {means.real(1), static_cast<int>(means.integer(2))};
    std::map<std::string, std::vector<std::string>> tags;
    Statement tagged(*database_, "SELECT run, tag FROM tags ORDER BY run, tag");
    while (tagged.next()) tags[tagged.text(0)].push_back(tagged.text(1));
    std::vector<RunRow> rows;
    Statement statement(*database_, fmt::format("SELECT {} FROM runs ORDER BY created, id", run_columns));
    while (statement.next()) {
        RunRow row = read_row(statement);
        const auto score = scores.find(row.info.id);
        row.mean_score = score == scores.end() ? std::numeric_limits<double>::quiet_NaN() : score->second.first;
        row.num_scores = score == scores.end() ? 0 : score->second.second;
        if (const auto found = tags.find(row.info.id); found != tags.end()) row.tags = found->second;
        rows.push_back(std::move(row));
    }
    return rows;
}

Json Store::settings(const std::string& run) {
    Statement statement(*database_, "SELECT json FROM settings WHERE run = ?");
    statement.bind(run);
    return statement.next() ? parse_json(statement.text(0), run) : Json();
}

std::vector<ResultRow> Store::results(const std::string& run, bool with_examples) {
    std::vector<ResultRow> rows;
    Statement statement(*database_, fmt::format("SELECT name, task, task_type, metric, score, n, metrics{} FROM results WHERE run = ? ORDER BY rowid",
                                                with_examples ? ", per_example" : ""));
    statement.bind(run);
    while (statement.next()) {
        ResultRow row{statement.text(0), statement.text(1), statement.text(2), statement.text(3), statement.real(4), statement.integer(5),
                      parse_json(statement.text(6), run), {}};
        if (with_examples) row.per_example = unpack_doubles(statement.blob(7));
        rows.push_back(std::move(row));
    }
    return rows;
}

ModelCost Store::cost(const std::string& run) {
    Statement row(*database_, "SELECT total_parameters, active_parameters, multiply_adds_per_token, peak_memory_bytes, encode_latency_ms FROM costs WHERE run = ?");
    row.bind(run);
    ModelCost cost;
    if (!row.next()) return cost;
    cost.total_parameters = optional_integer(row, 0);
    cost.active_parameters = optional_integer(row, 1);
    cost.multiply_adds_per_token = optional_integer(row, 2);
    cost.peak_memory_bytes = optional_integer(row, 3);
    if (!row.is_null(4)) cost.encode_latency_ms = row.real(4);
    return cost;
}

std::vector<std::string> Store::series_names(const std::string& run) {
    std::vector<std::string> names;
    Statement statement(*database_, "SELECT DISTINCT name FROM series WHERE run = ? ORDER BY name");
    statement.bind(run);
    while (statement.next()) names.push_back(statement.text(0));
    return names;
}

std::vector<SeriesPoint> Store::series(const std::string& run, const std::string& name) {
    Statement statement(*database_, "SELECT points FROM series WHERE run = ? AND name = ? AND rank = 0 ORDER BY attempt, chunk");
    statement.bind(run, name);
    std::map<std::int64_t, SeriesPoint> by_step;
    while (statement.next())
        for (const SeriesPoint& point : unpack_points(statement.blob(0))) by_step.insert_or_assign(point.step, point);
    std::vector<SeriesPoint> points;
    points.reserve(by_step.size());
    for (const auto& [step, point] : by_step) points.push_back(point);
    return points;
}

std::vector<std::pair<std::string, Json>> Store::documents(const std::string& run, const std::string& kind) {
    std::vector<std::pair<std::string, Json>> found;
    Statement statement(*database_, "SELECT name, json FROM documents WHERE run = ? AND kind = ? ORDER BY name");
    statement.bind(run, kind);
    while (statement.next()) found.emplace_back(statement.text(0), parse_json(statement.text(1), run));
    return found;
}

std::string Store::integrity() {
    Statement check(*database_, "PRAGMA integrity_check");
    std::string text = check.next() ? check.text(0) : "no answer";
    Statement keys(*database_, "PRAGMA foreign_key_check");
    return keys.next() ? text + "; a row of " + keys.text(0) + " belongs to no run" : text;
}

std::string Store::dump() {
    std::string out;
    const std::pair<const char*, std::string> queries[] = {
        {"runs", fmt::format("SELECT {} FROM runs ORDER BY id", run_columns)},
        {"settings", "SELECT * FROM settings ORDER BY 1"},
        {"tags", "SELECT * FROM tags ORDER BY 1, 2"},
        {"journals", "SELECT * FROM journals ORDER BY 1, 2, 3"},
        {"events", "SELECT * FROM events ORDER BY 1, 2, 3, 4"},
        {"series", "SELECT run, attempt, rank, name, chunk, hex(points) FROM series ORDER BY 1, 2, 3, 4, 5"},
        {"results", "SELECT run, name, task, task_type, metric, score, n, metrics, settings, hex(per_example) FROM results ORDER BY 1, 2"},
        {"costs", "SELECT * FROM costs ORDER BY 1"},
        {"documents", "SELECT * FROM documents ORDER BY 1, 2, 3"}};
    for (const auto& [table, query] : queries) {
        const auto columns = database_->scalar(fmt::format("SELECT count(*) FROM pragma_table_info('{}')", table)) - (std::string_view(table) == "runs");
        Statement rows(*database_, query);
        while (rows.next()) {
            out += table;
            for (int column = 0; column < columns; ++column) out += "|" + rows.text(column);
            out += '\n';
        }
    }
    return out;
}

}  // namespace faceter
