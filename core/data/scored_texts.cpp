#include "data/scored_texts.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "data/sources.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

std::string copy(std::string_view text) { return std::string(text); }

std::vector<ScoredText> texts_of(const RetrievalData& data) {
    std::vector<ScoredText> texts;
    for (std::uint32_t query = 0; query < data.queries.size(); ++query) {
        const auto& judged = data.qrels[query];
        const auto best = std::max_element(judged.begin(), judged.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        const bool any = best != judged.end() && best->second > 0;
        texts.push_back({copy(data.queries[query]), any ? copy(data.documents[best->first]) : std::string(), data.query_ids[query]});
    }
    return texts;
}

std::vector<ScoredText> texts_of(const ClassificationData& data) {
    std::vector<ScoredText> texts;
    for (std::uint32_t i = 0; i < data.test.size(); ++i)
        texts.push_back({copy(data.test[i]), data.label_names[static_cast<std::size_t>(data.test_labels[i])]});
    return texts;
}

std::vector<ScoredText> texts_of(const MultilabelData& data) {
    std::vector<ScoredText> texts;
    for (std::uint32_t i = 0; i < data.test.size(); ++i) {
        std::vector<std::string> names;
        for (const std::int32_t label : data.test_labels[i]) names.push_back(data.label_names[static_cast<std::size_t>(label)]);
        texts.push_back({copy(data.test[i]), fmt::format("{}", fmt::join(names, ", "))});
    }
    return texts;
}

std::vector<ScoredText> texts_of(const ClusteringData& data) {
    std::vector<ScoredText> texts;
    for (const ClusteringData::Set& set : data.sets) {
        const std::string first = set.texts.empty() ? std::string() : copy(set.texts[0]);
        texts.push_back({set.texts.size() > 1 ? fmt::format("{} (and {} more)", first, set.texts.size() - 1) : first,
                         fmt::format("{} labels", set.num_labels)});
    }
    return texts;
}

/// Queries without positives or negatives have no score.
std::vector<ScoredText> texts_of(const RerankingData& data) {
    std::vector<ScoredText> texts;
    for (const RerankingData::Query& query : data.queries)
        if (!query.positive.empty() && !query.negative.empty())
            texts.push_back({copy(data.texts[query.query]), copy(data.texts[query.positive.front()])});
    return texts;
}

std::vector<ScoredText> texts_of(const PairData&) { return {}; }
std::vector<ScoredText> texts_of(const SummarisationData&) { return {}; }
std::vector<ScoredText> texts_of(const BitextData&) { return {}; }

}  // namespace

std::vector<ScoredText> scored_texts(const EvaluationSet& set) {
    if (!set.subsets.empty()) return {};
    return std::visit([](const auto& data) { return texts_of(data); }, set.data);
}

EvaluationSet load_named_evaluation_set(const Json& settings, const std::string& name) {
    const Json entries = json_at<Json>(json_at<Json>(settings, "evaluation", "settings"), "datasets", "evaluation");
    std::vector<std::string> known;
    for (const bool named : {true, false})  // what bears the name first: the others must be read to know theirs
        for (const Json& entry : entries) {
            const auto own = json_or<std::string>(entry, "name", "", "evaluation.datasets");
            if (named ? own != name : !own.empty()) {
                if (named && !own.empty()) known.push_back(own);
                continue;
            }
            // Paths of resolved settings are absolute, so the base folder has no part in it.
            EvaluationSet set =
                load_evaluation_set({entry, "/", seed_of(settings), json_or<std::size_t>(settings, "sample_limit", 0, "settings")});
            if (set.name == name) return set;
            known.push_back(set.name);
        }
    throw data_error("the run's settings name no evaluation set '{}'{}", name, suggestion(name, known));
}

}  // namespace faceter
