#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "checkpoint/model_folder.h"
#include "eval/feature_matrix.h"

namespace faceter {

struct SearchHit {
    std::uint32_t document = 0;
    float score = 0;
};

/// Whether a document is no hit of a query, whatever its score; asked from several threads. Empty: none is passed over.
using PassedOver = std::function<bool(std::size_t query, std::size_t document)>;

/// Exact search for the k documents with the highest score, for many queries at once: the dot product (which is the cosine where all rows
/// have length 1), the squared Euclidean distance with a minus, or the Manhattan distance with a minus. Documents stream through: they are
/// never kept. Memory is a copy of the queries and a few k hits for each; scores of no interest are never written. Hits are ordered by
/// score, descending, then by document, ascending.
class ExactSearch {
  public:
    /// `queries` [Q, D] are copied; `k` >= 1, else a usage error.
    ExactSearch(const FeatureMatrix& queries, std::size_t k, Similarity similarity = Similarity::dot, PassedOver passed_over = {});
    ~ExactSearch();
    ExactSearch(const ExactSearch&) = delete;
    ExactSearch& operator=(const ExactSearch&) = delete;
    /// The next rows of the corpus, the more at a time the better; their indices go on from those before. A usage error where the width
    /// differs.
    void add_documents(const FeatureMatrix& documents);
    /// Per query the best min(k, documents so far), without those that are passed over.
    std::vector<std::vector<SearchHit>> results() const;
    std::size_t num_documents() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The same for a corpus in memory.
std::vector<std::vector<SearchHit>> exact_search(const FeatureMatrix& queries, const FeatureMatrix& documents, std::size_t k,
                                                 Similarity similarity = Similarity::dot, PassedOver passed_over = {});

}  // namespace faceter
