#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/sources.h"
#include "eval/tasks.h"
#include "plugin/registry.h"
#include "plugin/stage_plan.h"
#include "record/journal.h"
#include "record/run_directory.h"
#include "system_sampler.h"
#include "train/rendezvous.h"
#include "train/trainer.h"

namespace faceter::worker {

/// One attempt at a run, from its directory: trains what is not trained, scores what is not scored. Where several processes are its ranks
/// (Rendezvous), all of them train; rank 0 keeps the run's record, writes checkpoints, evaluates and analyses.
class RunSession {
  public:
    explicit RunSession(const fs::path& folder);
    /// 0, or 6 when it was stopped with a checkpoint. Throws what went wrong, after it is in the journal.
    int execute();

  private:
    bool is_root() const { return rendezvous_.rank == 0; }
    void begin();
    void join_others();
    void open_journal(int attempt);
    int work();
    bool has_final_model() const;
    void load_training_data();
    void add_training_sets(std::vector<TrainingSet> sets, const Task& task);
    void load_evaluation_data();
    void load_validation_data();
    void warn_of_overlap();
    /// False where it was stopped.
    bool train();
    void announce(const std::vector<PlannedStage>& stages);
    bool train_stage(std::size_t index, const PlannedStage& planned, const std::optional<Checkpoint>& resume);
    /// Scores and analyses; false where it was stopped.
    bool score();
    void measure_model();
    /// False where it was stopped.
    bool evaluate_all();
    void analyse();
    void store(const Json& settings, const std::string& name, const AnalysisResult& analysed) const;
    double evaluate_during_training(const PlannedStage& planned, std::size_t index, std::int64_t step);
    double evaluate_adapter(const Stage& stage, std::size_t index, std::int64_t step);
    bool has_validation(const Stage& stage) const;
    const PairBatcher& batcher_of(const TokenLengths& lengths);
    std::vector<const TrainingSet*> training_pointers() const;
    CurriculumContext curriculum_context(const PlannedStage& planned);
    bool stop_wanted() const;
    void warn(const std::string& message);
    DataRequest request(const Json& entry) const;

    RunDirectory run_;
    Json settings_;
    Rendezvous rendezvous_;
    c10::Device device_;
    std::unique_ptr<JournalWriter> journal_;
    std::unique_ptr<SystemSampler> sampler_;
    std::unique_ptr<Variant> variant_;
    std::unique_ptr<EmbeddingModel> model_;
    std::unique_ptr<CachedEmbedder> embedder_;  ///< of the final model: what an evaluation has embedded, an analysis need not
    std::vector<TrainingSet> training_;
    std::map<TokenLengths, std::unique_ptr<PairBatcher>> batchers_;
    std::vector<EvaluationSet> evaluation_, validation_;   ///< validation: of tasks, for stages that train one alone
    std::unique_ptr<CachedEmbedder> validation_embedder_;  ///< documents that stages of adapters leave as they are
    std::unique_ptr<ProcessGroup> group_;
    bool trained_ = false;  ///< by an earlier attempt
    std::optional<Checkpoint> resume_;
    std::vector<std::string> resume_warnings_;
};

}  // namespace faceter::worker
