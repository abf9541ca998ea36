#include "data/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/strings.h"

namespace faceter {
namespace {

/// All of a set's documents and queries, before any is left out; `relevant` speaks of places in the set.
struct Everything {
    std::vector<std::string_view> documents, queries;
    std::vector<std::int32_t> labels;
    std::vector<std::string> label_names;
    std::vector<std::vector<std::uint32_t>> relevant;
};

Everything all_of(const RetrievalData& data) {
    Everything all{data.documents.views(), data.queries.views(), {}, {}, {}};
    for (const auto& judged : data.qrels) {
        all.relevant.emplace_back();
        for (const auto& [document, grade] : judged)
            if (grade > 0) all.relevant.back().push_back(document);
    }
    return all;
}

Everything all_of(const ClassificationData& data) { return {data.test.views(), {}, data.test_labels, data.label_names, {}}; }

/// Texts with the same labels are alike.
Everything all_of(const MultilabelData& data) {
    Everything all{data.test.views(), {}, {}, {}, {}};
    std::map<std::vector<std::int32_t>, std::int32_t> numbers;
    for (const auto& labels : data.test_labels) {
        const auto [place, fresh] = numbers.try_emplace(labels, static_cast<std::int32_t>(numbers.size()));
        all.labels.push_back(place->second);
        if (!fresh) continue;
        std::vector<std::string> names;
        for (const std::int32_t label : labels) names.push_back(data.label_names[static_cast<std::size_t>(label)]);
        all.label_names.push_back(join(names, ", "));
    }
    return all;
}

/// Labels of one part mean nothing in another.
Everything all_of(const ClusteringData& data) {
    Everything all;
    for (std::size_t part = 0; part < data.sets.size(); ++part) {
        const auto first = static_cast<std::int32_t>(all.label_names.size());
        for (int label = 0; label < data.sets[part].num_labels; ++label)
            all.label_names.push_back(data.sets.size() > 1 ? fmt::format("{}.{}", part + 1, label + 1) : fmt::format("{}", label + 1));
        for (const std::string_view text : data.sets[part].texts.views()) all.documents.push_back(text);
        for (const std::int32_t label : data.sets[part].labels) all.labels.push_back(first + label);
    }
    return all;
}

Everything all_of(const PairData& data) { return {data.texts.views(), {}, {}, {}, {}}; }
Everything all_of(const SummarisationData& data) { return {data.texts.views(), {}, {}, {}, {}}; }

Everything all_of(const RerankingData& data) {
    Everything all;
    std::map<std::uint32_t, std::uint32_t> places;
    const auto place_of = [&](std::uint32_t text) {
        const auto [found, fresh] = places.try_emplace(text, static_cast<std::uint32_t>(all.documents.size()));
        if (fresh) all.documents.push_back(data.texts[text]);
        return found->second;
    };
    for (const RerankingData::Query& query : data.queries) {
        all.queries.push_back(data.texts[query.query]);
        all.relevant.emplace_back();
        for (const std::uint32_t text : query.positive) all.relevant.back().push_back(place_of(text));
        for (const std::uint32_t text : query.negative) place_of(text);
    }
    return all;
}

Everything all_of(const BitextData& data) {
    Everything all{data.second.views(), data.first.views(), {}, {}, {}};
    for (std::uint32_t i = 0; i < data.first.size(); ++i) all.relevant.push_back({i});
    return all;
}

/// Places of at most `most` of `count`, spread evenly, ascending.
std::vector<std::uint32_t> spread(std::size_t count, std::size_t most) {
    std::vector<std::uint32_t> places;
    const std::size_t taken = std::min(count, most);
    for (std::size_t i = 0; i < taken; ++i) places.push_back(static_cast<std::uint32_t>(i * count / taken));
    return places;
}

/// What answers one of the queries first.
std::vector<std::uint32_t> documents_of(const Everything& all, const std::vector<std::uint32_t>& queries, std::size_t most) {
    if (all.documents.size() <= most) return spread(all.documents.size(), most);
    std::set<std::uint32_t> taken;
    for (const std::uint32_t query : queries)
        for (const std::uint32_t document : all.relevant[query])
            if (taken.size() < most) taken.insert(document);
    std::vector<std::uint32_t> others;
    for (std::uint32_t document = 0; document < all.documents.size(); ++document)
        if (!taken.contains(document)) others.push_back(document);
    for (const std::uint32_t place : spread(others.size(), most - taken.size())) taken.insert(others[place]);
    return {taken.begin(), taken.end()};
}

Corpus chosen(const Everything& all, std::size_t most_documents, std::size_t most_queries) {
    Corpus corpus;
    const std::vector<std::uint32_t> queries = spread(all.queries.size(), most_queries);
    corpus.places = documents_of(all, queries, most_documents);
    corpus.total = all.documents.size();
    corpus.label_names = all.label_names;
    for (const std::uint32_t place : corpus.places) {
        corpus.documents.add(all.documents[place]);
        if (!all.labels.empty()) corpus.labels.push_back(all.labels[place]);
    }
    for (const std::uint32_t query : queries) {
        corpus.queries.add(all.queries[query]);
        std::vector<std::uint32_t>& relevant = corpus.relevant.emplace_back();
        for (const std::uint32_t document : all.relevant[query]) {
            const auto found = std::lower_bound(corpus.places.begin(), corpus.places.end(), document);
            if (found != corpus.places.end() && *found == document)
                relevant.push_back(static_cast<std::uint32_t>(found - corpus.places.begin()));
        }
        std::sort(relevant.begin(), relevant.end());
    }
    return corpus;
}

}  // namespace

std::vector<std::uint32_t> Corpus::alike(std::uint32_t document) const {
    std::vector<std::uint32_t> others;
    for (std::uint32_t other = 0; other < labels.size(); ++other)
        if (other != document && labels[other] == labels[document]) others.push_back(other);
    return others;
}

Corpus corpus_of(const EvaluationSet& set, std::size_t most_documents, std::size_t most_queries) {
    if (!set.subsets.empty()) {
        Corpus corpus = corpus_of(set.subsets.front(), most_documents, most_queries);
        corpus.part = set.subsets.front().name;
        return corpus;
    }
    return chosen(std::visit([](const auto& data) { return all_of(data); }, set.data), most_documents, most_queries);
}

}  // namespace faceter
