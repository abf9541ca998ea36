#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/file_name.h"
#include "common/json.h"
#include "experiment/experiment.h"

namespace faceter {

/// What run.json says: written once when the run is made, never changed.
struct RunInfo {
    std::string id;    ///< readable and unique: quickstart-mote-s1-20261121-071500-ab12; the name of its folder
    std::string name;  ///< short, unique in its project: MoTE-1 (run_names.h); empty where the project has not given it one
    std::string experiment, variant, method, plugin, point;
    std::uint64_t seed = 1;
    std::string created;  ///< UTC
    std::string parent;   ///< rerun: the run whose settings these are
    std::string version;  ///< of Faceter
    bool smoke = false;
    Json settings;  ///< ResolvedRun::settings
    bool is_baseline() const { return method == "start"; }
    /// Somebody else's results (faceter import): there is no model, and nothing to run.
    bool is_imported() const { return method == "imported"; }
    /// What tables and messages call it, and commands accept.
    const std::string& shown_name() const { return name.empty() ? id : name; }
    /// experiment/variant[/point]: equal for the seeds of one configuration.
    std::string group() const;
};

/// What becomes of threads that settings leave open (0): as many as the cores that this process may use, so that a run which goes on has
/// the bits that it began with; or as many as the node gives that the run comes to.
enum class OpenThreads { of_this_machine, of_its_node };

RunInfo info_of(const ResolvedRun& run, const std::string& experiment, bool smoke, OpenThreads threads);

/// PROJECT/runs/<run id>: the whole record of a run (the layout is in core/record/README.md).
class RunDirectory {
  public:
    /// Opens an existing one. Data error where run.json is missing or wrong, or names another run than the folder does: a copy of a folder
    /// is no run, and nothing that is done to it may reach the original.
    explicit RunDirectory(const fs::path& folder);
    /// Makes the folder with run.json and experiment.yaml: under a temporary name first, so that a run exists whole or not at all.
    static RunDirectory create(const fs::path& project, const Experiment& experiment, const ResolvedRun& run, bool smoke,
                               OpenThreads threads = OpenThreads::of_this_machine);
    /// A new run with the same resolved settings (`faceter rerun`).
    static RunDirectory create_like(const fs::path& project, const RunDirectory& other);

    /// One that no experiment file makes: results that come from elsewhere, runs made of others. `text` stands in place of the file.
    static RunDirectory create_imported(const fs::path& project, RunInfo info, std::string_view text);

    const fs::path& folder() const { return folder_; }
    const RunInfo& info() const { return info_; }
    const Json& settings() const { return info_.settings; }
    fs::path project() const { return folder_.parent_path().parent_path(); }

    fs::path checkpoints() const { return folder_ / "checkpoints"; }
    fs::path results() const { return folder_ / "results"; }
    fs::path figures() const { return folder_ / "figures"; }
    fs::path tables() const { return folder_ / "tables"; }
    fs::path control() const { return folder_ / "control"; }
    fs::path attempt_journal(int attempt, int rank = 0) const;
    fs::path attempt_log(int attempt, int rank = 0) const;

    /// Attempts so far, ascending from 1.
    std::vector<int> attempts() const;
    /// Takes the next attempt's number by making journal/<n> (exclusive: of two processes each gets its own). The supervisor hands the
    /// number that it opened the log for in FACETER_ATTEMPT.
    int begin_attempt() const;

    /// control/stop, control/checkpoint ...: asks the worker for something. It looks between steps.
    void request(std::string_view what) const;
    bool requested(std::string_view what) const;
    void clear_request(std::string_view what) const;

    /// Written atomically; `name` is made safe for a file name. Throws where the run was moved or removed.
    void write_result(std::string_view name, const Json& result) const;
    void write_figure(std::string_view name, const Json& figure) const;
    void write_table(std::string_view name, const Json& table) const;
    /// The parsed *.json of a folder above by stem (sorted). A file that cannot be read is left out; `broken` gets its stem and why.
    using Broken = std::function<void(const std::string& stem, const std::string& message)>;
    using Documents = std::vector<std::pair<std::string, Json>>;
    Documents read_all(const fs::path& sub_folder, const Broken& broken) const;
    /// Those of results(), but for other files of a result that stands in its own (a backup, say, whose score is an older one): `broken`
    /// gets them.
    Documents read_results(const Broken& broken) const;

    /// user.jsonl: tags, notes, archiving; appended a line at a time under a lock.
    void append_user_event(const Json& event) const;
    struct UserState {
        std::vector<std::string> tags;
        std::string note;
        bool archived = false, pinned = false;
        double trashed = 0;  ///< when it went to the trash last, seconds since 1970
    };
    UserState user_state() const;

  private:
    fs::path folder_;
    RunInfo info_;
};

struct TrashedRun {
    RunInfo info;
    double when = 0;  ///< seconds since 1970
};

/// A project folder: runs/, faceter.sqlite, queue/, trash/.
class Project {
  public:
    /// Makes it when `create`; else a data error where there is none.
    Project(const fs::path& folder, bool create);
    const fs::path& folder() const { return folder_; }
    fs::path runs_folder() const { return folder_ / "runs"; }
    /// Run ids, sorted by name.
    std::vector<std::string> run_ids() const;
    /// Opens one after the other. What is no run, or cannot be read, is left out: lists say why (Store::ingest_all).
    void each_run(const std::function<void(const RunDirectory&)>& body) const;
    /// Gives a name to each run, here or in the trash, that has none: those of older versions, and those that were copied here. Where two
    /// would have one name, the run that has it already keeps it, and of new ones the older.
    void name_runs() const;
    /// The runs that "variant" or "variant-sSEED" may stand for: the newest first, those of --smoke last but for one under way.
    std::vector<RunInfo> runs_called(std::string_view name) const;
    /// By id, short name, unique prefix of an id, or "variant" / "variant-sSEED", which stands for the first of runs_called().
    /// Usage error listing candidates otherwise. Folders that are no runs do not stand in the way of others.
    RunDirectory find_run(std::string_view name) const;

    /// Deleting with undo: PROJECT/trash/<run id>. Stores find out at their next ingest.
    fs::path trash_folder() const { return folder_ / "trash"; }
    /// Usage error where the run is running, or waits for a supervisor that lives.
    void trash(const std::string& run) const;
    /// The same for good. At every instant the run is there whole or is none.
    void remove(const std::string& run) const;
    /// By id, short name, unique prefix of an id, or a variant of one run there; returns the id. Never overwrites a run.
    std::string restore(std::string_view name) const;
    /// The newest first.
    std::vector<TrashedRun> trashed() const;
    /// Removes for good what has lain there that long; returns how many runs.
    int empty_trash(double older_than_s) const;

  private:
    RunDirectory idle_run(const std::string& run) const;
    fs::path folder_;
};

/// Before the id in the name of a folder: a run that is being made, or removed.
constexpr std::string_view unfinished_prefix = ".new-", removing_prefix = ".removing-";

}  // namespace faceter
