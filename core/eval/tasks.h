#pragma once
#include <map>
#include <string>
#include <vector>

#include "data/evaluation_set.h"
#include "eval/embedder.h"
#include "eval/search.h"

namespace faceter {

/// The score of a model on one evaluation set, as it is stored.
struct EvaluationResult {
    std::string name, task_type;
    std::string task;                       ///< of the experiment's tasks, whose instruction the texts had; empty: none
    std::string metric;                     ///< of `score`: ndcg_at_10, accuracy, v_measure ...
    double score = 0;                       ///< percent
    std::size_t n = 0;                      ///< queries, test texts, sentences, pairs
    std::map<std::string, double> metrics;  ///< further ones, percent
    std::vector<double> per_example;        ///< of the main metric, where it is a mean over examples (percent); for bootstrap
    std::vector<double> draws;              ///< score of each draw of a sampled protocol, percent
    Json settings = Json::object();         ///< protocol
    /// The parts of a multilingual set; the scores above are means over them, `n` their sum.
    struct Subset {
        std::string name;
        double score = 0;
        std::size_t n = 0;
        std::map<std::string, double> metrics;
    };
    std::vector<Subset> subsets;
    Json to_json() const;
};

/// Where a set's texts pass through the model.
struct EvaluationRoutes {
    std::string task;
    Route query, document;
};
/// The routes of the named task, of the one that the set's entry names, of its type's, or of the one that stands in for it (find_task);
/// then what else the entry says: one role for all texts, instructions of its own. A settings error where the entry names a task that the
/// model lacks.
EvaluationRoutes routes_for(const EmbeddingModel& model, const EvaluationSet& set, const std::string& task_name);

/// Scores by MTEB's protocol of the set's task type (methods.md, section 6); of a multilingual set each subset and their mean. Each task
/// type is one file task_*.cpp that registers itself.
EvaluationResult evaluate_set(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes);

/// The texts of a set (of each of its subsets) that its protocol embeds: of classification's training texts only those that a draw takes.
std::vector<std::string_view> embedded_texts(const EvaluationSet& set);

/// Of each sentence the best translation by the model's similarity.
std::vector<std::vector<SearchHit>> nearest_translations(CachedEmbedder& embedder, const BitextData& data, const EvaluationRoutes& routes);

using EvaluateFunction = EvaluationResult (*)(CachedEmbedder&, const EvaluationSet&, const EvaluationRoutes&);
using TextsFunction = std::vector<std::string_view> (*)(const EvaluationSet&);
/// `texts` where a protocol does not embed all texts of a set.
bool register_task_type(const std::string& task_type, EvaluateFunction evaluate, TextsFunction texts = all_texts);
/// Mean times 100.
double percent(const std::vector<double>& values);

}  // namespace faceter
