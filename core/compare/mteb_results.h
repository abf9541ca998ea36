#pragma once
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"
#include "record/run_directory.h"

namespace faceter {

// Result files of the mteb package (mteb.load_results.task_results.TaskResult): <model>/<revision>/<task>.json beside model_meta.json,
// scores as fractions.

/// One of our results (results/<data set>.json) as such a file. The task's name is MTEB's where a suite knows the data set, else ours.
/// `seconds`: how long the evaluation took.
Json mteb_result(const Json& result, double seconds);
/// The same file's name: "Banking77Classification.json".
std::string mteb_file_name(const Json& result);
/// What mteb's ModelMeta says of a model, of what we know.
struct MtebModel {
    std::string name, revision;  ///< "organization/model": see mteb_model_name()
    std::int64_t num_parameters = 0, embedding_dim = 0, max_tokens = 0;
    std::string similarity = "cosine";
    bool uses_instructions = false;
    std::string adapted_from;  ///< the start model's name on the hub; may be empty
};
/// model_meta.json: a ModelMeta of mteb with every member that it asks for.
Json mteb_model_meta(const MtebModel& model);
/// A model's name as mteb takes it: one without an organization gets "faceter/" in front.
std::string mteb_model_name(const std::string& model);
/// "org/model" as the folder that MTEB makes of it.
std::string mteb_model_folder(const std::string& model);

/// One model's results from somebody else's evaluation.
struct ImportedModel {
    std::string model, revision;
    std::vector<Json> results;       ///< in our form, percent, by data set
    std::vector<std::string> notes;  ///< what was left out, or is scored otherwise than here
    std::string fingerprint;         ///< of the files' content
    std::size_t num_files = 0;
};

/// Reads the result files under `folder`, those of versions before 1.11 too. Everything is checked, since the files are somebody else's:
/// data errors name the file and what was expected. Of several splits the suite's counts, else "test". What mteb 2 ran with settings of its
/// own (experiments/<settings>/) is a model "name (settings)".
std::vector<ImportedModel> read_mteb_results(const fs::path& folder);

struct ImportedRun {
    std::string id, model;
    std::size_t num_results = 0;
    bool is_new = true;  ///< false: the project had the very same results already
};
/// Makes a read-only run of each model: done, without a model, with method "imported".
std::vector<ImportedRun> import_models(const Project& project, const fs::path& folder, const std::vector<ImportedModel>& models);

}  // namespace faceter
