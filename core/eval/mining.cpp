#include "eval/mining.h"

#include <algorithm>

namespace faceter {

double MiningSettings::limit(double positive_score) const {
    const double scaled = positive_score >= 0 ? positive_score * margin : positive_score * (2 - margin);
    return std::min(scaled, positive_score - absolute_margin);
}

Positives::Positives(const TrainingSet& set) {
    for (const Example& example : set.examples) {
        auto& texts = of_[example.anchor];
        texts.insert(example.positive);
        most_ = std::max(most_, texts.size());
        if (example.label < 0) continue;
        labels_.resize(set.texts.size());
        for (const std::uint32_t text : {example.anchor, example.positive})
            if (std::vector<std::int32_t>& own = labels_[text]; std::ranges::find(own, example.label) == own.end())
                own.push_back(example.label);
    }
}

bool Positives::contains(std::uint32_t anchor, std::uint32_t text) const {
    const auto found = of_.find(anchor);
    return found != of_.end() && found->second.contains(text);
}

bool Positives::share_label(std::uint32_t anchor, std::uint32_t text) const {
    if (std::max(anchor, text) >= labels_.size()) return false;  // a text of a further corpus
    return std::ranges::find_first_of(labels_[anchor], labels_[text]) != labels_[anchor].end();
}

PassedOver Positives::own_class(const std::vector<std::uint32_t>& queries, const std::vector<std::uint32_t>& documents) const {
    if (labels_.empty()) return {};
    return [&, this](std::size_t query, std::size_t document) { return share_label(queries[query], documents[document]); };
}

std::vector<std::uint32_t> choose_negatives(std::span<const FoundText> found, const Example& example, double positive_score,
                                            const Positives& positives, const MiningSettings& settings, Tally& tally) {
    std::vector<std::uint32_t> negatives;
    const double limit = settings.limit(positive_score);
    std::size_t looked_at = 0;
    for (const FoundText& candidate : found) {
        if (negatives.size() == settings.negatives || looked_at == settings.depth) break;
        if (positives.contains(example.anchor, candidate.text)) {
            ++tally["candidates that are positives"];
            continue;
        }
        ++looked_at;
        if (candidate.text == example.anchor)
            ++tally["candidates with the query's own text"];
        else if (!(candidate.score < limit))
            ++tally["candidates above the margin"];
        else
            negatives.push_back(candidate.text);
    }
    ++tally[negatives.size() == settings.negatives ? "examples with all negatives"
            : negatives.empty()                    ? "examples without a negative"
                                                   : "examples with fewer negatives"];
    tally["negatives"] += negatives.size();
    return negatives;
}

bool is_consistent(std::span<const FoundText> found, std::uint32_t positive, float positive_score, std::size_t k) {
    const std::size_t count = std::min(k, found.size());
    for (std::size_t i = 0; i < count; ++i)
        if (found[i].text == positive) return true;
    return count > 0 && positive_score >= found[count - 1].score;
}

}  // namespace faceter
