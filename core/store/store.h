#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/state.h"
#include "store/series.h"
#include "store/sqlite.h"

namespace faceter {

/// One run as lists show it.
struct RunRow {
    RunInfo info;  ///< without settings
    RunState state;
    double mean_score = 0;  ///< over data sets, percent; NaN where there is none
    int num_scores = 0;
    std::vector<std::string> tags;
    std::string note;
    bool archived = false, pinned = false;
    std::int64_t revision = 0;  ///< of the store, when this row last changed
};

struct ResultRow {
    std::string name, task, task_type, metric;
    double score = 0;  ///< percent
    std::int64_t n = 0;
    Json metrics;
    std::vector<double> per_example;
    std::string fingerprint;  ///< of the data; empty: not recorded
};

struct ModelCost {
    std::optional<std::int64_t> total_parameters, active_parameters, multiply_adds_per_token, peak_memory_bytes;
    std::optional<double> encode_latency_ms;
};

/// The main score of every data set of every run: what the columns of a runs table show.
struct RunScores {
    struct Set {
        std::string name, task_type;
    };
    std::vector<Set> sets;                ///< by task type and name
    std::vector<std::string> task_types;  ///< sorted
    std::vector<std::string> runs;        ///< ids in the order of Store::runs()
    std::vector<double> values;           ///< [runs, sets], percent; NaN where a run lacks a set
    double at(std::size_t run, std::size_t set) const { return values[run * sets.size() + set]; }
    /// Over the sets of a task type that the run has; NaN where it has none.
    double type_mean(std::size_t run, std::string_view task_type) const;
    void arrange_sets();  ///< sorts sets, fills task_types
};

/// The settings that tell runs apart: those of one experiment, or those that were asked for.
struct KeySettings {
    std::vector<std::string>
        keys;  ///< dotted (flat_settings.h), sorted; those that are columns of RunRow anyway (seed, variant) are left out
    std::unordered_map<std::string, std::map<std::string, std::string>>
        values;  ///< run -> key -> value; keys that it shares with all are left out, and those that no run has more than nothing of ({})
};

/// What happened since a revision of the store.
struct RunChanges {
    std::int64_t revision = 0;    ///< to ask with next time
    std::vector<RunRow> changed;  ///< new or different, by creation
    std::vector<std::string> removed;
};

/// Called after each run that a look took in, with how many of all runs were looked at. False ends the look there: what it has taken in
/// stays, and the next look goes on with the rest.
using LookProgress = std::function<bool(std::size_t looked_at, std::size_t runs)>;

/// PROJECT/faceter.sqlite (in the user's cache folder where the project lies on a network file system or cannot be written): what lists and
/// comparisons read. It holds nothing that the run directories do not.
class Store {
  public:
    explicit Store(const fs::path& project);
    ~Store();

    /// Takes in what is new of a run, all or nothing. Idempotent by (run, attempt, rank, sequence number).
    void ingest(const RunDirectory& run);
    /// All runs; those that are over and unchanged cost a few stat calls. Runs whose folders are gone are removed. Returns warnings
    /// (folders that are no runs, torn journals).
    std::vector<std::string> ingest_all(const LookProgress& progress = {});
    /// For a program that looks every second: like ingest_all, but runs that are not live are looked at in turn, an eighth of them a call,
    /// and runs that are live cost what they added. New and removed runs are seen at once. Only one thread may use a Store.
    std::vector<std::string> ingest_changed(const LookProgress& progress = {});
    /// Of the warnings of these two those that last: of folders that the newest look could not read as runs.
    std::vector<std::string> lasting_warnings() const;
    /// Empties the store and ingests everything again; a damaged file is made new.
    static std::vector<std::string> rebuild(const fs::path& project, const LookProgress& progress = {});

    std::vector<RunRow> runs();
    /// The rows that changed after `revision` (0: all), and the runs that are gone.
    RunChanges changes_since(std::int64_t revision);
    /// Another number after any change by any program; a few microseconds.
    std::uint64_t change_counter();
    /// Of the runs that changed after a revision (0: all).
    RunScores run_scores(std::int64_t since = 0);
    /// Within each experiment.
    KeySettings key_settings();
    /// Among these runs, whatever their experiments.
    KeySettings key_settings(const std::vector<std::string>& runs);
    /// One setting (dotted key) of the runs that have it.
    std::unordered_map<std::string, std::string> setting(const std::string& key);
    /// All dotted keys that some run has or had.
    std::vector<std::string> setting_keys();
    /// Run -> the machine that its newest attempt was started on (rank 0); runs that were never started are not in it.
    std::unordered_map<std::string, std::string> hosts();
    Json settings(const std::string& run);
    std::vector<ResultRow> results(const std::string& run, bool with_examples = false);
    ModelCost cost(const std::string& run);
    std::vector<std::string> series_names(const std::string& run);
    /// By step. Between its first and its last step an attempt hides what earlier attempts have there. Stages after the first count their
    /// steps anew, so their series are called NAME@STAGE.
    std::vector<SeriesPoint> series(const std::string& run, const std::string& name);
    /// The same in `columns` equal parts of [from, to] on the x axis, without reading all points. Every visible point in the range is in
    /// exactly one bucket, whose numbers are exact for the points it holds; where columns hold many points, up to an eighth of a column's
    /// may be in the one before.
    std::vector<SeriesBucket> series_sample(const std::string& run, const std::string& name, SeriesX x, double from, double to,
                                            int columns);
    SeriesRange series_range(const std::string& run, const std::string& name, SeriesX x);
    /// kind: figure, table, analysis.
    std::vector<std::pair<std::string, Json>> documents(const std::string& run, const std::string& kind);
    /// "ok", else what PRAGMA integrity_check says.
    std::string integrity();
    /// Every row of every table as text, for comparisons in tests.
    std::string dump();
    const fs::path& file() const { return database_->file(); }
    /// Its file was put aside for another (a project's folder that was replaced): a new Store reads that one.
    bool is_replaced() const { return database_->is_replaced(); }

    /// Where the store of a project lies.
    static fs::path location(const fs::path& project);

  private:
    friend class Ingest;
    friend class Poll;
    void migrate();
    /// Takes a run in and says what it is now. Warnings are appended.
    RunState take(RunFollower& follower, std::vector<std::string>& warnings);
    void remove(const std::string& run);
    std::vector<RunRow> rows_after(std::int64_t revision);
    fs::path project_;
    std::unique_ptr<Database> database_;
    std::unique_ptr<class Poll> poll_;
};

/// File system types that several machines may write at once, where SQLite's locks and WAL do not hold (f_type of statfs).
bool is_shared_file_system(std::uint64_t magic);

}  // namespace faceter
