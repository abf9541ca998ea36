#pragma once
#include <optional>
#include <vector>

#include "model/task.h"
#include "plugin/registry.h"
#include "run_context.h"

namespace faceter::worker {

/// The data sets that a run's settings name, read once and journaled with their cards. One that cannot exist on this machine is left out
/// with a warning.
class RunData {
  public:
    explicit RunData(const RunContext& run) : run_(run) {}
    void read_training();
    void read_evaluation();
    void read_validation();
    /// Makes the analyses, each of which reads its own files then, and reads the texts that they name: before the training, which none that
    /// cannot be read shall come to light behind.
    void read_analyses();
    /// Of texts that stand in both training and test data.
    void warn_of_overlap() const;
    /// Of sets that are others than an earlier attempt at the run read.
    void warn_of_changes() const;

    std::vector<TrainingSet>& training() { return training_; }
    const std::vector<EvaluationSet>& evaluation() const { return evaluation_; }
    /// Of tasks, for stages that train one alone.
    const std::vector<EvaluationSet>& validation() const { return validation_; }
    struct ReadAnalysis {
        std::unique_ptr<Analysis> analysis;
        std::optional<std::vector<std::string>> texts;  ///< empty where it names none; none where they cannot exist on this machine
    };
    /// Of the settings, in order.
    const std::vector<ReadAnalysis>& analyses() const { return analyses_; }

  private:
    void add_training_sets(std::vector<TrainingSet> sets, const Task& task);
    void note(const char* use, const std::string& task, const std::string& name, const Json& card);
    const RunContext& run_;
    std::vector<TrainingSet> training_;
    std::vector<EvaluationSet> evaluation_, validation_;
    std::vector<ReadAnalysis> analyses_;
    std::vector<Json> read_;  ///< what the journal has of each
};

}  // namespace faceter::worker
