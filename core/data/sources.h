#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "data/evaluation_set.h"
#include "data/training_set.h"

namespace faceter {

/// What one data entry of an experiment file asks for.
struct DataRequest {
    Json settings;                 ///< the entry (data_entry_schema); missing and null members mean the defaults
    fs::path base_folder;          ///< what a relative `path` is relative to
    std::uint64_t seed = 1;        ///< draws of positives and negatives; which records are there never depends on it
    std::size_t sample_limit = 0;  ///< --smoke: at most so many examples, documents and queries; 0: no limit
};

/// A data set that cannot exist on this machine (a tag-based view of a package index without tags). Its message is complete:
/// the experiment prints it, leaves the data set out and goes on.
class DataUnavailable : public Error {
  public:
    explicit DataUnavailable(const std::string& message) : Error(ExitCode::data, message) {}
};

/// One kind of `source`: a file of this folder that registers itself. A member is null where the source has no such data.
struct DataSource {
    std::string name;
    std::string summary;  ///< one sentence, for --help
    TrainingSet (*training)(const DataRequest& request, const std::string& task) = nullptr;
    EvaluationSet (*evaluation)(const DataRequest& request) = nullptr;
    std::vector<std::string> (*texts)(const DataRequest& request) = nullptr;
};
bool register_source(DataSource source);
/// All registered sources, by name.
const std::vector<DataSource>& data_sources();

/// Examples for a task (its type: retrieval, classification, clustering ...). Bad data is a data error with file and line; a bad
/// entry is a settings error; DataUnavailable where the set cannot exist here. Warnings stand in card["warnings"].
TrainingSet load_training_set(const DataRequest& request, const std::string& task);
EvaluationSet load_evaluation_set(const DataRequest& request);
std::vector<std::string> warnings_of(const Json& card);
/// A folder in one of the layouts: its kind from dataset.json's "task", else from the files. Its name is the folder's.
EvaluationSet load_evaluation_folder(const fs::path& folder, const std::string& split = "test");
/// Plain texts: settings "count" (0: all) of them, sampled by hash, so that the same entry gives the same texts.
std::vector<std::string> load_texts(const DataRequest& request);

}  // namespace faceter
