#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "experiment/catalogue.h"
#include "settings/yaml.h"

namespace faceter {

/// One run of an experiment with everything decided. `settings` is what the worker reads (RunInfo::settings):
///   name, description, model, max_length (tokens or null: the folder's), seed, threads (0: open), precision,
///   sample_limit (0; > 0 with --smoke: examples or documents of a data set),
///   tasks: {NAME: {type, instructions: {query, document}, temperature, weight, batching, train: [data entry ...]}},
///   variant: {name, method, ...the method's own settings},
///   curriculum: {method, ...}, objective: {method, ...}, training: {...},
///   stages: [{name, tasks, training, curriculum, objective: whole}], empty: one part over all tasks,
///   evaluation: {baseline, datasets: [data entry ...], ...}, analyses: [{method, ..., texts: data entry}].
/// Data entries are what core/data/settings.cpp declares; paths are absolute. The untrained start model is variant "start", method "start".
struct ResolvedRun {
    std::string variant, method;
    std::string plugin;  ///< id of the plugin that offers the method; "core"
    std::string point;   ///< the sweep point, "learning_rate=1e-05"; empty without a sweep
    std::uint64_t seed = 1;
    Json settings;
    bool dense_start = false;           ///< the variant needs a start model without token-routed blocks
    std::string two_blocks;             ///< the setting of the variant for which the start model needs two blocks; empty: one will do
    std::vector<std::string> layers{};  ///< of the start model, as the variant's settings name them
    /// Settings of the variant, not as by default, that a start model with token-routed blocks has its own of.
    Json of_dense_start = Json::object();
};

struct ExperimentOptions {
    std::vector<std::string> overrides;  ///< --set key=value
    std::vector<std::uint64_t> seeds;    ///< --seeds; empty: the file's
    bool smoke = false;                  ///< few steps on a sample, one seed, the first sweep point
};

/// What the scores of the untrained model depend on, in a run's settings; points of a sweep that differ in other things share one start
/// run.
std::string baseline_key(const Json& settings);

/// An experiment file, parsed and checked.
class Experiment {
  public:
    /// Errors (settings): everything that is wrong, one line each with file:line:column.
    static Experiment load(const fs::path& file, const Catalogue& catalogue, const ExperimentOptions& options = {});
    static Experiment parse(std::string_view text, const fs::path& file, const Catalogue& catalogue, const ExperimentOptions& options = {});

    const std::string& name() const { return name_; }
    const fs::path& file() const { return file_; }
    const std::string& text() const { return text_; }
    /// One a variant x sweep point x seed, in that order; the start model first.
    const std::vector<ResolvedRun>& runs() const { return runs_; }
    /// Data error where a file or folder that the experiment names is not there.
    void check_files() const;

  private:
    std::string name_, text_;
    fs::path file_;
    std::vector<ResolvedRun> runs_;
};

}  // namespace faceter
