#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/registry.h"
#include "run_context.h"
#include "run_data.h"
#include "system_sampler.h"

namespace faceter::worker {

/// One attempt at a run, from its directory: trains what is not trained, scores what is not scored. Where several processes are its ranks
/// (Rendezvous), all of them train; rank 0 keeps the run's record, writes checkpoints, evaluates and analyses.
class RunSession {
  public:
    explicit RunSession(const fs::path& folder) : run_(folder), data_(run_) {}
    /// 0, or 6 when it was stopped with a checkpoint. Throws what went wrong, after it is in the journal.
    int execute();

  private:
    void begin();
    void join_others();
    void open_journal(int attempt);
    int work();
    void serve_scores();
    bool has_final_model() const;
    /// False where it was stopped.
    bool train();
    void finish(const Variant& variant);

    RunContext run_;
    RunData data_;
    std::unique_ptr<SystemSampler> sampler_;
    std::unique_ptr<EmbeddingModel> model_;
    bool trained_ = false;  ///< by an earlier attempt
    std::optional<Checkpoint> resume_;
    std::vector<std::string> resume_warnings_;
};

}  // namespace faceter::worker
