#pragma once
#include <memory>
#include <string>

#include "common/recent.h"
#include "data/sources.h"
#include "eval/corpus_search.h"
#include "model/embedding_model.h"
#include "named_model.h"
#include "session/session_server.h"

namespace faceter::worker {

/// What a session keeps between requests: data sets, as long as their files stay as they are, and models.
class SessionData {
  public:
    /// The data of one entry of resolved run settings, as its run would read them: one set, or, of a corpus of instructions, one a leaf.
    /// Errors as core/data says them.
    std::shared_ptr<std::vector<TrainingSet>> training_sets(const Json& settings, const Json& entry, const Task& task);
    /// The same in one set, under its task's instructions.
    std::shared_ptr<TrainingSet> training_set(const Json& settings, const Json& entry, const Task& task);
    std::shared_ptr<EvaluationSet> evaluation_set(const Json& settings, const Json& entry);
    /// What a set depends on, its name included.
    static std::string key_of_set(const Json& settings, const std::string& name);
    /// The evaluation set of this name that the settings speak of.
    std::shared_ptr<EvaluationSet> named_evaluation_set(const Json& settings, const std::string& name);
    /// The start model of these settings with the routes that their variant gives it: instructions, lengths, experts.
    EmbeddingModel& prepared_model(const Json& settings);
    /// Opened with all of its tasks: named_route() says which way the texts of one go.
    OpenedModel& named_model(const ModelOptions& options);
    /// What can be searched of the evaluation set of this name.
    std::shared_ptr<Corpus> corpus(const Json& settings, const std::string& name);
    /// The corpus as a model has it; `make` embeds it.
    template <typename Make>
    std::shared_ptr<CorpusRows> corpus_rows(const std::string& key, Make make) {
        return rows_.get(key, make);
    }
    /// Models take memory that a probe of training needs.
    void drop_models();
    /// One of them is no longer what it was: nor is what it has embedded.
    void forget_models();

  private:
    /// Of each kind of set: a benchmark's corpora would fill the memory otherwise.
    static constexpr std::uint64_t most_set_bytes = std::uint64_t(512) << 20;
    static std::uint64_t bytes_of(const TrainingSet& set);
    static std::uint64_t bytes_of(const std::vector<TrainingSet>& sets);
    static std::uint64_t bytes_of(const EvaluationSet& set);
    template <typename Set>
    static Recent<Set> some(std::size_t most) {
        return {most, most_set_bytes, [](const Set& set) { return bytes_of(set); }};
    }
    Recent<std::vector<TrainingSet>> training_ = some<std::vector<TrainingSet>>(8);
    Recent<TrainingSet> in_one_ = some<TrainingSet>(8);  ///< of corpora of instructions
    Recent<EvaluationSet> evaluation_ = some<EvaluationSet>(8);
    Recent<EvaluationSet> named_sets_ = some<EvaluationSet>(4);
    Recent<Corpus> corpora_{4};
    Recent<CorpusRows> rows_{12};
    Recent<std::unique_ptr<EmbeddingModel>> prepared_{1};
    Recent<OpenedModel> named_{2};
};

/// The session's methods; each is one file. What they take and give is written at their definitions.
Json preview(const Json& params, SessionData& data, Request& request);
Json estimate(const Json& params, SessionData& data, Request& request);
Json embed(const Json& params, SessionData& data, Request& request);
Json example_texts(const Json& params, SessionData& data, Request& request);
Json batch_examples(const Json& params, SessionData& data, Request& request);
Json planned_order(const Json& params, SessionData& data, Request& request);
Json corpus(const Json& params, SessionData& data, Request& request);
Json neighbours(const Json& params, SessionData& data, Request& request);
Json map(const Json& params, SessionData& data, Request& request);
Json token_experts(const Json& params, SessionData& data, Request& request);
Json route(const Json& params, SessionData& data, Request& request);
Json change_router(const Json& params, SessionData& data, Request& request);

}  // namespace faceter::worker
