#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/evaluation_set.h"
#include "data/training_set.h"
#include "eval/embedder.h"
#include "figure/figure.h"
#include "figure/table.h"
#include "model/embedding_model.h"
#include "train/curriculum.h"
#include "train/objective.h"
#include "train/token_objective.h"
#include "train/trainer.h"

namespace faceter {

/// What is known when the stages of a run are over.
struct FinishContext {
    std::span<const TrainingSet> training;  ///< of all tasks
    std::uint64_t seed = 1;
    std::function<void(const std::string& what)> phase;                        ///< says what is being done; may throw to stop
    std::span<const EvaluationSet> validation{};                               ///< of all tasks that have any
    std::function<void(const std::string& type, const Json& fields)> event{};  ///< goes into the run's journal; may be empty
};

/// A method: turns the dense start model into the model that a run trains and serves.
class Variant {
  public:
    virtual ~Variant() = default;
    /// Gives `model` (dense, or with token-routed blocks, with its tasks) its routes, experts and further encoders.
    virtual void prepare(EmbeddingModel& model) const = 0;
    /// What is trained, in order. Default: one stage over all tasks.
    virtual std::vector<Stage> stages(const EmbeddingModel& model) const;
    /// The model's final form, after the last stage (averaging experts, building a router). Default: as trained.
    virtual void finish(EmbeddingModel& model, const FinishContext& context) const;
};

/// What an analysis works with: one run's model and data, and a way to embed.
struct AnalysisContext {
    CachedEmbedder& embedder;
    const std::vector<Task>& tasks;
    std::vector<std::string> texts;  ///< settings.texts, read
    std::string run_name;
    fs::path run_folder{};
    Json run{};  ///< the run's resolved settings
    /// The run's training data, read at the first call; data sets that cannot exist here are left out.
    std::function<const std::vector<TrainingSet>&()> training_sets{};
    std::span<const EvaluationSet> evaluation{};           ///< what the run was scored on
    std::function<void(const std::string& what)> phase{};  ///< says what is being done; may be empty
};

struct AnalysisResult {
    Json result;  ///< stored as results/<name>.json
    std::vector<std::pair<std::string, Figure>> figures;
    std::vector<std::pair<std::string, Table>> tables;
};

class Analysis {
  public:
    virtual ~Analysis() = default;
    virtual AnalysisResult run(const AnalysisContext& context) const = 0;
};

/// The extension points. A plugin adds factories under the names that its manifest declares; each takes its resolved settings, a variant's
/// with the run's `seed` among them.
class Registry {
  public:
    using VariantFactory = std::function<std::unique_ptr<Variant>(const Json& settings)>;
    using CurriculumFactory = std::function<std::unique_ptr<Curriculum>(const CurriculumContext& context)>;
    using ObjectiveFactory = std::function<std::unique_ptr<PairObjective>(const Json& settings)>;
    using TokenObjectiveFactory = std::function<std::unique_ptr<TokenObjective>(const Json& settings)>;
    /// Opens the router that a model folder's router.json describes; adds the experts that it needs to the model, whose base is loaded.
    using RouterOpener = std::function<std::shared_ptr<const ExpertRouter>(EmbeddingModel& model, const fs::path& folder)>;
    /// `faceter router add` and `remove`: changes the files of a folder with a router; returns what was done, a line.
    using RouterEditor = std::function<std::string(EmbeddingModel& model, const fs::path& folder, const Json& change)>;
    using AnalysisFactory = std::function<std::unique_ptr<Analysis>(const Json& settings)>;

    /// Errors: a name that is taken.
    void add_variant(const std::string& name, VariantFactory factory);
    void add_curriculum(const std::string& name, CurriculumFactory factory);
    void add_objective(const std::string& name, ObjectiveFactory factory);
    void add_token_objective(const std::string& name, TokenObjectiveFactory factory);
    void add_analysis(const std::string& name, AnalysisFactory factory);
    void add_router(const std::string& name, RouterOpener open, RouterEditor edit);

    /// Errors (settings): an unknown name, with those that are known.
    std::unique_ptr<Variant> make_variant(const std::string& name, const Json& settings) const;
    std::unique_ptr<Curriculum> make_curriculum(const std::string& name, const CurriculumContext& context) const;
    std::unique_ptr<Objective> make_objective(const std::string& name, const Json& settings) const;
    std::unique_ptr<Analysis> make_analysis(const std::string& name, const Json& settings) const;
    std::shared_ptr<const ExpertRouter> open_router(const std::string& name, EmbeddingModel& model, const fs::path& folder) const;
    std::string edit_router(const std::string& name, EmbeddingModel& model, const fs::path& folder, const Json& change) const;

  private:
    std::map<std::string, VariantFactory> variants_;
    std::map<std::string, CurriculumFactory> curricula_;
    std::map<std::string, ObjectiveFactory> objectives_;
    std::map<std::string, TokenObjectiveFactory> token_objectives_;
    std::map<std::string, AnalysisFactory> analyses_;
    std::map<std::string, std::pair<RouterOpener, RouterEditor>> routers_;
};

/// What core itself offers: variants start, merged; curricula task_aware, static, shuffled, proportional, round_robin; objectives infonce,
/// masked_language; analyses inter_task_similarity, embedding_forms.
void register_builtins(Registry& registry);

}  // namespace faceter
