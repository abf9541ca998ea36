#include "common/strings.h"
#include "data/retrieval_folder.h"

// MTEB reranking: {query, positive: [...], negative: [...]}; one text in place of a list is a list of one. Or, as mteb 2 has it, a
// retrieval set with the candidates of each query: top_ranked.jsonl {query-id, corpus-ids: [...]}.

namespace faceter {
namespace {

std::vector<std::string_view> text_or_texts(const Record& record, std::string_view key) {
    const Record::Member* member = record.find({key});
    if (member && member->kind == Record::Kind::text) return {member->text};
    return record.texts(key);
}

RerankingData read_queries(FolderContext& context) {
    RerankingData data;
    std::size_t one_sided = 0, candidates = 0;
    context.read(context.need_split(context.split), [&](const Record& record) {
        const auto positive = text_or_texts(record, "positive"), negative = text_or_texts(record, "negative");
        RerankingData::Query query;
        const std::string_view text = context.text(record, "query");
        if (positive.empty() || negative.empty()) {
            ++one_sided;
            return;
        }
        query.query = data.texts.intern(text);
        for (const std::string_view candidate : positive) query.positive.push_back(data.texts.intern(candidate));
        for (const std::string_view candidate : negative) query.negative.push_back(data.texts.intern(candidate));
        candidates += positive.size() + negative.size();
        data.queries.push_back(std::move(query));
    });
    if (data.queries.empty()) throw data_error("{}: no query with candidates in split '{}'", context.place(), context.split);
    context.report.counts["queries"] = data.queries.size();
    context.report.counts["candidates"] = candidates;
    context.report.counts["queries_without_positive_or_negative"] = one_sided;
    return data;
}

RerankingData read_set(FolderContext& context) { return has_candidates(context.folder) ? read_candidates(context) : read_queries(context); }

void require_files(const FolderContext& context) {
    if (has_candidates(context.folder))
        require_retrieval_files(context);
    else
        context.need_split(context.split, true);
}

void evaluation(FolderContext& context, EvaluationSet& set) { set.data = read_set(context); }

/// One example a positive candidate; the query's negative candidates are its hard negatives.
TrainingSet training(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    const RerankingData data = read_set(context);
    TrainingBuilder builder(name, task);
    std::vector<std::string_view> negatives;
    for (const RerankingData::Query& query : data.queries) {
        negatives.clear();
        for (const std::uint32_t id : query.negative)
            if (context.entry.hard_negatives < 0 || static_cast<int>(negatives.size()) < context.entry.hard_negatives)
                negatives.push_back(data.texts[id]);
        for (const std::uint32_t id : query.positive)
            if (!trim(data.texts[id]).empty()) builder.add(data.texts[query.query], data.texts[id], negatives);
    }
    return builder.finish(context.entry.limits, context.report, std::move(origin));
}

bool matches(const Record& record) { return record.find({"query"}) && record.find({"positive"}) && record.find({"negative"}); }

const bool registered = register_layout({.task = "reranking",
                                         .files = "test.jsonl {query, positive, negative}, or a retrieval set with top_ranked.jsonl",
                                         .matches = matches,
                                         .evaluation = evaluation,
                                         .training = training,
                                         .require_files = require_files});

}  // namespace
}  // namespace faceter
