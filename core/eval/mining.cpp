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
        if (example.label >= 0)
            for (const std::uint32_t text : {example.anchor, example.positive}) labels_[text].insert(example.label);
    }
}

bool Positives::contains(std::uint32_t anchor, std::uint32_t text) const {
    const auto found = of_.find(anchor);
    return found != of_.end() && found->second.contains(text);
}

bool Positives::shares_label(const Example& example, std::uint32_t text) const {
    const auto found = labels_.find(text);
    return example.label >= 0 && found != labels_.end() && found->second.contains(example.label);
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
        if (positives.shares_label(example, candidate.text)) {
            ++tally["candidates of the query's own class"];
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
