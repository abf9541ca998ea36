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
    RunScores(const RunContext& run, RunData& data, EmbeddingModel& model);
    /// False where it was stopped. The other ranks embed for the scores, and then for the analyses: two times serve_embeddings(), the first
    /// with a model as RunContext::scores_in_bf16() says.
    bool score();

  private:
    void measure_model() const;
    void prepare(CachedEmbedder& embedder) const;
    bool evaluate_all();
    bool evaluate_all(CachedEmbedder& embedder);
    void analyse();
    void read_chosen_training();
    void store(const Json& settings, const std::string& name, const AnalysisResult& analysed) const;
    const RunContext& run_;
    RunData& data_;
    EmbeddingModel& model_;
    CachedEmbedder embedder_;  ///< what an evaluation has embedded in float32, an analysis need not
};

}  // namespace faceter::worker
