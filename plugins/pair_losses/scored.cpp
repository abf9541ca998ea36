#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "losses.h"
#include "scored_pairs.h"
#include "train/objective_data.h"

namespace faceter {
namespace {

/// Of one loss a pair; 0 over none.
at::Tensor mean_over_pairs(const at::Tensor& losses) {
    return losses.sum() / static_cast<double>(std::max<std::int64_t>(1, losses.size(0)));
}

/// How many examples have a score, of themselves or of a negative, that is not `right`.
template <typename Right>
std::size_t count_wrong(const TrainingSet& set, const Right& right) {
    const auto wrong = [&](float score) { return !std::isnan(score) && !right(score); };
    return static_cast<std::size_t>(std::count_if(set.examples.begin(), set.examples.end(), [&](const Example& one) {
        bool any = wrong(one.score);
        for (std::uint32_t n = 0; n < one.num_negatives; ++n) any |= wrong(set.negative_score(one.first_negative + n));
        return any;
    }));
}

/// (cos(q, d) - score)^2, mean over pairs (sentence-transformers' CosineSimilarityLoss).
class CosineSimilarity final : public PairObjective {
  public:
    explicit CosineSimilarity(const Json& settings) : highest_(json_at<double>(settings, "highest_score", "objective")) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        const ScoredPairs pairs = scored_pairs(batch, cosine);
        return {mean_over_pairs((pairs.values - pairs.scores() / highest_).square()), {}};
    }
    void check(const TrainingSet& set) const override {
        require_scores(set, "cosine_similarity");
        const std::size_t beyond = count_wrong(set, [&](float score) { return std::abs(score) <= highest_ * (1 + 1e-6); });
        if (beyond == 0) return;
        throw data_error(
            "objective cosine_similarity: {} of the {} examples of data set '{}' have scores that no cosine reaches (beyond {}); set "
            "highest_score to the score of pairs that mean the same, 5 for most STS data",
            beyond, set.examples.size(), set.name, highest_);
    }

  private:
    double highest_;
};

void require_verdicts(const TrainingSet& set, std::string_view objective) {
    const std::size_t wrong = count_wrong(set, [](float score) { return score == 0 || score == 1; });
    if (wrong > 0)
        throw data_error(
            "objective {} reads scores as 1 (the texts belong together) or 0 (they do not), and {} of the {} examples of data set '{}' "
            "have "
            "others; use cosent or cosine_similarity for these",
            objective, wrong, set.examples.size(), set.name);
    require_order(set, objective);
    const auto says = [&](float score) {
        return std::any_of(set.examples.begin(), set.examples.end(), [&](const Example& one) { return one.score == score; });
    };
    if (set.negatives.empty() && !says(0))
        throw data_error(
            "objective {}: no pair of data set '{}' has score 0 and none has negatives, so that nothing would be pushed apart; give it "
            "pairs "
            "that do not belong together, or use infonce",
            objective, set.name);
}

/// score d^2 / 2 + (1 - score) max(0, margin - d)^2 / 2 with d = 1 - cos, mean over pairs (Hadsell et al., 2006; sentence-transformers'
/// ContrastiveLoss).
class Contrastive final : public PairObjective {
  public:
    explicit Contrastive(const Json& settings) : margin_(json_at<double>(settings, "margin", "objective")) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        const ScoredPairs pairs = scored_pairs(batch, cosine);
        const at::Tensor d = 1 - pairs.values, score = pairs.scores();
        return {mean_over_pairs(0.5 * (score * d.square() + (1 - score) * (margin_ - d).clamp_min(0).square())), {}};
    }
    void check(const TrainingSet& set) const override { require_verdicts(set, "contrastive"); }

  private:
    double margin_;
};

/// d^2 of the pairs of score 1 that are further apart than the nearest of score 0, and max(0, margin - d)^2 of those of score 0 that are
/// nearer than the furthest of score 1; where a batch has pairs of one kind alone, these are held against their mean. A sum
/// (sentence-transformers' OnlineContrastiveLoss).
class OnlineContrastive final : public PairObjective {
  public:
    explicit OnlineContrastive(const Json& settings) : margin_(json_at<double>(settings, "margin", "objective")) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        const ScoredPairs pairs = scored_pairs(batch, [](const at::Tensor& a, const at::Tensor& b) { return 1 - cosine(a, b); });
        const at::Tensor near = pairs.values_of(1), far = pairs.values_of(0);
        at::Tensor loss = pairs.values.sum() * 0;
        if (near.size(0) > 0) loss = loss + (near.square() * (near > (far.size(0) > 0 ? far.min() : near.mean()))).sum();
        if (far.size(0) > 0)
            loss = loss + ((margin_ - far).clamp_min(0).square() * (far < (near.size(0) > 0 ? near.max() : far.mean()))).sum();
        return {loss, {}};
    }
    void check(const TrainingSet& set) const override { require_verdicts(set, "online_contrastive"); }

  private:
    double margin_;
};

}  // namespace

std::unique_ptr<PairObjective> make_cosine_similarity(const Json& settings) { return std::make_unique<CosineSimilarity>(settings); }
std::unique_ptr<PairObjective> make_contrastive(const Json& settings) { return std::make_unique<Contrastive>(settings); }
std::unique_ptr<PairObjective> make_online_contrastive(const Json& settings) { return std::make_unique<OnlineContrastive>(settings); }

}  // namespace faceter
