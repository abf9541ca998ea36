#include <sqlite3.h>

#include <array>

#include "common/error.h"
#include "common/strings.h"
#include "store/store.h"
#include "store/store_columns.h"
#include "store/store_points.h"
#include "store/store_series.h"

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
  PRIMARY KEY (run, kind, name));)",

    // Pyramids over series; scores and settings in a form that a list of all runs reads at once; what changed since when. Runs of several
    // stages, whose series were mixed, are taken anew.
    R"(ALTER TABLE runs ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN scores BLOB NOT NULL DEFAULT x'';
ALTER TABLE runs ADD COLUMN results_stamp TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN documents_stamp TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_by_revision ON runs(revision);
CREATE TABLE removed (run TEXT PRIMARY KEY, revision INTEGER NOT NULL);
CREATE TABLE revisions (newest INTEGER NOT NULL);
INSERT INTO revisions VALUES (1);
CREATE TABLE setting_lists (run TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, hashes BLOB NOT NULL);
CREATE TABLE setting_texts (hash INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL);
CREATE INDEX setting_texts_by_key ON setting_texts(key);
CREATE TABLE series_nodes (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, name TEXT NOT NULL, rank INTEGER NOT NULL, level INTEGER NOT NULL,
  attempt INTEGER NOT NULL, block INTEGER NOT NULL, nodes BLOB NOT NULL, PRIMARY KEY (run, name, rank, level, attempt, block));
CREATE TEMP TABLE staged AS SELECT DISTINCT run FROM series WHERE name = 'stage';
DELETE FROM journals WHERE run IN staged;
DELETE FROM events WHERE run IN staged;
DELETE FROM series WHERE run IN staged;
DROP TABLE temp.staged;
UPDATE runs SET signature = '', revision = 1;)",
    // 3: short names (Poll::take_names fills them in).
    "ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT '';"};

/// What version 2 derives from the rows that version 1 had.
void derive_version_2(Database& database) {
    Statement chunks(database, "SELECT run, attempt, rank, name, points FROM series ORDER BY run, attempt, rank, name, chunk");
    SeriesWriter writer(database);
    while (chunks.next())
        writer.append_nodes(chunks.text(0), static_cast<int>(chunks.integer(1)), static_cast<int>(chunks.integer(2)), chunks.text(3),
                            unpack_points(chunks.blob(4)));
    Statement runs(database, "SELECT run, json FROM settings");
    while (runs.next()) {
        put_scores(database, runs.text(0));
        put_settings(database, runs.text(0), parse_json(runs.text(1), runs.text(0)));
    }
}

/// Ours have it from their first version on.
bool has_runs(Database& database) { return database.scalar("SELECT count(*) FROM sqlite_master WHERE name = 'runs'") > 0; }

/// What another program left to be taken into its file stays beside it, as it is.
void leave_as_it_is(Database& database) {
    std::error_code none;
    const std::uintmax_t left = fs::file_size(database.file().string() + "-wal", none);
    if (!none && left > 0) sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

/// Ours are made with their version in one transaction: what has tables without ours is another program's, and they stay as they are.
void refuse_foreign(Database& database) {
    Statement table(database, "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite#_%' ESCAPE '#' ORDER BY name LIMIT 1");
    if (!table.next()) return;
    leave_as_it_is(database);
    throw Error(ExitCode::failed,
                fmt::format("{}: is a database of another program (it has a table {}), where the store should lie; move it away",
                            database.file().string(), faceter::quoted(table.text(0))));
}

}  // namespace

void Store::migrate() {
    constexpr auto newest = static_cast<std::int64_t>(migrations.size());
    if (database_->scalar("PRAGMA user_version") == newest && has_runs(*database_)) return;
    database_->transaction([&] {
        const std::int64_t version = database_->scalar("PRAGMA user_version");
        if (version > newest)
            throw data_error(
                "{}: written by a newer Faceter (version {} of the store, {} is known here); use that one, or move the file away and run "
                "faceter ingest",
                database_->file().string(), version, newest);
        if (version < 0) throw data_error("{}: no store of Faceter; move it away, or faceter ingest --rebuild", database_->file().string());
        if (version == 0 || !has_runs(*database_)) refuse_foreign(*database_);
        for (std::int64_t step = version; step < newest; ++step) {
            database_->execute(migrations[static_cast<std::size_t>(step)]);
            if (step + 1 == 2 && version > 0) derive_version_2(*database_);
        }
        database_->execute(fmt::format("PRAGMA user_version = {}", newest));
    });
}

}  // namespace faceter
