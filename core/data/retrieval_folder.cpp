#include "data/retrieval_folder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "common/strings.h"
#include "data/file_ending.h"

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

/// mteb 2 writes it "id".
std::string_view id_of(const Record& record) {
    const Record::Member* id = record.find({"_id", "id"});
    return record.text_or_number(id ? id->key : "_id");
}

IdIndex read_corpus(FolderContext& context, RetrievalData& data) {
    IdIndex index;
    std::string text;
    context.read(context.need_table("corpus"), [&](const Record& record) {
        const std::string_view title = record.text_or_empty("title"), body = record.text_or_empty("text");
        if (!record.find({"title", "text"})) throw BadRecord{"a document has neither title nor text", "members: " + record.known()};
        new_id(index, data.document_ids, id_of(record));
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

fs::path queries_file(const FolderContext& context) {
    return context.split == generated ? context.need("qgen-queries") : context.need_table("queries");
}

Queries read_queries(FolderContext& context) {
    Queries queries;
    context.read(queries_file(context), [&](const Record& record) {
        if (!record.find({"text"})) throw BadRecord{"member 'text' is missing", "members: " + record.known()};
        const std::string_view text = record.text_or_empty("text");
        new_id(queries.index, queries.ids, id_of(record));
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

int grade_of(const Record& record) {
    const double score = record.number("score");
    if (std::abs(score) > 1e6) throw BadRecord{"a score is out of range", ""};
    if (score != std::trunc(score)) throw BadRecord{"a score is not a whole number", fmt::format("{}; grades are 0, 1, 2 ...", score)};
    return static_cast<int>(score);
}

const Record::Member* member_of_query(const Record& record) { return record.find({"query-id", "query_id", "qid"}); }

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
            const Record::Member* query = member_of_query(record);
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

/// The candidates of each query, each document once, and how many of them the corpus lacks.
struct Candidates {
    std::vector<std::vector<std::uint32_t>> of_query;
    std::size_t unknown = 0;
};

IdIndex index_of(const std::vector<std::string>& ids) {
    IdIndex index;
    for (std::uint32_t number = 0; number < ids.size(); ++number) index.emplace(ids[number], number);
    return index;
}

Candidates read_top_ranked(FolderContext& context, const RetrievalData& data) {
    const IdIndex documents = index_of(data.document_ids), queries = index_of(data.query_ids);
    Candidates candidates{std::vector<std::vector<std::uint32_t>>(queries.size())};
    context.read(context.need_table("top_ranked"), [&](const Record& record) {
        const Record::Member *query = member_of_query(record), *ids = record.find({"corpus-ids", "corpus_ids"});
        if (!query || !ids || ids->kind != Record::Kind::list)
            throw BadRecord{"candidates need query-id and a list corpus-ids", "members: " + record.known()};
        const auto at = queries.find(std::string(query->text));
        if (at == queries.end()) return;
        std::vector<std::uint32_t>& of_query = candidates.of_query[at->second];
        for (const Record::Element& id : record.elements(*ids)) {
            const auto document = documents.find(std::string(id.text));
            candidates.unknown += document == documents.end();
            if (document != documents.end()) of_query.push_back(document->second);
        }
        std::sort(of_query.begin(), of_query.end());
        of_query.erase(std::unique(of_query.begin(), of_query.end()), of_query.end());
    });
    return candidates;
}

bool is_relevant(const std::vector<std::pair<std::uint32_t, int>>& judged, std::uint32_t document) {
    const auto at = std::lower_bound(judged.begin(), judged.end(), std::pair(document, std::numeric_limits<int>::min()));
    return at != judged.end() && at->first == document && at->second > 0;
}

RerankingData::Query reranked_query(const RetrievalData& data, std::size_t query, const std::vector<std::uint32_t>& candidates,
                                    TextTable& texts) {
    RerankingData::Query one;
    one.query = texts.intern(data.queries[static_cast<std::uint32_t>(query)]);
    for (const std::uint32_t document : candidates)
        (is_relevant(data.qrels[query], document) ? one.positive : one.negative).push_back(texts.intern(data.documents[document]));
    return one;
}

std::size_t count_relevant(const RetrievalData& data, std::size_t query) {
    const auto judged = all_judgements(data, query);
    return static_cast<std::size_t>(std::count_if(judged.begin(), judged.end(), [](const auto& one) { return one.second > 0; }));
}

void warn_of_candidates(FolderContext& context, std::size_t missed, std::size_t unknown) {
    if (missed > 0)
        context.report.warnings.push_back(
            fmt::format("{}: {} relevant documents are not among the candidates of their query (top_ranked); MTEB counts them as missed, "
                        "and here they have no say",
                        context.place(), missed));
    if (unknown > 0)
        context.report.warnings.push_back(fmt::format(
            "{}: {} candidates (top_ranked) are documents that the data set lacks; they were left out", context.place(), unknown));
}

}  // namespace

void require_retrieval_files(const FolderContext& context) {
    context.need_table("corpus");
    queries_file(context);
    qrels_file(context);
}

TextTable read_documents(FolderContext& context) {
    RetrievalData data;
    read_corpus(context, data);
    return std::move(data.documents);
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

RerankingData read_candidates(FolderContext& context) {
    const RetrievalData judged = read_retrieval(context);
    const Candidates candidates = read_top_ranked(context, judged);
    RerankingData data;
    std::size_t one_sided = 0, missed = 0, total = 0;
    for (std::size_t query = 0; query < judged.query_ids.size(); ++query) {
        RerankingData::Query one = reranked_query(judged, query, candidates.of_query[query], data.texts);
        if (!candidates.of_query[query].empty()) missed += count_relevant(judged, query) - one.positive.size();
        if (one.positive.empty() || one.negative.empty()) {
            ++one_sided;
            continue;
        }
        total += one.positive.size() + one.negative.size();
        data.queries.push_back(std::move(one));
    }
    if (data.queries.empty()) throw data_error("{}: no query with candidates in split '{}'", context.place(), context.split);
    warn_of_candidates(context, missed, candidates.unknown);
    context.report.counts["queries"] = data.queries.size();
    context.report.counts["candidates"] = total;
    context.report.counts["queries_without_positive_or_negative"] = one_sided;
    return data;
}

}  // namespace faceter
