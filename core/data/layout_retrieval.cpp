#include <algorithm>

#include "common/strings.h"
#include "data/retrieval_folder.h"

// BEIR (Thakur et al., 2021): corpus.jsonl {_id, title, text}, queries.jsonl {_id, text}, qrels/SPLIT.tsv with query-id, corpus-id, score.
// mteb 2 has the same as tables of Parquet, with "id".

namespace faceter {
namespace {

bool has_relevant(const RetrievalData& data, std::size_t query) {
    const auto judgements = all_judgements(data, query);
    return std::any_of(judgements.begin(), judgements.end(), [](const auto& judged) { return judged.second > 0; });
}

void evaluation(FolderContext& context, EvaluationSet& set) {
    RetrievalData data = read_retrieval(context);
    std::size_t without = 0;
    for (std::size_t query = 0; query < data.query_ids.size(); ++query) without += !has_relevant(data, query);
    context.report.counts["queries_without_a_relevant_document"] = without;
    if (without > 0)
        context.report.warnings.push_back(
            fmt::format("{}: {} of {} queries have no relevant document (a grade above 0); as in trec_eval they score 0 for every model",
                        context.folder.string(), without, data.query_ids.size()));
    set.data = std::move(data);
}

/// One example a relevant judgement; documents judged not relevant are the query's hard negatives, as many as are asked for: a pool of
/// judgements may have hundreds of a query.
TrainingSet training(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    const RetrievalData data = read_retrieval(context);
    TrainingBuilder builder(name, task);
    std::vector<std::string_view> negatives;
    std::size_t empty = 0;
    for (std::uint32_t query = 0; query < data.qrels.size(); ++query) {
        negatives.clear();
        for (const auto& [document, grade] : data.qrels[query])
            if (grade <= 0 && static_cast<int>(negatives.size()) < context.entry.hard_negatives)
                negatives.push_back(data.documents[document]);
        for (const auto& [document, grade] : data.qrels[query]) {
            if (grade <= 0) continue;
            const bool usable = !trim(data.queries[query]).empty() && !data.documents[document].empty();
            empty += !usable;
            if (usable) builder.add(data.queries[query], data.documents[document], negatives);
        }
    }
    context.report.counts["pairs_with_an_empty_text"] = empty;
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

std::vector<std::string> texts(FolderContext& context) {
    const TextTable documents = read_documents(context);
    const auto views = documents.views();
    return {views.begin(), views.end()};
}

const bool registered =
    register_layout({.task = "retrieval",
                     .files = "corpus.jsonl {_id, title, text}, queries.jsonl {_id, text}, qrels/SPLIT.tsv (query-id, corpus-id, score)",
                     .evaluation = evaluation,
                     .training = training,
                     .texts = texts,
                     .require_files = require_retrieval_files});

}  // namespace
}  // namespace faceter
