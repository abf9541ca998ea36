#pragma once
#include <string>
#include <vector>

#include "eval/embedder.h"
#include "eval/projection.h"
#include "figure/figure.h"
#include "figure/table.h"

namespace faceter {

/// A task as texts meet it: the instruction of one task and role. Roles with the same instruction are one facet, but where a model embeds
/// them otherwise (another adapter, expert or encoder).
struct Facet {
    std::string name;  ///< "retrieval.query", "clustering"
    std::string task;
    Role role = Role::query;
};
std::vector<Facet> facets_of(const std::vector<Task>& tasks);
/// With "TASK.document" beside "TASK" where the model has another path for documents of one and the same instruction.
std::vector<Facet> facets_of(const std::vector<Task>& tasks, const EmbeddingModel& model);

/// For each pair of facets the cosine similarities between the two embeddings of the same text, over the texts (MoTE, section 5.2; its
/// Figure 3 is the densities, Figure 1 the means).
struct InterTaskSimilarity {
    struct Pair {
        std::string a, b;
        std::vector<double> values;  ///< one a text
        double mean = 0;
    };
    std::vector<Pair> pairs;
    std::vector<std::string> facets;
    std::vector<std::string> texts;
    Projection projection;  ///< of all facets' embeddings, facet after facet, texts in their order

    /// With the pairs the texts themselves (long ones cut) and a fingerprint of all of them, so that two runs are known to have embedded
    /// the same.
    Json to_json() const;
    /// A pair whose values have no spread (a model that ignores instructions) has no density; a note says so.
    Figure densities(const std::string& run) const;
    /// The same texts under each facet in the plane of their two largest principal components: a series a facet; the labels are the texts'
    /// numbers.
    Figure plane(const std::string& run) const;
    Table table(const std::string& run) const;
};
InterTaskSimilarity inter_task_similarity(CachedEmbedder& embedder, const std::vector<Task>& tasks, const std::vector<std::string>& texts);
/// The same from embeddings: one [N, D] a facet, of the N texts in their order, rows of length 1.
InterTaskSimilarity compare_facets(const std::vector<Facet>& facets, const std::vector<at::Tensor>& embeddings,
                                   const std::vector<std::string>& texts);

}  // namespace faceter
