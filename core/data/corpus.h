#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/evaluation_set.h"

namespace faceter {

/// What of an evaluation set can be searched and mapped: its documents (of a set without queries its held-out texts), and the queries where
/// it has any. Of a set with subsets it is the first one.
struct Corpus {
    /// More documents than that are spread over the set, after those that answer a query.
    static constexpr std::size_t most_documents = 20'000, most_queries = 5'000;

    std::string part;                   ///< name of the subset; empty: the set has none
    TextTable documents;                ///< in the order of the set
    std::vector<std::uint32_t> places;  ///< [documents] of each in the set
    std::size_t total = 0;              ///< documents of the set
    std::vector<std::int32_t> labels;   ///< [documents] indices of label_names; empty: there are none
    std::vector<std::string> label_names;
    TextTable queries;                                 ///< empty: the documents are asked about one another
    std::vector<std::vector<std::uint32_t>> relevant;  ///< [queries] documents that answer it, ascending

    /// Those with the document's label, without itself; empty where there are no labels.
    std::vector<std::uint32_t> alike(std::uint32_t document) const;
};

Corpus corpus_of(const EvaluationSet& set, std::size_t most_documents = Corpus::most_documents,
                 std::size_t most_queries = Corpus::most_queries);

}  // namespace faceter
