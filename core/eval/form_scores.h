#pragma once
#include <string>
#include <vector>

#include "eval/quantise.h"
#include "eval/tasks.h"
#include "figure/figure.h"
#include "figure/table.h"

namespace faceter {

/// What shorter and coarser embeddings cost: the scores of one model on some data sets in every form (Matryoshka's prefixes, int8, binary).
struct FormScores {
    std::int64_t dim = 0;                                ///< of the whole embedding
    std::vector<EmbeddingForm> forms;                    ///< the whole float32 embedding first
    std::vector<std::vector<EvaluationResult>> results;  ///< [form][data set]

    double mean(std::size_t form) const;  ///< over the data sets, percent
    Json to_json() const;
    /// A row a form: bytes of a vector, the score of each data set, their mean, and the mean's share of the whole embedding's.
    Table table(const std::string& model) const;
    /// Mean against elements, a line a precision.
    Figure figure(const std::string& model) const;
};

/// Scores one set in every form and adds it to `scores`; its texts are embedded once. The embedder is left as it was found, whole.
void add_form_scores(FormScores& scores, CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes);

}  // namespace faceter
