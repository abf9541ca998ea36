#include <ATen/ATen.h>

#include "losses.h"
#include "model/device.h"
#include "model/ops.h"
#include "train/objective_data.h"

namespace faceter {
namespace {

/// A batch's scores by the model and by its teacher: of each positive [B], of each hard negative [N] with its own query.
struct Scores {
    at::Tensor positive, negative, teacher_positive, teacher_negative;

    Scores(const PairEmbeddings& batch, bool cosine) {
        const auto rows = [&](const at::Tensor& x) { return cosine ? normalize_rows(x) : x; };
        const auto numbers = [&](const std::vector<double>& values) {
            return to_device(at::tensor(at::ArrayRef<double>(values)), batch.queries.device()).to(batch.queries.scalar_type());
        };
        positive = (rows(batch.queries) * rows(batch.documents)).sum(1);
        negative = (rows(queries_of_negatives(batch)) * rows(batch.negatives)).sum(1);
        teacher_positive = numbers(batch.scores);
        teacher_negative = numbers(batch.negative_scores);
    }
};

bool wants_cosine(const Json& settings) { return json_at<std::string>(settings, "similarity", "objective") == "cosine"; }

/// MarginMSE (arXiv 2010.02666): mean over (q, p, n) of ((s(q, p) - s(q, n)) - (t(q, p) - t(q, n)))^2.
class MarginMse final : public PairObjective {
  public:
    explicit MarginMse(const Json& settings) : cosine_(wants_cosine(settings)) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        const Scores s(batch, cosine_);
        const at::Tensor owners = to_device(at::tensor(at::ArrayRef<std::int64_t>(batch.negative_owner)), batch.queries.device());
        const at::Tensor margin = s.positive.index_select(0, owners) - s.negative,
                         wanted = s.teacher_positive.index_select(0, owners) - s.teacher_negative;
        return {mean_of_kept((margin - wanted).square(), keep_of_negatives(batch)), {}};
    }
    void check(const TrainingSet& set) const override {
        require_negatives(set, "margin_mse");
        require_scores(set, "margin_mse");
    }

  private:
    bool cosine_;
};

/// T^2 KL(softmax(t / T) || softmax(s / T)) over each query's positive and hard negatives (sentence-transformers' DistillKLDivLoss).
class Kl final : public PairObjective {
  public:
    explicit Kl(const Json& settings)
        : cosine_(wants_cosine(settings)), temperature_(json_at<double>(settings, "temperature", "objective")) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        const Scores s(batch, cosine_);
        const at::Tensor places = candidates(batch);  // [B, C]
        const auto log_shares = [&](const at::Tensor& positive, const at::Tensor& negative) {
            const at::Tensor all = at::cat({positive, negative, at::full({1}, nobody, positive.options())}) / temperature_;
            return all.index_select(0, places.view(-1)).view(places.sizes()).log_softmax(1);
        };
        const at::Tensor wanted = log_shares(s.teacher_positive, s.teacher_negative), got = log_shares(s.positive, s.negative);
        const at::Tensor divergence = (wanted.exp() * (wanted - got)).sum(1) * (temperature_ * temperature_);  // [B]
        return {mean_of_kept(divergence, batch.keep), {}};
    }
    void check(const TrainingSet& set) const override {
        require_negatives(set, "kl");
        require_scores(set, "kl");
    }

  private:
    static constexpr double nobody = -1e30;  ///< score of a place that a query with fewer negatives leaves empty

    /// Of each query: the places of its positive and its negatives among [positives, negatives, nobody].
    static at::Tensor candidates(const PairEmbeddings& batch) {
        const std::int64_t queries = batch.queries.size(0), negatives = batch.negatives.size(0);
        std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(queries));
        for (std::int64_t i = 0; i < queries; ++i) rows[static_cast<std::size_t>(i)].push_back(i);
        for (std::int64_t n = 0; n < negatives; ++n)
            rows[static_cast<std::size_t>(batch.negative_owner[static_cast<std::size_t>(n)])].push_back(queries + n);
        std::size_t most = 0;
        for (const auto& row : rows) most = std::max(most, row.size());
        std::vector<std::int64_t> flat;
        for (auto& row : rows) {
            row.resize(most, queries + negatives);
            flat.insert(flat.end(), row.begin(), row.end());
        }
        return to_device(at::tensor(at::ArrayRef<std::int64_t>(flat)).view({queries, -1}), batch.queries.device());
    }
    bool cosine_;
    double temperature_;
};

}  // namespace

std::unique_ptr<PairObjective> make_margin_mse(const Json& settings) { return std::make_unique<MarginMse>(settings); }
std::unique_ptr<PairObjective> make_kl(const Json& settings) { return std::make_unique<Kl>(settings); }

}  // namespace faceter
