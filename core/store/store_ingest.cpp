#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "common/error.h"
#include "common/file_name.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "store/store.h"
#include "store/store_columns.h"
#include "store/store_errors.h"
#include "store/store_poll.h"
#include "store/store_series.h"
#include "store/store_stamps.h"

namespace faceter {
namespace {

constexpr int max_ranks = 4096;
constexpr std::int64_t events_together = 1 << 14;

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

/// What a store in memory means for who asked.
std::string why_in_memory(const fs::path& project) {
    try {
        const fs::path file = Store::location(project);
        const std::string closed = why_closed(file);
        return fmt::format("{}: {}: the runs were read anew, and will be each time; {}", file.string(),
                           closed.empty() ? "cannot be written" : closed,
                           closed.empty() ? "free some space" : "faceter ingest --rebuild makes it new");
    } catch (const Unwritable& no_place) {
        return fmt::format("{}; the runs were read anew, and will be each time", no_place.what());
    }
}

}  // namespace

/// One run's way into the store, inside a transaction.
class Ingest {
  public:
    Ingest(Store& store, const RunDirectory& run, RunState state, std::int64_t reading_since)
        : database_(*store.database_),
          run_(run),
          id_(run.info().id),
          state_(std::move(state)),
          stamps_(stamps_of(AT_FDCWD, run.folder().string(), state_.attempt, reading_since)) {}

    std::vector<std::string> take() {
        run_row();
        user_state();
        check_user_lines();
        for (const int attempt : run_.attempts())
            for (const int rank : ranks(attempt)) journal(attempt, rank);
        read_part("results_stamp", stamps_.results, [this] { results(); });
        read_part("documents_stamp", stamps_.documents, [this] { documents(); });
        if (state_.phase == RunPhase::done && stamps_.settled)
            missing_results();  // else they may be on their way, from a cluster or a copy
        sign();
        return std::move(warnings_);
    }

    /// An empty store in place of one that cannot be written. Whoever asked that one what changed asks this one with its revisions: what is
    /// taken in from here on is newer than all of them, and what is gone since is told.
    static void go_on_in_memory(Store& store) {
        store.poll_.reset();
        const auto before = std::exchange(store.database_, std::make_unique<Database>(""));
        store.migrate();
        std::int64_t newest = 0;
        std::vector<std::string> gone;
        try {
            newest = before->scalar("SELECT newest FROM revisions");
            Statement known(*before, "SELECT id FROM runs UNION SELECT run FROM removed");
            while (known.next()) gone.push_back(known.text(0));
        } catch (const Error&) {  // its disk cannot even be read
        }
        std::error_code ignored;
        std::erase_if(gone, [&](const std::string& run) { return fs::exists(store.project_ / "runs" / run / "run.json", ignored); });
        store.database_->transaction([&] {
            Statement(*store.database_, "UPDATE revisions SET newest = newest + ?").bind(newest).run();
            Statement removed(*store.database_, "INSERT OR REPLACE INTO removed SELECT ?, newest FROM revisions");
            for (const std::string& run : gone) removed.bind(run).run();
        });
    }

    /// Each run's rows at one go: who looks meanwhile finds the old ones or the new ones, and never fewer runs.
    static std::vector<std::string> all_anew(Store& store, const LookProgress& progress) {
        std::vector<std::string> warnings;
        const std::vector<std::string> ids = Project(store.project_, false).run_ids();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            anew(store, ids[i], warnings);
            if (progress && !progress(i + 1, ids.size())) break;
        }
        remove_unused_texts(*store.database_);
        return warnings;
    }

  private:
    static void anew(Store& store, const std::string& id, std::vector<std::string>& warnings) {
        const std::int64_t reading_since = now_ns();
        std::optional<RunFollower> follower;
        try {
            follower.emplace(RunDirectory(store.project_ / "runs" / id));
            follower->update();
        } catch (const Error&) {  // ingest_all says why
            return store.remove(id);
        }
        store.database_->transaction([&] {
            Statement(*store.database_, "DELETE FROM runs WHERE id = ?").bind(id).run();
            for (std::string& warning : Ingest(store, follower->run(), follower->state(), reading_since).take())
                warnings.push_back(std::move(warning));
        });
    }

    static void remove_unused_texts(Database& database) {
        database.transaction([&] {
            std::unordered_set<std::int64_t> used;
            Statement lists(database, "SELECT hashes FROM setting_lists");
            while (lists.next()) {
                const std::string_view hashes = lists.blob(0);
                std::int64_t hash = 0;
                for (std::size_t at = 0; at + sizeof hash <= hashes.size(); at += sizeof hash) {
                    std::memcpy(&hash, hashes.data() + at, sizeof hash);
                    used.insert(hash);
                }
            }
            std::vector<std::int64_t> unused;
            Statement texts(database, "SELECT hash FROM setting_texts");
            while (texts.next())
                if (!used.contains(texts.integer(0))) unused.push_back(texts.integer(0));
            Statement remove(database, "DELETE FROM setting_texts WHERE hash = ?");
            for (const std::int64_t hash : unused) remove.bind(hash).run();
        });
    }

    void run_row() {
        const RunInfo& info = run_.info();
        Statement insert(
            database_,
            "INSERT INTO runs (id, name, experiment, variant, method, plugin, point, seed, created, parent, version, smoke, phase, cause, "
            "exit_code, "
            "attempt, attempts, doing, step, total_steps, loss, started, last_sign, steps_per_s, active_s, note, archived, signature) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,'',0,'') ON CONFLICT (id) DO UPDATE SET phase=excluded.phase, "
            "cause=excluded.cause, exit_code=excluded.exit_code, attempt=excluded.attempt, attempts=excluded.attempts, "
            "doing=excluded.doing, "
            "step=excluded.step, total_steps=excluded.total_steps, loss=excluded.loss, started=excluded.started, "
            "last_sign=excluded.last_sign, "
            "steps_per_s=excluded.steps_per_s, active_s=excluded.active_s WHERE (phase, cause, exit_code, attempt, attempts, doing, step, "
            "total_steps, loss, started, last_sign, steps_per_s, active_s) IS NOT (excluded.phase, excluded.cause, excluded.exit_code, "
            "excluded.attempt, excluded.attempts, excluded.doing, excluded.step, excluded.total_steps, excluded.loss, excluded.started, "
            "excluded.last_sign, excluded.steps_per_s, excluded.active_s)");
        insert.bind(id_, info.name, info.experiment, info.variant, info.method, info.plugin, info.point, info.seed, info.created,
                    info.parent, info.version, info.smoke, static_cast<int>(state_.phase), state_.cause, state_.exit_code, state_.attempt,
                    state_.attempts, state_.doing, state_.step, state_.total_steps, state_.loss, state_.started, state_.last_sign,
                    state_.steps_per_s, state_.active_s);
        insert.run();
        changed_ = changed_ || database_.changes() > 0;
        Statement known(database_, "SELECT 1 FROM settings WHERE run = ?");
        if (known.bind(id_).next()) return;  // settings never change
        Statement(database_, "INSERT INTO settings VALUES (?, ?)").bind(id_, dumped(info.settings)).run();
        put_settings(database_, id_, info.settings);
        Statement(database_, "DELETE FROM removed WHERE run = ?").bind(id_).run();
        changed_ = true;
    }

    /// Tags and notes are nowhere else. What a killed program or a full disk left of a line is none, and was told then.
    void check_user_lines() {
        const fs::path file = run_.folder() / "user.jsonl";
        std::error_code ignored;
        const std::string text = fs::exists(file, ignored) ? read_file(file) : std::string();
        const std::vector<std::string_view> lines = split(text, '\n');
        for (std::size_t i = 0; i + 1 < lines.size(); ++i)
            if (trim(lines[i]).ends_with('}') && !parse_untrusted_json(lines[i], {64, 1000}).is_object()) {
                warnings_.push_back(fmt::format("{}:{}: no tag or note, and left out; correct or remove the line", file.string(), i + 1));
                return;
            }
    }

    void user_state() {
        const RunDirectory::UserState user = run_.user_state();
        Statement(database_,
                  "UPDATE runs SET note = ?1, archived = ?2, pinned = ?3 WHERE id = ?4 AND (note, archived, pinned) IS NOT (?1, ?2, ?3)")
            .bind(user.note, user.archived, user.pinned, id_)
            .run();
        changed_ = changed_ || database_.changes() > 0;
        std::vector<std::string> wanted = user.tags, stored;
        std::sort(wanted.begin(), wanted.end());
        Statement tags(database_, "SELECT tag FROM tags WHERE run = ? ORDER BY tag");
        tags.bind(id_);
        while (tags.next()) stored.push_back(tags.text(0));
        if (stored == wanted) return;
        Statement(database_, "DELETE FROM tags WHERE run = ?").bind(id_).run();
        for (const std::string& tag : wanted) Statement(database_, "INSERT INTO tags VALUES (?, ?)").bind(id_, tag).run();
        changed_ = true;
    }

    /// Whether a part is to be read again. A stamp that ends in '?' was taken right after a change: a further one could hide behind it.
    bool is_new(const char* column, const std::string& stamp) {
        Statement stored(database_, fmt::format("SELECT {} FROM runs WHERE id = ?", column));
        const std::string before = stored.bind(id_).next() ? stored.text(0) : "";
        if (before == stamp) return false;
        Statement(database_, fmt::format("UPDATE runs SET {} = ? WHERE id = ?", column))
            .bind(stamps_.settled ? stamp : stamp + "?", id_)
            .run();
        changed_ = changed_ || before != stamp + "?";
        return true;
    }

    /// What cannot be read is read again, and so told to who looks next as well.
    template <typename Read>
    void read_part(const char* column, const std::string& stamp, const Read& read) {
        if (!is_new(column, stamp)) return;
        const std::size_t before = warnings_.size();
        read();
        if (warnings_.size() > before)
            Statement(database_, fmt::format("UPDATE runs SET {} = ? WHERE id = ?", column)).bind(stamp + "?", id_).run();
    }

    /// Scores that a journal has and no file does, as in a folder that was copied in part.
    void missing_results() {
        Statement scored(database_, "SELECT DISTINCT fields FROM events WHERE run = ? AND type = 'result'");
        scored.bind(id_);
        std::set<std::string> missing;
        while (scored.next()) {
            const std::string name = text_or_empty(parse_untrusted_json(scored.text(0)), "name");
            std::error_code error;
            const fs::path file = run_.results() / (safe_file_name(name) + ".json");
            if (name.empty()) continue;
            if (!fs::exists(file, error) && !error)
                missing.insert(file.string() + ": is missing");
            else if (warnings_.empty() && !has_score(name) && !has_score(safe_file_name(name)))
                missing.insert(file.string() + ": has no score");
        }
        for (const std::string& file : missing)
            warnings_.push_back(fmt::format("{}: the run's journal says that it was scored, and its score is left out", file));
    }

    bool has_score(const std::string& name) {
        Statement stored(database_, "SELECT 1 FROM results WHERE run = ? AND name = ?");
        return stored.bind(id_, name).next();
    }

    void sign() {
        // What a killed process left of its last line is told once: nobody has lost anything.
        const bool settled = is_over(state_.phase) && stamps_.settled && warnings_.size() == cut_by_a_death_;
        const std::string signature = settled ? stamps_.all : std::string();
        Statement(database_, "UPDATE runs SET signature = ?1 WHERE id = ?2 AND signature IS NOT ?1").bind(signature, id_).run();
        if (!changed_) return;
        database_.execute("UPDATE revisions SET newest = newest + 1");
        Statement(database_, "UPDATE runs SET revision = (SELECT newest FROM revisions) WHERE id = ?").bind(id_).run();
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

    /// A live run's last line may be half there: its rest is on the way, and no loss.
    bool is_being_written(int attempt, int rank) const {
        return attempt == state_.attempt && !is_over(state_.phase) && !ends_with_a_line(attempt, rank);
    }

    bool ends_with_a_line(int attempt, int rank) const {
        std::ifstream file(run_.attempt_journal(attempt, rank), std::ios::binary);
        return !file.seekg(-1, std::ios::end) || file.get() == '\n';
    }

    void journal(int attempt, int rank) {
        std::int64_t next_seq = 1, offset = 0;
        Statement known(database_, "SELECT next_seq, offset FROM journals WHERE run = ? AND attempt = ? AND rank = ?");
        known.bind(id_, attempt, rank);
        if (known.next()) next_seq = known.integer(0), offset = known.integer(1);
        JournalReader reader(run_.attempt_journal(attempt, rank), static_cast<std::uint64_t>(offset), next_seq);
        Statement insert(database_, "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)");
        Points points, system;
        while (const auto event = reader.next()) {
            if (event->type == "evaluation") take_scores(*event, points);
            if (event->type == "step")
                take_step(*event, points, "", "");
            else if (event->type == "system")
                take_step(*event, system, "system/", rank > 0 ? fmt::format(" (rank {})", rank) : "");
            else if (event->type != "heartbeat")
                insert.bind(id_, attempt, rank, event->seq, event->time, event->type, dumped(event->fields)).run();
            if (event->seq % events_together == 0) append(attempt, rank, points, system);
        }
        append(attempt, rank, points, system);
        if (reader.torn_bytes() > 0 && !is_being_written(attempt, rank)) {
            warnings_.push_back(fmt::format("{}: the last {} bytes of the journal were left out: {}",
                                            run_.attempt_journal(attempt, rank).string(), reader.torn_bytes(), reader.problem()));
            cut_by_a_death_ += !ends_with_a_line(attempt, rank);
        }
        if (reader.next_seq() == next_seq) return;
        changed_ = true;
        Statement(database_, "INSERT OR REPLACE INTO journals VALUES (?, ?, ?, ?, ?)")
            .bind(id_, attempt, rank, reader.next_seq(), reader.valid_bytes())
            .run();
    }

    using Points = std::map<std::string, std::vector<SeriesPoint>>;

    /// Adds what was gathered to the curves: a long journal is never in memory whole.
    void append(int attempt, int rank, Points& points, Points& system) {
        if (!(points.empty() && system.empty()) && !series_) series_.emplace(database_);
        for (const auto& [name, added] : points) series_->append(id_, attempt, rank, name, added);
        for (const auto& [name, added] : system)
            series_->append(id_, attempt, 0, name, added);  // curves of their own, beside those of rank 0
        points.clear();
        system.clear();
    }

    /// The curves of a later stage have names of their own: its steps start at 1 again.
    static std::string stage_suffix(const JournalEvent& event) {
        const double stage = number_or_nan(event.fields, "stage");
        return stage > 0 && stage < 1e6 ? fmt::format("@{}", static_cast<int>(stage)) : "";
    }

    /// None where it is no whole number, or one beyond those of a curve.
    static std::optional<std::int64_t> step_of(const JournalEvent& event) {
        const auto step = event.fields.find("step");
        return step != event.fields.end() && step->is_number_integer() ? whole_number<std::int64_t>(*step) : std::nullopt;
    }

    /// Scores during training (evaluate_every_steps) as curves: "score/<data set>".
    static void take_scores(const JournalEvent& event, Points& points) {
        const auto step = step_of(event);
        if (!step || !event.fields.contains("scores") || !event.fields["scores"].is_object()) return;
        const std::string suffix = stage_suffix(event);
        for (const auto& [name, score] : event.fields["scores"].items())
            if (score.is_number()) points["score/" + name + suffix].push_back({*step, event.time, score.get<double>()});
    }

    static void take_step(const JournalEvent& event, Points& points, const std::string& before, const std::string& after) {
        const auto step = step_of(event);
        if (!step) return;
        const std::string suffix = stage_suffix(event);
        for (const auto& [key, value] : event.fields.items())
            if (value.is_number() && key != "seq" && key != "t" && key != "step" && key != "total_steps" && key != "stage")
                points[before + key + suffix + after].push_back({*step, event.time, value.get<double>()});
    }

    void warn(const std::string& message) { warnings_.push_back(fmt::format("{}: {}", id_, message)); }

    /// The documents of a `kind` (figure, table). A file that cannot be read costs itself only; its error is kept in its place.
    void documents(const char* kind, const fs::path& folder) {
        const auto broken = [&](const std::string& stem, const std::string& message) {
            warn(message);
            document(kind, stem, {{"error", message}});
        };
        for (const auto& [name, json] : run_.read_all(folder, broken)) document(kind, name, json);
    }

    void results() {
        for (const char* table : {"results", "costs"})
            Statement(database_, fmt::format("DELETE FROM {} WHERE run = ?", table)).bind(id_).run();
        Statement(database_, "DELETE FROM documents WHERE run = ? AND kind = 'analysis'").bind(id_).run();
        for (const auto& [name, json] : run_.read_results([&](const auto&, const std::string& message) { warn(message); })) {
            const bool is_scored = json.is_object() && json.contains("score") && !json["score"].is_number() && !json["score"].is_null();
            if (!json.is_object() || is_scored)
                warn(fmt::format("{}: is no result: a JSON object is expected, its score a number; {} left out",
                                 (run_.results() / (name + ".json")).string(), is_scored ? "its score is" : "it is"));
            if (!json.is_object()) continue;
            if (name == "_model")
                cost(json);
            else if (json.contains("score"))
                result(name, json);
            else
                document("analysis", name, json);
        }
        changed_ = put_scores(database_, id_) || changed_;
    }

    void result(const std::string& stem, const Json& json) {
        const std::string name = text_or_empty(json, "name");
        const std::vector<double> examples = json.contains("per_example") ? numbers_of(json["per_example"]) : std::vector<double>();
        const double n = number_or_nan(json, "n");
        Statement(database_, "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .bind(id_, name.empty() ? stem : name, text_or_empty(json, "task"), text_or_empty(json, "task_type"),
                  text_or_empty(json, "metric"), number_or_nan(json, "score"),
                  n >= 0 && n < 1e15 ? static_cast<std::int64_t>(n) : std::int64_t{0}, dumped(json.value("metrics", Json::object())),
                  dumped(json.value("settings", Json::object())), std::as_bytes(std::span<const double>(examples)))
            .run();
    }

    void cost(const Json& json) {
        Statement(database_, "INSERT OR REPLACE INTO costs VALUES (?, ?, ?, ?, ?, ?)")
            .bind(id_, number_or_nan(json, "total_parameters"), number_or_nan(json, "active_parameters"),
                  number_or_nan(json, "multiply_adds_per_token"), number_or_nan(json, "encode_latency_ms"),
                  number_or_nan(json, "peak_memory_bytes"))
            .run();
    }

    void documents() {
        Statement(database_, "DELETE FROM documents WHERE run = ? AND kind IN ('figure', 'table')").bind(id_).run();
        documents("figure", run_.figures());
        documents("table", run_.tables());
    }

    void document(const char* kind, const std::string& name, const Json& json) {
        Statement(database_, "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)").bind(id_, kind, name, dumped(json)).run();
    }

    Database& database_;
    const RunDirectory& run_;
    std::string id_;
    RunState state_;
    RunStamps stamps_;  ///< made before anything but the state was read
    std::optional<SeriesWriter> series_;
    std::vector<std::string> warnings_;
    std::size_t cut_by_a_death_ = 0;  ///< warnings of journals that a death cut
    bool changed_ = false;
};

RunState Store::take(RunFollower& follower, std::vector<std::string>& warnings) {
    const std::int64_t reading_since = now_ns();
    follower.update();
    const RunState state = follower.state();
    database_->transaction([&] {
        for (std::string& warning : Ingest(*this, follower.run(), state, reading_since).take()) warnings.push_back(std::move(warning));
    });
    return state;
}

void Store::ingest(const RunDirectory& run) {
    std::vector<std::string> warnings;
    if (!poll_) poll_ = std::make_unique<Poll>(*this);
    poll_->took(run.info().id);
    try {
        RunFollower follower(run);
        take(follower, warnings);
    } catch (const Unwritable&) {
        if (file().empty()) throw;
        const bool has_all = poll_->has_looked();
        const std::set<std::string> taken = poll_->taken();
        Ingest::go_on_in_memory(*this);
        if (has_all) ingest_all();
        for (const std::string& id : taken)
            if (id == run.info().id || fs::exists(project_ / "runs" / id / "run.json")) ingest(RunDirectory(project_ / "runs" / id));
    }
}

void Store::remove(const std::string& run) {
    database_->transaction([&] {
        Statement(*database_, "DELETE FROM runs WHERE id = ?").bind(run).run();
        if (database_->changes() == 0) return;
        database_->execute("UPDATE revisions SET newest = newest + 1");
        Statement(*database_, "INSERT OR REPLACE INTO removed SELECT ?, newest FROM revisions").bind(run).run();
    });
}

std::vector<std::string> Store::ingest_all(const LookProgress& progress) {
    const auto take_in = [&] {
        if (!poll_) poll_ = std::make_unique<Poll>(*this);
        return poll_->look(true, progress);
    };
    try {
        if (!file().empty()) return take_in();
    } catch (const Unwritable&) {
        Ingest::go_on_in_memory(*this);
    }
    std::vector<std::string> warnings = take_in();
    warnings.push_back(why_in_memory(project_));
    return warnings;
}

std::vector<std::string> Store::ingest_changed(const LookProgress& progress) {
    if (!poll_ || !poll_->has_looked()) return ingest_all(progress);
    return poll_->look(false, progress);
}

std::vector<std::string> Store::lasting_warnings() const { return poll_ ? poll_->unusable() : std::vector<std::string>(); }

std::vector<std::string> Store::rebuild(const fs::path& project, const LookProgress& progress) {
    const fs::path file = location(project);
    try {
        Store store(project);
        if (why_closed(file).empty() && store.integrity() == "ok") {
            std::vector<std::string> warnings = Ingest::all_anew(store, progress);
            for (std::string& warning : store.ingest_all(progress))  // those that are gone, or cannot be read
                if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(std::move(warning));
            return warnings;
        }
    } catch (const Error& error) {
        if (error.code() != ExitCode::data) throw;
    }
    std::error_code ignored;
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(file.string() + ending, ignored);
    return Store(project).ingest_all(progress);
}

}  // namespace faceter
