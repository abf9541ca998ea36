#include "store/store.h"

#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>

#include "common/error.h"
#include "common/hash.h"
#include "common/stable_order.h"
#include "store/store_columns.h"
#include "store/store_errors.h"
#include "store/store_points.h"
#include "store/store_poll.h"
#include "store/store_series.h"

namespace faceter {
namespace {

/// Where those lie that cannot lie in their projects.
fs::path cache_for_stores(const fs::path& project) {
    try {
        fs::path cache = cache_directory() / "stores";
        make_directories(cache);
        return cache;
    } catch (const Error& error) {
        throw Unwritable(
            fmt::format("{}: has no place for its store: {} (FACETER_CACHE names another folder)", project.string(), error.what()));
    }
}

const char* const run_columns =
    "id, name, experiment, variant, method, plugin, point, seed, created, parent, version, smoke, phase, cause, exit_code, attempt, "
    "attempts, "
    "doing, "
    "step, total_steps, loss, started, last_sign, steps_per_s, active_s, note, archived, pinned";

RunRow read_row(const Statement& row) {
    RunRow run;
    int column = 0;
    for (std::string* text :
         {&run.info.id, &run.info.name, &run.info.experiment, &run.info.variant, &run.info.method, &run.info.plugin, &run.info.point})
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
    run.archived = row.integer(column++) != 0;
    run.pinned = row.integer(column++) != 0;
    run.revision = row.integer(column++);
    double sum = 0;
    for_each_score(row.blob(column), [&](const StoredScore& score) { sum += score.score, ++run.num_scores; });
    run.mean_score = run.num_scores ? sum / run.num_scores : std::numeric_limits<double>::quiet_NaN();
    return run;
}

std::optional<std::int64_t> optional_integer(const Statement& row, int column) {
    return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
}

}  // namespace

bool is_shared_file_system(std::uint64_t magic) {
    constexpr std::uint64_t shared[] = {0x6969 /* NFS */,      0xFF534D42 /* CIFS */,   0xFE534D42 /* SMB2 */,   0x517B /* SMB */,
                                        0x65735546 /* FUSE */, 0x0BD00BD0 /* Lustre */, 0x47504653 /* GPFS */,   0x5346414F /* AFS */,
                                        0x01021997 /* 9P */,   0x00C36400 /* Ceph */,   0x19830326 /* BeeGFS */, 0x013111A8 /* IBRIX */};
    for (const std::uint64_t one : shared)
        if (one == (magic & 0xFFFFFFFF)) return true;
    return false;
}

fs::path Store::location(const fs::path& project) {
    const fs::path folder = absolute_path(project);
    struct statfs info {};
    const bool shared = ::statfs(folder.c_str(), &info) == 0 && is_shared_file_system(static_cast<std::uint64_t>(info.f_type));
    if (!shared && ::access(folder.c_str(), W_OK) == 0) return folder / "faceter.sqlite";
    const fs::path cache = cache_for_stores(folder);
    return cache / (hash128(fs::weakly_canonical(folder).string()).hex() + ".sqlite");
}

Store::Store(const fs::path& project) : project_(absolute_path(project)) {
    try {
        database_ = std::make_unique<Database>(location(project));
        migrate();
        database_->execute("PRAGMA journal_mode = WAL");  // ours, and some program of its user's may have turned it to another mode
    } catch (const Unwritable&) {
        database_ = std::make_unique<Database>("");
        migrate();
    }
}

Store::~Store() = default;

/// Sorted here: SQLite would put whole rows through its sorter, and many of them through a temporary file.
std::vector<RunRow> Store::rows_after(std::int64_t revision) {
    std::unordered_map<std::string, std::vector<std::string>> tags;
    Statement tagged(*database_, "SELECT run, tag FROM tags ORDER BY run, tag");
    while (tagged.next()) tags[tagged.text(0)].push_back(tagged.text(1));
    std::vector<RunRow> rows;
    if (revision == 0) rows.reserve(static_cast<std::size_t>(database_->scalar("SELECT count(*) FROM runs")));
    Statement statement(*database_, fmt::format("SELECT {}, revision, scores FROM runs WHERE revision > ?", run_columns));
    statement.bind(revision);
    while (statement.next()) {
        RunRow& row = rows.emplace_back(read_row(statement));
        if (const auto found = tags.find(row.info.id); found != tags.end()) row.tags = std::move(found->second);
    }
    std::vector<RunRow*> order;
    for (RunRow& row : rows) order.push_back(&row);
    std::sort(order.begin(), order.end(), [](const RunRow* a, const RunRow* b) { return is_older(a->info, b->info); });
    std::vector<RunRow> sorted;
    sorted.reserve(rows.size());
    for (RunRow* row : order) sorted.push_back(std::move(*row));
    return sorted;
}

std::vector<RunRow> Store::runs() { return changes_since(0).changed; }

RunChanges Store::changes_since(std::int64_t revision) {
    RunChanges changes;
    database_->snapshot([&] {
        changes.revision = database_->scalar("SELECT newest FROM revisions");
        if (revision > changes.revision) revision = 0;  // asked with the number of another store
        if (revision == changes.revision) return;
        changes.changed = rows_after(revision);
        Statement removed(*database_, "SELECT run FROM removed WHERE revision > ? ORDER BY run");
        removed.bind(revision);
        while (removed.next()) changes.removed.push_back(removed.text(0));
    });
    return changes;
}

std::uint64_t Store::change_counter() {
    const std::int64_t others = database_->scalar("PRAGMA data_version");
    const std::uint64_t in_memory = file().empty() ? std::uint64_t(1) << 63 : 0;  // a store that goes on there begins to count anew
    return in_memory + (static_cast<std::uint64_t>(others) << 40) + static_cast<std::uint64_t>(database_->total_changes());
}

Json Store::settings(const std::string& run) {
    Statement statement(*database_, "SELECT json FROM settings WHERE run = ?");
    statement.bind(run);
    return statement.next() ? parse_json(statement.text(0), run) : Json();
}

std::vector<ResultRow> Store::results(const std::string& run, bool with_examples) {
    std::vector<ResultRow> rows;
    Statement statement(
        *database_, fmt::format("SELECT name, task, task_type, metric, score, n, metrics, json_extract(settings, '$.data_fingerprint'){} "
                                "FROM results WHERE run = ? ORDER BY rowid",
                                with_examples ? ", per_example" : ""));
    statement.bind(run);
    while (statement.next()) {
        ResultRow row{statement.text(0),
                      statement.text(1),
                      statement.text(2),
                      statement.text(3),
                      statement.real(4),
                      statement.integer(5),
                      parse_json(statement.text(6), run),
                      {},
                      statement.text(7)};
        if (with_examples) row.per_example = unpack_doubles(statement.blob(8));
        rows.push_back(std::move(row));
    }
    return rows;
}

ModelCost Store::cost(const std::string& run) {
    Statement row(*database_,
                  "SELECT total_parameters, active_parameters, multiply_adds_per_token, peak_memory_bytes, encode_latency_ms FROM costs "
                  "WHERE run = ?");
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
    Statement statement(*database_, "SELECT DISTINCT name FROM series_nodes WHERE run = ? ORDER BY name");
    statement.bind(run);
    while (statement.next()) names.push_back(statement.text(0));
    return names;
}

std::vector<SeriesPoint> Store::series(const std::string& run, const std::string& name) {
    std::vector<SeriesPoint> points;
    database_->snapshot([&] { points = SeriesReader(*database_, run, name).points(); });
    return points;
}

std::vector<SeriesBucket> Store::series_sample(const std::string& run, const std::string& name, SeriesX x, double from, double to,
                                               int columns) {
    std::vector<SeriesBucket> buckets;
    database_->snapshot([&] { buckets = faceter::series_sample(*database_, run, name, x, from, to, columns); });
    return buckets;
}

SeriesRange Store::series_range(const std::string& run, const std::string& name, SeriesX x) {
    SeriesRange range;
    database_->snapshot([&] { range = faceter::series_range(*database_, run, name, x); });
    return range;
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
        {"runs", fmt::format("SELECT {}, hex(scores) FROM runs ORDER BY id", run_columns)},
        {"settings", "SELECT run, json FROM settings ORDER BY 1"},
        {"setting_lists", "SELECT run, hex(hashes) FROM setting_lists ORDER BY 1"},
        {"tags", "SELECT run, tag FROM tags ORDER BY 1, 2"},
        {"journals", "SELECT run, attempt, rank, next_seq, offset FROM journals ORDER BY 1, 2, 3"},
        {"events", "SELECT run, attempt, rank, seq, time, type, fields FROM events ORDER BY 1, 2, 3, 4"},
        {"series", "SELECT run, attempt, rank, name, chunk, hex(points) FROM series ORDER BY 1, 2, 3, 4, 5"},
        {"series_nodes", "SELECT run, name, rank, level, attempt, block, hex(nodes) FROM series_nodes ORDER BY 1, 2, 3, 4, 5, 6"},
        {"results", "SELECT run, name, task, task_type, metric, score, n, metrics, settings, hex(per_example) FROM results ORDER BY 1, 2"},
        {"costs", "SELECT * FROM costs ORDER BY 1"},
        {"documents", "SELECT run, kind, name, json FROM documents ORDER BY 1, 2, 3"}};
    for (const auto& [table, query] : queries) {
        Statement rows(*database_, query);
        while (rows.next()) {
            out += table;
            for (int column = 0; column < rows.columns(); ++column) out += "|" + rows.text(column);
            out += '\n';
        }
    }
    return out;
}

}  // namespace faceter
