#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/json.h"
#include "data/text_table.h"

namespace faceter {

/// Queries of one split, with their judged documents. Queries without a judgement in the split are not here.
struct RetrievalData {
    std::vector<std::string> document_ids, query_ids;
    TextTable documents, queries;  ///< document i has document_ids[i]; text = title + " " + text
    std::vector<std::vector<std::pair<std::uint32_t, int>>>
        qrels;  ///< by query: (document, grade), by document; grade 0 = judged, not relevant
    /// By query: grades of judged documents that the corpus lacks. No search can find them, but trec_eval counts them among the relevant
    /// ones. Empty where no query has any.
    std::vector<std::vector<int>> absent_grades;
    bool exclude_same_id = false;  ///< leave out the document that has the query's id (ArguAna, Quora)
};

/// All judgements of a query. Documents that the corpus lacks get numbers behind its own: a ranking that has them all would be the best.
std::vector<std::pair<std::uint32_t, int>> all_judgements(const RetrievalData& data, std::size_t query);

struct ClassificationData {
    TextTable train, test;
    std::vector<std::int32_t> train_labels, test_labels;  ///< indices of label_names
    std::vector<std::string> label_names;
    int examples_per_label = 8;  ///< of one draw of the training part (MTEB)
};

struct ClusteringData {
    struct Set {
        TextTable texts;
        std::vector<std::int32_t> labels;  ///< by text, from 0, all used
        int num_labels = 0;
    };
    std::vector<Set> sets;
};

/// Pair classification (scores 0 or 1) and STS (scores of the annotators).
struct PairData {
    TextTable texts;
    std::vector<std::uint32_t> first, second;
    std::vector<double> scores;
};

struct RerankingData {
    TextTable texts;
    struct Query {
        std::uint32_t query = 0;
        std::vector<std::uint32_t> positive, negative;
    };
    std::vector<Query> queries;
};

struct SummarisationData {
    TextTable texts;
    struct Item {
        std::vector<std::uint32_t> human, machine;
        std::vector<double> relevance;  ///< by machine summary
    };
    std::vector<Item> items;
};

struct EvaluationSet {
    std::string name;
    std::string task_type;  ///< retrieval classification clustering pair_classification sts reranking summarisation
    std::variant<RetrievalData, ClassificationData, ClusteringData, PairData, RerankingData, SummarisationData> data;
    std::string fingerprint;  ///< hash of the task type and all of the data
    Json card;                ///< counts, source, skipped records, warnings
};

/// Hash of the task type and everything in `data`, as 32 hexadecimal digits.
std::string fingerprint_of(const EvaluationSet& set);
/// Every text of the set, each table once (documents and queries, train and test ...): for overlap counts and plain embedding.
std::vector<std::string_view> all_texts(const EvaluationSet& set);
/// The texts that a score depends on as held-out data: all but a classification set's training part.
std::vector<std::string_view> held_out_texts(const EvaluationSet& set);

}  // namespace faceter
