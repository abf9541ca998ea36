#include "data/sampling.h"

#include <algorithm>
#include <numeric>

#include "common/hash.h"

namespace faceter {
namespace {

std::vector<std::uint64_t> hashes_of(const TextTable& texts) {
    std::vector<std::uint64_t> hashes(texts.size());
    for (std::uint32_t id = 0; id < texts.size(); ++id) hashes[id] = sample_hash(texts[id]);
    return hashes;
}

std::vector<std::uint64_t> hashes_of(std::span<const std::string> keys) {
    std::vector<std::uint64_t> hashes;
    for (const std::string& key : keys) hashes.push_back(sample_hash(key));
    return hashes;
}

TextTable select(const TextTable& texts, std::span<const std::uint32_t> ids) {
    TextTable chosen;
    for (const std::uint32_t id : ids) chosen.add(texts[id]);
    return chosen;
}

template <typename T>
std::vector<T> select(const std::vector<T>& values, std::span<const std::uint32_t> ids) {
    std::vector<T> chosen;
    chosen.reserve(ids.size());
    for (const std::uint32_t id : ids) chosen.push_back(values[id]);
    return chosen;
}

/// Adds a text of one table to another and remembers its new id.
class Renumbering {
  public:
    Renumbering(const TextTable& from, TextTable& to) : from_(from), to_(to), ids_(from.size(), none) {}
    std::uint32_t operator()(std::uint32_t id) {
        if (ids_[id] == none) ids_[id] = to_.add(from_[id]);
        return ids_[id];
    }
    void apply(std::vector<std::uint32_t>& ids) {
        for (std::uint32_t& id : ids) id = (*this)(id);
    }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    const TextTable& from_;
    TextTable& to_;
    std::vector<std::uint32_t> ids_;
};

/// Queries in the order of their hashes, as long as the documents relevant to them stay within the limit.
std::vector<std::uint32_t> queries_within(const RetrievalData& data, std::vector<std::uint32_t> queries, std::size_t max_documents,
                                          std::vector<char>& needed) {
    const auto hashes = hashes_of(data.query_ids);
    std::sort(queries.begin(), queries.end(), [&](auto a, auto b) { return std::pair(hashes[a], a) < std::pair(hashes[b], b); });
    std::size_t num_needed = 0, kept = 0;
    for (; kept < queries.size(); ++kept) {
        std::size_t more = 0;
        for (const auto& [document, grade] : data.qrels[queries[kept]]) more += grade > 0 && !needed[document];
        if (max_documents > 0 && num_needed + more > max_documents && kept > 0) break;
        num_needed += more;
        for (const auto& [document, grade] : data.qrels[queries[kept]])
            if (grade > 0) needed[document] = 1;
    }
    queries.resize(kept);
    std::sort(queries.begin(), queries.end());
    return queries;
}

/// The needed documents and, up to the limit, those with the smallest hashes among the others.
std::vector<std::uint32_t> documents_within(const RetrievalData& data, const std::vector<char>& needed, std::size_t max_documents) {
    auto hashes = hashes_of(data.document_ids);
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = needed[i] ? 0 : hashes[i] | 1;
    const auto num_needed = static_cast<std::size_t>(std::count(needed.begin(), needed.end(), 1));
    return stable_sample(hashes, max_documents == 0 ? 0 : std::max(max_documents, num_needed));
}

void limit(RetrievalData& data, const DataLimits& limits, DataReport& report) {
    report.counts["documents_before_limit"] = data.documents.size();
    report.counts["queries_before_limit"] = data.queries.size();
    std::vector<char> needed(data.documents.size(), 0);
    const auto queries = queries_within(data, stable_sample(hashes_of(data.query_ids), limits.max_queries), limits.max_documents, needed);
    const auto documents = documents_within(data, needed, limits.max_documents);
    std::vector<std::int64_t> position(data.documents.size(), -1);
    for (std::size_t i = 0; i < documents.size(); ++i) position[documents[i]] = static_cast<std::int64_t>(i);
    data.queries = select(data.queries, queries);
    data.query_ids = select(data.query_ids, queries);
    data.documents = select(data.documents, documents);
    data.document_ids = select(data.document_ids, documents);
    data.qrels = select(data.qrels, queries);
    if (!data.absent_grades.empty()) data.absent_grades = select(data.absent_grades, queries);
    for (auto& judgements : data.qrels) {
        std::erase_if(judgements, [&](const auto& judgement) { return position[judgement.first] < 0; });
        for (auto& [document, grade] : judgements) document = static_cast<std::uint32_t>(position[document]);
    }
}

void limit(ClassificationData& data, const DataLimits& limits, DataReport&) {
    const auto kept = stable_sample(hashes_of(data.test), limits.max_examples);
    data.test = select(data.test, kept);
    data.test_labels = select(data.test_labels, kept);
}

void limit(ClusteringData& data, const DataLimits& limits, DataReport&) {
    for (ClusteringData::Set& set : data.sets) {
        const auto kept = stable_sample(hashes_of(set.texts), limits.max_examples);
        set.texts = select(set.texts, kept);
        set.labels = select(set.labels, kept);
        std::vector<std::int32_t> used = set.labels;
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        for (std::int32_t& label : set.labels)
            label = static_cast<std::int32_t>(std::lower_bound(used.begin(), used.end(), label) - used.begin());
        set.num_labels = static_cast<int>(used.size());
    }
}

void limit(PairData& data, const DataLimits& limits, DataReport&) {
    std::vector<std::uint64_t> hashes;
    for (std::size_t i = 0; i < data.first.size(); ++i)
        hashes.push_back(hash64(data.texts[data.second[i]], sample_hash(data.texts[data.first[i]])));
    const auto kept = stable_sample(hashes, limits.max_examples);
    data.first = select(data.first, kept);
    data.second = select(data.second, kept);
    data.scores = select(data.scores, kept);
    TextTable texts;
    Renumbering renumber(data.texts, texts);
    renumber.apply(data.first);
    renumber.apply(data.second);
    data.texts = std::move(texts);
}

void limit(RerankingData& data, const DataLimits& limits, DataReport&) {
    std::vector<std::uint64_t> hashes;
    for (const auto& query : data.queries) hashes.push_back(sample_hash(data.texts[query.query]));
    data.queries = select(data.queries, stable_sample(hashes, limits.max_examples));
    TextTable texts;
    Renumbering renumber(data.texts, texts);
    for (auto& query : data.queries) {
        query.query = renumber(query.query);
        renumber.apply(query.positive);
        renumber.apply(query.negative);
    }
    data.texts = std::move(texts);
}

void limit(SummarisationData& data, const DataLimits& limits, DataReport&) {
    std::vector<std::uint64_t> hashes;
    for (std::size_t i = 0; i < data.items.size(); ++i) hashes.push_back(sample_hash(std::to_string(i)));
    data.items = select(data.items, stable_sample(hashes, limits.max_examples));
    TextTable texts;
    Renumbering renumber(data.texts, texts);
    for (auto& item : data.items) {
        renumber.apply(item.human);
        renumber.apply(item.machine);
    }
    data.texts = std::move(texts);
}

void limit(MultilabelData& data, const DataLimits& limits, DataReport&) {
    const auto kept = stable_sample(hashes_of(data.test), limits.max_examples);
    data.test = select(data.test, kept);
    data.test_labels = select(data.test_labels, kept);
}

void limit(BitextData& data, const DataLimits& limits, DataReport&) {
    const auto kept = stable_sample(hashes_of(data.first), limits.max_examples);
    data.first = select(data.first, kept);
    data.second = select(data.second, kept);
}

}  // namespace

std::uint64_t sample_hash(std::string_view key) { return hash64(key, 0x666163657465720a); }

std::vector<std::uint32_t> stable_sample(std::span<const std::uint64_t> hashes, std::size_t keep) {
    std::vector<std::uint32_t> order(hashes.size());
    std::iota(order.begin(), order.end(), 0u);
    if (keep == 0 || keep >= order.size()) return order;
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return std::pair(hashes[a], a) < std::pair(hashes[b], b); };
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(keep), order.end(), earlier);
    order.resize(keep);
    std::sort(order.begin(), order.end());
    return order;
}

void limit_evaluation(EvaluationSet& set, const DataLimits& limits, DataReport& report) {
    const bool retrieval = std::holds_alternative<RetrievalData>(set.data);
    if (retrieval ? limits.max_documents == 0 && limits.max_queries == 0 : limits.max_examples == 0) return;
    std::visit([&](auto& data) { limit(data, limits, report); }, set.data);
}

}  // namespace faceter
