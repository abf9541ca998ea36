#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "common/strings.h"
#include "data/file_ending.h"
#include "data/folder_layout.h"

// BEIR (Thakur et al., 2021): corpus.jsonl {_id, title, text}, queries.jsonl {_id, text}, qrels/SPLIT.tsv with query-id, corpus-id, score.

namespace faceter {
namespace {

/// The split of BEIR's generated queries: qgen-queries.jsonl with qgen-qrels/train.tsv.
constexpr std::string_view generated = "qgen";

using IdIndex = std::unordered_map<std::string, std::uint32_t>;

std::uint32_t new_id(IdIndex& index, std::vector<std::string>& ids, std::string_view id) {
    const auto number = static_cast<std::uint32_t>(ids.size());
    if (!index.emplace(std::string(id), number).second) throw BadRecord{"an _id stands twice", faceter::quoted(id, 60)};
    ids.emplace_back(id);
    return number;
}

IdIndex read_corpus(FolderContext& context, RetrievalData& data) {
    IdIndex index;
    std::string text;
    context.read(context.need("corpus"), [&](const Record& record) {
        const std::string_view title = record.text_or_empty("title"), body = record.text_or_empty("text");
        if (!record.find({"title", "text"})) throw BadRecord{"a document has neither title nor text", "members: " + record.known()};
        new_id(index, data.document_ids, record.text_or_number("_id"));
        text.assign(title).append(" ").append(body);
        data.documents.add(trim(text));
    });
    return index;
}

struct Queries {
    IdIndex index;
    std::vector<std::string> ids;
    TextTable texts;
};

fs::path queries_file(const FolderContext& context) { return context.need(context.split == generated ? "qgen-queries" : "queries"); }

Queries read_queries(FolderContext& context) {
    Queries queries;
    context.read(queries_file(context), [&](const Record& record) {
        if (!record.find({"text"})) throw BadRecord{"member 'text' is missing", "members: " + record.known()};
        const std::string_view text = record.text_or_empty("text");
        new_id(queries.index, queries.ids, record.text_or_number("_id"));
        queries.texts.add(text);
    });
    return queries;
}

fs::path qrels_file(const FolderContext& context) {
    const bool is_generated = context.split == generated;
    const fs::path folder_of_split = context.folder / (is_generated ? "qgen-qrels" : "qrels");
    for (const std::string& stem : is_generated ? std::vector<std::string>{"train"} : names_of_split(context.split)) {
        for (const std::string ending : {".tsv", ".tsv.gz", ".tsv.zst", ".jsonl", ".jsonl.gz", ".jsonl.zst"})
            for (const fs::path& folder : {folder_of_split, is_generated ? folder_of_split : context.folder})
                if (const auto file = find_by_ending(folder, stem, {&ending, 1})) return *file;
        for (const char* folder : {"qrels", ".", "default"})  // the last two: the hub's
            if (const auto file = find_parquet(context.folder / folder, is_generated ? context.split : stem)) return *file;
    }
    throw data_error("{}: no such file (nor with .gz or .zst); choose a split that the data set has judgements for",
                     (folder_of_split / (is_generated ? "train.tsv" : context.split + ".tsv")).string());
}

void require_files(const FolderContext& context) {
    context.need("corpus");
    queries_file(context);
    qrels_file(context);
}

int grade_of(const Record& record) {
    const double score = record.number("score");
    if (std::abs(score) > 1e6) throw BadRecord{"a score is out of range", ""};
    if (score != std::trunc(score)) throw BadRecord{"a score is not a whole number", fmt::format("{}; grades are 0, 1, 2 ...", score)};
    return static_cast<int>(score);
}

/// Of one query: judged documents, each once (the last judgement counts), and those that the corpus lacks, by id.
struct Judgements {
    std::map<std::uint32_t, int> known;
    std::map<std::string, int, std::less<>> absent;
    bool empty() const { return known.empty() && absent.empty(); }
};

std::vector<Judgements> read_qrels(FolderContext& context, const IdIndex& documents, const Queries& queries) {
    std::vector<Judgements> judged(queries.ids.size());
    std::size_t rows = 0, unknown_documents = 0, unknown_queries = 0, repeated = 0;
    const TableColumns columns{{"query-id", "corpus-id", "score"},
                               {{"query-id", "query_id", "qid"}, {"corpus-id", "corpus_id", "doc_id", "docid"}}};
    context.read(
        qrels_file(context),
        [&](const Record& record) {
            const Record::Member* query = record.find({"query-id", "query_id", "qid"});
            const Record::Member* document = record.find({"corpus-id", "corpus_id", "doc_id", "docid"});
            if (!query || !document) throw BadRecord{"a judgement needs query-id, corpus-id and score, separated by tabs", ""};
            const int grade = grade_of(record);
            ++rows;
            const auto query_at = queries.index.find(std::string(query->text));
            const auto document_at = documents.find(std::string(document->text));
            unknown_queries += query_at == queries.index.end();
            unknown_documents += document_at == documents.end();
            if (query_at == queries.index.end()) return;
            Judgements& of_query = judged[query_at->second];
            const bool is_new = document_at == documents.end() ? of_query.absent.insert_or_assign(std::string(document->text), grade).second
                                                               : of_query.known.insert_or_assign(document_at->second, grade).second;
            repeated += !is_new;
        },
        columns);
    DataReport& report = context.report;
    report.counts["judgements"] = rows;
    report.counts["judgements_of_unknown_documents"] = unknown_documents;
    report.counts["judgements_of_unknown_queries"] = unknown_queries;
    report.counts["repeated_judgements"] = repeated;
    if (unknown_documents > 0)
        report.warnings.push_back(fmt::format(
            "{}: {} judgements name a document that the data set lacks; no search can find these, and as in trec_eval they count as missed",
            qrels_file(context).string(), unknown_documents));
    if (unknown_queries > 0)
        report.warnings.push_back(fmt::format("{}: {} judgements name a query that the data set lacks; they were left out",
                                              qrels_file(context).string(), unknown_queries));
    return judged;
}

RetrievalData read_retrieval(FolderContext& context) {
    RetrievalData data;
    data.exclude_same_id = context.entry.exclude_same_id;
    const IdIndex documents = read_corpus(context, data);
    const Queries queries = read_queries(context);
    const auto judged = read_qrels(context, documents, queries);
    std::size_t empty = 0, num_absent = 0;
    for (std::uint32_t query = 0; query < judged.size(); ++query) {
        if (judged[query].empty()) continue;
        empty += trim(queries.texts[query]).empty();
        data.query_ids.push_back(queries.ids[query]);
        data.queries.add(queries.texts[query]);
        data.qrels.emplace_back(judged[query].known.begin(), judged[query].known.end());
        auto& absent = data.absent_grades.emplace_back();
        for (const auto& [id, grade] : judged[query].absent) absent.push_back(grade);
        num_absent += absent.size();
    }
    if (num_absent == 0) data.absent_grades.clear();
    if (empty > 0)
        context.report.warnings.push_back(
            fmt::format("{}: {} queries are empty; they are scored as they are", context.folder.string(), empty));
    context.report.counts["queries_in_file"] = queries.ids.size();
    context.report.counts["empty_queries"] = empty;
    if (std::all_of(data.qrels.begin(), data.qrels.end(), [](const auto& known) { return known.empty(); }))
        throw data_error("{}: no judgement of split '{}' belongs to a query and a document of the data set", context.place(),
                         context.split);
    return data;
}

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
    RetrievalData data;
    read_corpus(context, data);
    const auto views = data.documents.views();
    return {views.begin(), views.end()};
}

const bool registered =
    register_layout({.task = "retrieval",
                     .files = "corpus.jsonl {_id, title, text}, queries.jsonl {_id, text}, qrels/SPLIT.tsv (query-id, corpus-id, score)",
                     .evaluation = evaluation,
                     .training = training,
                     .texts = texts,
                     .require_files = require_files});

}  // namespace
}  // namespace faceter
