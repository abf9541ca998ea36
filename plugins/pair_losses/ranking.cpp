#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "losses.h"
#include "model/device.h"
#include "model/ops.h"
#include "train/objective_data.h"

namespace faceter {
namespace {

/// Similarity of rows with rows: [N].
using Similarity = at::Tensor (*)(const at::Tensor& a, const at::Tensor& b);

at::Tensor cosine(const at::Tensor& a, const at::Tensor& b) { return (normalize_rows(a) * normalize_rows(b)).sum(1); }

/// AnglE's (arXiv 2309.12871; sentence-transformers' pairwise_angle_sim): with z = first half + i second half of a row of length 1,
/// |Re(sum z_a conj(z_b)) + Im(sum z_a conj(z_b))|. An odd width has a zero behind it.
at::Tensor angle(const at::Tensor& a, const at::Tensor& b) {
    const auto halves = [](const at::Tensor& x) {
        const at::Tensor rows = x.size(1) % 2 ? at::constant_pad_nd(x, {0, 1}) : x;
        return normalize_rows(rows).chunk(2, 1);
    };
    const auto za = halves(a), zb = halves(b);
    return ((za[0] * zb[0] + za[1] * zb[1]).sum(1) + (za[1] * zb[0] - za[0] * zb[1]).sum(1)).abs();
}

/// log(1 + sum over i, j with gold_i > gold_j of exp(s_j - s_i)) of scaled similarities s [N]. By sums over what stands higher: no matrix
/// of all pairs.
at::Tensor order_loss(const at::Tensor& s, const std::vector<double>& gold) {
    std::vector<std::int64_t> order(gold.size()), higher;
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return gold[a] < gold[b]; });
    for (const std::int64_t i : order)
        higher.push_back(std::upper_bound(order.begin(), order.end(), gold[i], [&](double g, auto o) { return g < gold[o]; }) -
                         order.begin());
    const auto index = [&](const std::vector<std::int64_t>& of) {
        return to_device(at::tensor(at::ArrayRef<std::int64_t>(of)), s.device());
    };
    const at::Tensor sorted = s.index_select(0, index(order));
    const at::Tensor above = at::cat({(-sorted.flip(0)).logcumsumexp(0).flip(0),  // [N + 1]: log sum exp(-s) from each place on
                                      at::full({1}, -std::numeric_limits<double>::infinity(), s.options())});
    const at::Tensor terms = sorted + above.index_select(0, index(higher));
    return at::cat({at::zeros({1}, s.options()), terms}).logsumexp(0);
}

/// CoSENT (Huang et al., 2024; sentence-transformers' CoSENTLoss) over the batch's positives and each query's own hard negatives.
class Ranking final : public PairObjective {
  public:
    Ranking(const char* name, Similarity similarity, const Json& settings)
        : name_(name), similarity_(similarity), scale_(json_at<double>(settings, "scale", "objective")) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        at::Tensor s = similarity_(batch.queries, batch.documents);
        std::vector<double> gold = gold_of(batch.scores, batch.queries.size(0), 1);
        std::vector<std::int64_t> keep = batch.keep;
        if (batch.negatives.defined()) {
            s = at::cat({s, similarity_(queries_of_negatives(batch), batch.negatives)});
            const auto below = gold_of(batch.negative_scores, batch.negatives.size(0), 0);
            gold.insert(gold.end(), below.begin(), below.end());
            const auto kept = keep_of_negatives(batch);
            keep.insert(keep.end(), kept.begin(), kept.end());
        }
        return {of_kept(s * scale_, gold, keep), {}};
    }
    void check(const TrainingSet& set) const override { require_order(set, name_); }

  private:
    static std::vector<double> gold_of(std::vector<double> scores, std::int64_t count, double otherwise) {
        scores.resize(static_cast<std::size_t>(count), Example::no_score);
        for (double& score : scores)
            if (std::isnan(score)) score = otherwise;
        return scores;
    }
    static at::Tensor of_kept(const at::Tensor& s, const std::vector<double>& gold, const std::vector<std::int64_t>& keep) {
        if (keep.empty()) return order_loss(s, gold);
        std::vector<std::int64_t> rows;
        std::vector<double> kept;
        for (std::size_t i = 0; i < keep.size(); ++i)
            if (keep[i]) rows.push_back(static_cast<std::int64_t>(i)), kept.push_back(gold[i]);
        return order_loss(s.index_select(0, to_device(at::tensor(at::ArrayRef<std::int64_t>(rows)), s.device())), kept);
    }
    const char* name_;
    Similarity similarity_;
    double scale_;
};

}  // namespace

std::unique_ptr<PairObjective> make_cosent(const Json& settings) { return std::make_unique<Ranking>("cosent", cosine, settings); }
std::unique_ptr<PairObjective> make_angle(const Json& settings) { return std::make_unique<Ranking>("angle", angle, settings); }

}  // namespace faceter
