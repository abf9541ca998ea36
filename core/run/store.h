#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/sqlite.h"
#include "run/state.h"

namespace faceter {

/// One run as lists show it.
struct RunRow {
    RunInfo info;           ///< without settings
    RunState state;
    double mean_score = 0;  ///< over data sets, percent; NaN where there is none
    int num_scores = 0;
    std::vector<std::string> tags;
    std::string note;
    bool archived = false;
};

struct ResultRow {
    std::string name, task, task_type, metric;
    double score = 0;      ///< percent
    std::int64_t n = 0;
    Json metrics;
    std::vector<double> per_example;
};

struct ModelCost {
    std::optional<std::int64_t> total_parameters, active_parameters, multiply_adds_per_token, peak_memory_bytes;
    std::optional<double> encode_latency_ms;
};

struct SeriesPoint {
    std::int64_t step = 0;
    double time = 0;   ///< seconds since 1970 by the run's clock
    double value = 0;
    bool operator==(const SeriesPoint&) const = default;
};

/// PROJECT/faceter.sqlite (in the user's cache folder where the project lies on a network file system or cannot be written): what lists and
/// comparisons read. It holds nothing that the run directories do not.
class Store {
  public:
    explicit Store(const fs::path& project);

    /// Takes in what is new of a run, all or nothing. Idempotent by (run, attempt, rank, sequence number).
    void ingest(const RunDirectory& run);
    /// All runs; those that are over and unchanged cost a few stat calls. Runs whose folders are gone are removed. Returns warnings
    /// (folders that are no runs, torn journals).
    std::vector<std::string> ingest_all();
    /// Empties the store and ingests everything again; a damaged file is made new.
    static std::vector<std::string> rebuild(const fs::path& project);

    std::vector<RunRow> runs();
    Json settings(const std::string& run);
    std::vector<ResultRow> results(const std::string& run, bool with_examples = false);
    ModelCost cost(const std::string& run);
    std::vector<std::string> series_names(const std::string& run);
    /// By step; where several attempts have a step, the last one's value.
    std::vector<SeriesPoint> series(const std::string& run, const std::string& name);
    /// kind: figure, table, analysis.
    std::vector<std::pair<std::string, Json>> documents(const std::string& run, const std::string& kind);
    /// "ok", else what PRAGMA integrity_check says.
    std::string integrity();
    /// Every row of every table as text, for comparisons in tests.
    std::string dump();
    const fs::path& file() const { return database_->file(); }

    /// Where the store of a project lies.
    static fs::path location(const fs::path& project);

  private:
    friend class Ingest;
    void migrate();
    fs::path project_;
    std::unique_ptr<Database> database_;
};

/// File system types that several machines may write at once, where SQLite's locks and WAL do not hold (f_type of statfs).
bool is_shared_file_system(std::uint64_t magic);

}  // namespace faceter
