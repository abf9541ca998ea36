#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eval/set_mining.h"
#include "model/embedding_model.h"
#include "plugin/stage_plan.h"

namespace faceter::worker {

/// What a stage of the experiment does to its training data before it is trained (`filter`, `mine`: Nomic Embed v2, sections 4.2 and 4.3),
/// judged by a teacher or by the model as it stands. What was chosen is kept in `folder`, so that a resumed run goes on with the same data.
class StageData {
  public:
    using Report = std::function<void(const std::string& what, const TrainingSet& set, const Tally& tally)>;
    StageData(fs::path folder, const EmbeddingModel& model, std::function<void(const std::string&)> phase, Report report)
        : folder_(std::move(folder)), model_(model), phase_(std::move(phase)), report_(std::move(report)) {}
    /// Errors (data): the teacher cannot be read; a file of an earlier attempt does not fit these sets; nothing is left of a set.
    void prepare(const PlannedStage& planned, std::vector<TrainingSet>& sets) const;

  private:
    class Teacher;
    using Teachers = std::map<std::string, std::unique_ptr<Teacher>>;
    Teacher& teacher(const Json& settings, Teachers& teachers) const;
    void apply(const Json& settings, bool mining, const std::string& stem, TrainingSet& set, Teachers& teachers) const;
    fs::path folder_;
    const EmbeddingModel& model_;
    std::function<void(const std::string&)> phase_;
    Report report_;
};

/// The folder's prompt for queries or documents by the names in use, else no instruction.
Route prompted_route(const EmbeddingModel& model, Role role);

}  // namespace faceter::worker
