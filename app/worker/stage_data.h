#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugin/stage_plan.h"
#include "plugin/teacher.h"

namespace faceter::worker {

/// What a stage of the experiment does to its training data before it is trained (`filter`, `mine`: Nomic Embed v2, sections 4.2 and 4.3),
/// judged by a teacher or by the model as it stands. All ranks embed for rank 0, which chooses; what was chosen is kept in `folder`, so
/// that the others, and a resumed run, go on with the same data.
class StageData {
  public:
    struct Reports {
        std::function<void(const std::string&)> phase;
        std::function<void(const std::string& what, const TrainingSet& set, const Tally& tally)> chosen;  ///< on rank 0
        std::function<void(const std::string&)> warn;                                                     ///< on rank 0
        std::function<void()> stop_where_wanted;  ///< called while a process that is alone embeds; may throw
    };
    /// Whether the loss of the `part`th stage, or of one behind it, cannot do with examples of the task that have no hard negatives.
    using NeedsNegatives = std::function<bool(std::size_t part, const std::string& task)>;
    /// `device`: where another model than the run's is put.
    StageData(fs::path folder, const EmbeddingModel& model, const c10::Device& device, ProcessGroup& group, Reports reports,
              NeedsNegatives needs_negatives)
        : folder_(std::move(folder)),
          model_(model),
          device_(device),
          group_(group),
          reports_(std::move(reports)),
          needs_negatives_(std::move(needs_negatives)) {}
    /// All ranks call it. `begun`: an earlier attempt has trained the model in this stage or behind it, so that as a teacher it would
    /// choose otherwise than it has. Errors (data): the teacher cannot be read; a file of an earlier attempt does not fit these sets, or is
    /// gone where the model would have to choose again; nothing is left of a set.
    void prepare(const PlannedStage& planned, bool begun, std::vector<TrainingSet>& sets) const;

  private:
    using Teachers = std::map<std::string, std::unique_ptr<ModelTeacher>>;
    ModelTeacher& teacher(const Json& settings, Teachers& teachers) const;
    struct Step {
        const Json& settings;
        bool mining, begun;
        bool needs_negatives;  ///< examples for which mining leaves none are left out
        fs::path file;
    };
    void apply(const Step& step, TrainingSet& set, Teachers& teachers) const;
    void choose(const Step& step, TrainingSet set, ModelTeacher& teacher) const;
    void leave_out_without_negatives(TrainingSet& set, Tally& tally) const;
    fs::path folder_;
    const EmbeddingModel& model_;
    c10::Device device_;
    ProcessGroup& group_;
    Reports reports_;
    NeedsNegatives needs_negatives_;
};

/// What the stages of a trained run have chosen of its sets as they are read, from the same files: as its training left them. `settings`:
/// the run's. DataUnavailable: a file is gone.
void take_chosen(const fs::path& folder, const Json& settings, std::vector<TrainingSet>& sets);
/// What one stage has, the `part`th, of the sets as those before it left them. One that was not `begun` may not have chosen yet.
void take_chosen(const fs::path& folder, const std::vector<Json>& recipes, std::size_t part, bool begun, std::vector<TrainingSet>& sets);

}  // namespace faceter::worker
