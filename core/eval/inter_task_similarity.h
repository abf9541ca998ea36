#pragma once
#include <string>
#include <vector>

#include "eval/embedder.h"
#include "figure/figure.h"
#include "figure/table.h"

namespace faceter {

/// A task as texts meet it: the instruction of one task and role. Roles with the same instruction are one facet.
struct Facet {
    std::string name;  ///< "retrieval.query", "clustering"
    std::string task;
    Role role = Role::query;
};
std::vector<Facet> facets_of(const std::vector<Task>& tasks);

/// For each pair of facets the cosine similarities between the two embeddings of the same text, over the texts (MoTE, section 5.2; its
/// Figure 3 is the densities, Figure 1 the means).
struct InterTaskSimilarity {
    struct Pair {
        std::string a, b;
        std::vector<double> values;  ///< one a text
        double mean = 0;
    };
    std::vector<Pair> pairs;
    std::size_t num_texts = 0;

    Json to_json() const;
    /// A pair whose values have no spread (a model that ignores instructions) has no density; a note says so.
    Figure densities(const std::string& run) const;
    Table table(const std::string& run) const;
};
InterTaskSimilarity inter_task_similarity(CachedEmbedder& embedder, const std::vector<Task>& tasks, const std::vector<std::string>& texts);

}  // namespace faceter
