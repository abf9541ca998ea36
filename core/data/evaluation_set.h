#pragma once
#include <array>
#include <cstdint>
#include <optional>
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

/// Texts with any number of labels each.
struct MultilabelData {
    TextTable train, test;
    std::vector<std::vector<std::int32_t>> train_labels, test_labels;  ///< by text: indices of label_names, ascending, each once
    std::vector<std::string> label_names;
    int examples_per_label = 8;  ///< of one draw of the training part (MTEB)
};

/// Sentences and their translations: first[i] belongs with second[i].
struct BitextData {
    TextTable first, second;
};

/// Under which task of the model a set's texts pass, where the entry says more than the set's own type.
struct EvaluationRouting {
    std::string task;  ///< name of a task; empty: by the set's type
    std::string role;  ///< "query" or "document" for all texts; empty: as the protocol has it
    std::optional<std::string> query_instruction, document_instruction;  ///< in place of the task's
};

/// The task types that have a score, in the order of tables.
inline constexpr std::array<std::string_view, 9> evaluation_task_types{
    "retrieval", "reranking",     "classification", "multilabel_classification", "clustering", "pair_classification",
    "sts",       "summarisation", "bitext_mining"};

struct EvaluationSet {
    std::string name;
    std::string task_type;  ///< one of evaluation_task_types
    std::variant<RetrievalData, ClassificationData, ClusteringData, PairData, RerankingData, SummarisationData, MultilabelData, BitextData>
        data;
    /// Languages or other parts of one data set, scored one by one; the score is their mean. Where there are any, `data` is empty.
    std::vector<EvaluationSet> subsets;
    EvaluationRouting routing;
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
