#pragma once
#include <functional>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"
#include "experiment/experiment.h"
#include "record/state.h"

/// A study: what is asked, decided before it is run, in a file (experiments/studies/*.yaml).
namespace faceter {

enum class StudyMeasure {
    score,                  ///< main scores in points, by data set
    inter_task_similarity,  ///< mean cosine of the same texts, by pair of tasks
    router_study,           ///< scores by data set that the analysis gives its methods; the sides are methods of one variant's runs
};

/// "MoTE scores higher than IC."
struct StudyClaim {
    std::string claim, better, than;  ///< a side: variant, variant/point, experiment/variant or experiment/variant/point
    bool higher = true;               ///< whether `better` is to be higher
    StudyMeasure measure = StudyMeasure::score;
    std::vector<std::string> sets;  ///< of these; empty: of all that every run of both sides has
    double smallest_difference = 0;
};

struct StudyExperiment {
    fs::path file;
    std::vector<std::string> overrides;
};

/// Runs that are left out of the report, whatever they gave.
struct StudyExclusion {
    std::string where, reason;  ///< an expression over runs (store/filter.h)
};

struct Study {
    std::string name, question, hypothesis, budget;
    std::vector<std::uint64_t> seeds;
    double alpha = 0.05, power = 0.8;
    /// Over the seeds of a pilot, of the primary claim's difference; what the number of seeds was planned from. 0: this is a pilot.
    double pilot_deviation = 0;
    bool is_pilot() const { return pilot_deviation == 0; }
    std::vector<StudyClaim> claims;
    std::vector<StudyExperiment> experiments;
    std::vector<StudyExclusion> exclusions;
    Json plan;         ///< all of the above, with the text of each experiment: what was decided
    std::string hash;  ///< of the plan
};

/// Errors (settings): what is wrong with the file, with its place; fewer seeds than the first claim's smallest difference needs at alpha
/// over the number of claims.
Study read_study(const fs::path& file);
/// Before a study is run. Error (settings): no pilot says how many seeds it takes, and it has more of them than a pilot needs.
void check_planned(const Study& study, const fs::path& file);

/// One run that a study wants, and the record that it has of it.
struct StudyRun {
    std::size_t experiment = 0;  ///< place in Study::experiments
    ResolvedRun wanted;
    std::string experiment_name;
    fs::path record;          ///< the run's folder: the earliest that is done, else the newest; empty: there is none yet
    std::string record_name;  ///< as tables show it
    RunState state;           ///< of the record
    bool done = false;
    /// Where there is no record: why the newest run of the same experiment, variant, point and seed is none. "EM-1 does not count: its
    /// training.steps is 7, the study's 20"; empty: there is no such run.
    std::string unlike;

    /// Its record is stopped, failed or dead.
    bool ended_early() const { return !record.empty() && is_over(state.phase) && state.phase != RunPhase::done; }
};
/// Whether a claim means these runs by the name of a side.
bool is_side(const StudyRun& run, const std::string& side);
/// What the study's experiments make, each with its record in `project`: one of the same experiment, variant, point, seed and settings (as
/// far as a score depends on them). `smoke`: the runs that --smoke makes. Errors (settings): those of the experiments; a side of a
/// claim that none of them makes, or that is the name of several configurations (found at the end).
/// One run is in memory at a time; the project's runs are listed once.
void each_study_run(const Study& study, const Catalogue& catalogue, const fs::path& project, bool smoke,
                    const std::function<void(StudyRun&&)>& take);
/// All of them. Settings (StudyRun::wanted) have only those without a record: a record has its own.
std::vector<StudyRun> study_runs(const Study& study, const Catalogue& catalogue, const fs::path& project, bool smoke);

/// The experiments of a study, all of whose files are there (Experiment::check_files).
std::vector<Experiment> study_experiments(const Study& study, const Catalogue& catalogue, bool smoke);
/// Before a study is run. Errors (settings): besides those of each_study_run, a claim that no run could decide: its sides are one, two
/// experiments make one of them, or an experiment lacks the data set or the analysis that it is measured on.
void check_claims(const Study& study, const std::vector<Experiment>& experiments);
/// What `study run` starts.
struct StudyStart {
    std::vector<RunDirectory> runs;      ///< made now, or ready to go on; seed by seed
    std::vector<std::string> under_way;  ///< "EM-1 is running already"
};
/// Makes the runs that have no record in `project`.
StudyStart begin_study(const std::vector<Experiment>& experiments, std::vector<StudyRun> planned, const fs::path& project, bool smoke);

/// PROJECT/studies/NAME.json of the study that is called so.
fs::path study_record_file(const fs::path& project, const std::string& name);
/// What stands there: the plan as it was at the first run, and what has been changed since.
struct StudyRecord {
    std::string hash, first_run;
    Json plan;
    /// "2026-11-20: claims[0].smallest_difference was 0.5, is 0.2".
    std::vector<std::string> deviations;
};
/// At the start of each `study run`: writes the record the first time, adds what has changed to it later.
void record_study(const Study& study, const fs::path& project);
/// The record with what has changed since it was written; without one, the plan as it stands.
StudyRecord read_study_record(const Study& study, const fs::path& project);

}  // namespace faceter
