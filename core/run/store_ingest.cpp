#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "common/error.h"
#include "common/strings.h"
#include "run/store.h"
#include "run/store_points.h"

namespace faceter {
namespace {

constexpr std::int64_t settle_ns = 2'000'000'000;   // a file changed within this time may change again without another time stamp
constexpr int max_ranks = 4096;

struct Stamp {
    std::int64_t mtime_ns = 0, size = -1;
};

Stamp stamp_of(const fs::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return {static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec, static_cast<std::int64_t>(info.st_size)};
}

/// What would change with anything that is new in a run that is over. Empty where a change was so recent that a further one could hide.
std::string signature_of(const fs::path& folder, int attempt) {
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    const std::string journal = (folder / "journal").string();
    const std::string newest = fmt::format("{}/{}", journal, attempt);
    std::string signature;
    for (const std::string& path : {journal, newest, newest + "/rank-0.jsonl", (folder / "results").string(), (folder / "tables").string(),
                                    (folder / "figures").string(), (folder / "user.jsonl").string()}) {
        const Stamp stamp = stamp_of(path);
        if (stamp.mtime_ns > now - settle_ns) return "";
        signature += fmt::format("{}/{};", stamp.mtime_ns, stamp.size);
    }
    return signature;
}

double number_or_nan(const Json& json, const char* key) {
    return json.contains(key) && json[key].is_number() ? json[key].get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string text_or_empty(const Json& json, const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::vector<double> numbers_of(const Json& list) {
    std::vector<double> numbers;
    if (!list.is_array()) return numbers;
    for (const Json& item : list) numbers.push_back(item.is_number() ? item.get<double>() : std::numeric_limits<double>::quiet_NaN());
    return numbers;
}

}  // namespace

/// One run's way into the store, inside a transaction.
class Ingest {
  public:
    Ingest(Store& store, const RunDirectory& run) : database_(*store.database_), run_(run), id_(run.info().id) {}

    std::vector<std::string> take() {
        run_row();
        for (const int attempt : run_.attempts())
            for (const int rank : ranks(attempt)) journal(attempt, rank);
        results();
        documents();
        return std::move(warnings_);
    }

  private:
    void run_row() {
        const RunInfo& info = run_.info();
        const RunState state = read_state(run_);
        const RunDirectory::UserState user = run_.user_state();
        const std::string signature = is_over(state.phase) ? signature_of(run_.folder(), state.attempt) : "";
        Statement insert(database_,
                         "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET phase=excluded.phase, "
                         "cause=excluded.cause, exit_code=excluded.exit_code, attempt=excluded.attempt, attempts=excluded.attempts, doing=excluded.doing, "
                         "step=excluded.step, total_steps=excluded.total_steps, loss=excluded.loss, started=excluded.started, last_sign=excluded.last_sign, "
                         "steps_per_s=excluded.steps_per_s, active_s=excluded.active_s, note=excluded.note, archived=excluded.archived, "
                         "signature=excluded.signature");
        insert.bind(id_, info.experiment, info.variant, info.method, info.plugin, info.point, info.seed, info.created, info.parent, info.version, info.smoke,
                    static_cast<int>(state.phase), state.cause, state.exit_code, state.attempt, state.attempts, state.doing, state.step, state.total_steps,
                    state.loss, state.started, state.last_sign, state.steps_per_s, state.active_s, user.note, user.archived, signature);
        insert.run();
        Statement(database_, "INSERT OR REPLACE INTO settings VALUES (?, ?)").bind(id_, dumped(info.settings)).run();
        Statement(database_, "DELETE FROM tags WHERE run = ?").bind(id_).run();
        for (const std::string& tag : user.tags) Statement(database_, "INSERT INTO tags VALUES (?, ?)").bind(id_, tag).run();
    }

    std::vector<int> ranks(int attempt) const {
        std::vector<int> found;
        std::error_code error;
        for (fs::directory_iterator it(run_.attempt_journal(attempt).parent_path(), error), end; !error && it != end; it.increment(error)) {
            const std::string name = it->path().filename().string();
            if (!name.starts_with("rank-") || !name.ends_with(".jsonl")) continue;
            const auto rank = parse_int(std::string_view(name).substr(5, name.size() - 11));
            if (rank && *rank >= 0 && *rank < max_ranks) found.push_back(static_cast<int>(*rank));
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    void journal(int attempt, int rank) {
        std::int64_t next_seq = 1, offset = 0;
        Statement known(database_, "SELECT next_seq, offset FROM journals WHERE run = ? AND attempt = ? AND rank = ?");
        known.bind(id_, attempt, rank);
        if (known.next()) next_seq = known.integer(0), offset = known.integer(1);
        const JournalContent content = read_journal(run_.attempt_journal(attempt, rank), static_cast<std::uint64_t>(offset), next_seq);
        if (content.torn_bytes > 0)
            warnings_.push_back(fmt::format("{}: attempt {}, rank {}: the last {} bytes of the journal were left out: {}", id_, attempt, rank,
                                            content.torn_bytes, content.problem));
        if (content.events.empty()) return;
        std::map<std::string, std::vector<SeriesPoint>> points;
        Statement insert(database_, "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)");
        for (const JournalEvent& event : content.events) {
            if (event.type == "step")
                take_step(event, points);
            else if (event.type != "heartbeat")
                insert.bind(id_, attempt, rank, event.seq, event.time, event.type, dumped(event.fields)).run();
        }
        for (const auto& [name, added] : points) append_points(attempt, rank, name, added);
        Statement(database_, "INSERT OR REPLACE INTO journals VALUES (?, ?, ?, ?, ?)")
            .bind(id_, attempt, rank, content.events.back().seq + 1, content.valid_bytes)
            .run();
    }

    static void take_step(const JournalEvent& event, std::map<std::string, std::vector<SeriesPoint>>& points) {
        if (!event.fields.contains("step") || !event.fields["step"].is_number_integer()) return;
        const std::int64_t step = event.fields["step"];
        for (const auto& [key, value] : event.fields.items())
            if (value.is_number() && key != "seq" && key != "t" && key != "step" && key != "total_steps")
                points[key].push_back({step, event.time, value.get<double>()});
    }

    /// Chunks are filled to the brim one after the other, so that they do not depend on how often a journal was looked at.
    void append_points(int attempt, int rank, const std::string& name, std::span<const SeriesPoint> added) {
        Statement last(database_, "SELECT chunk, points FROM series WHERE run = ? AND attempt = ? AND rank = ? AND name = ? ORDER BY chunk DESC LIMIT 1");
        last.bind(id_, attempt, rank, name);
        std::int64_t chunk = 0;
        std::vector<SeriesPoint> points;
        if (last.next()) {
            chunk = last.integer(0);
            points = unpack_points(last.blob(1));
            if (points.size() >= points_per_chunk) ++chunk, points.clear();
        }
        Statement insert(database_, "INSERT OR REPLACE INTO series VALUES (?, ?, ?, ?, ?, ?)");
        while (!added.empty()) {
            const std::size_t take = std::min(added.size(), points_per_chunk - points.size());
            points.insert(points.end(), added.begin(), added.begin() + static_cast<std::ptrdiff_t>(take));
            added = added.subspan(take);
            insert.bind(id_, attempt, rank, name, chunk, std::as_bytes(std::span<const SeriesPoint>(points))).run();
            ++chunk;
            points.clear();
        }
    }

    /// A file that cannot be read costs itself only.
    std::vector<std::pair<std::string, Json>> all_of(const fs::path& folder) {
        try {
            return run_.read_all(folder);
        } catch (const std::exception& error) {
            warnings_.push_back(fmt::format("{}: {}", id_, error.what()));
            return {};
        }
    }

    void results() {
        for (const char* table : {"results", "costs"}) Statement(database_, fmt::format("DELETE FROM {} WHERE run = ?", table)).bind(id_).run();
        Statement(database_, "DELETE FROM documents WHERE run = ? AND kind = 'analysis'").bind(id_).run();
        for (const auto& [name, json] : all_of(run_.results())) {
            if (!json.is_object()) continue;
            if (name == "_model")
                cost(json);
            else if (json.contains("score"))
                result(name, json);
            else
                document("analysis", name, json);
        }
    }

    void result(const std::string& stem, const Json& json) {
        const std::string name = text_or_empty(json, "name");
        const std::vector<double> examples = json.contains("per_example") ? numbers_of(json["per_example"]) : std::vector<double>();
        const double n = number_or_nan(json, "n");
        Statement(database_, "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .bind(id_, name.empty() ? stem : name, text_or_empty(json, "task"), text_or_empty(json, "task_type"), text_or_empty(json, "metric"),
                  number_or_nan(json, "score"), n >= 0 && n < 1e15 ? static_cast<std::int64_t>(n) : std::int64_t{0}, dumped(json.value("metrics", Json::object())),
                  dumped(json.value("settings", Json::object())), std::as_bytes(std::span<const double>(examples)))
            .run();
    }

    void cost(const Json& json) {
        Statement(database_, "INSERT OR REPLACE INTO costs VALUES (?, ?, ?, ?, ?, ?)")
            .bind(id_, number_or_nan(json, "total_parameters"), number_or_nan(json, "active_parameters"), number_or_nan(json, "multiply_adds_per_token"),
                  number_or_nan(json, "encode_latency_ms"), number_or_nan(json, "peak_memory_bytes"))
            .run();
    }

    void documents() {
        Statement(database_, "DELETE FROM documents WHERE run = ? AND kind IN ('figure', 'table')").bind(id_).run();
        for (const auto& [name, json] : all_of(run_.figures())) document("figure", name, json);
        for (const auto& [name, json] : all_of(run_.tables())) document("table", name, json);
    }

    void document(const char* kind, const std::string& name, const Json& json) {
        Statement(database_, "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)").bind(id_, kind, name, dumped(json)).run();
    }

    Database& database_;
    const RunDirectory& run_;
    std::string id_;
    std::vector<std::string> warnings_;
};

void Store::ingest(const RunDirectory& run) {
    database_->transaction([&] { Ingest(*this, run).take(); });
}

std::vector<std::string> Store::ingest_all() {
    std::map<std::string, std::pair<std::string, int>> known;
    Statement rows(*database_, "SELECT id, signature, attempt FROM runs");
    while (rows.next()) known[rows.text(0)] = {rows.text(1), static_cast<int>(rows.integer(2))};
    std::vector<std::string> warnings;
    const Project project(project_, false);
    const std::vector<std::string> ids = project.run_ids();
    for (const std::string& id : ids) {
        const fs::path folder = project.runs_folder() / id;
        const auto row = known.find(id);
        if (row != known.end() && !row->second.first.empty() && row->second.first == signature_of(folder, row->second.second)) continue;
        try {
            const RunDirectory run(folder);
            if (run.info().id != id) throw data_error("{}: its run.json says that it is run {}; rename the folder to that", folder.string(), run.info().id);
            database_->transaction([&] {
                for (std::string& warning : Ingest(*this, run).take()) warnings.push_back(std::move(warning));
            });
        } catch (const Error& error) {
            if (error.code() != ExitCode::data || database_->is_damaged()) throw;
            warnings.emplace_back(error.what());
        }
    }
    const std::set<std::string> there(ids.begin(), ids.end());
    for (const auto& [id, row] : known)
        if (!there.contains(id)) Statement(*database_, "DELETE FROM runs WHERE id = ?").bind(id).run();
    return warnings;
}

std::vector<std::string> Store::rebuild(const fs::path& project) {
    const fs::path file = location(project);
    try {
        Store store(project);
        if (store.integrity() == "ok") {
            store.database_->transaction([&] { store.database_->execute("DELETE FROM runs"); });
            return store.ingest_all();
        }
    } catch (const Error& error) {
        if (error.code() != ExitCode::data) throw;
    }
    std::error_code ignored;
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(file.string() + ending, ignored);
    return Store(project).ingest_all();
}

}  // namespace faceter
