#pragma once
#include <memory>
#include <string>

#include "eval/embedder.h"
#include "plugin/registry.h"
#include "run_data.h"

namespace faceter::worker {

/// What a run's final model is measured by, on rank 0: its cost, its scores, its analyses. What an earlier attempt has scored stays.
class RunScores {
  public:
    RunScores(const RunContext& run, RunData& data, const EmbeddingModel& model);
    /// False where it was stopped.
    bool score();

  private:
    void measure_model() const;
    bool evaluate_all();
    void analyse();
    void store(const Json& settings, const std::string& name, const AnalysisResult& analysed) const;
    const RunContext& run_;
    RunData& data_;
    const EmbeddingModel& model_;
    CachedEmbedder embedder_;  ///< what an evaluation has embedded, an analysis need not
};

}  // namespace faceter::worker
