#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "losses.h"
#include "model/device.h"
#include "model/ops.h"
#include "scored_pairs.h"
#include "train/objective_data.h"

namespace faceter {
namespace {

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
    Ranking(const char* name, RowMeasure similarity, const Json& settings)
        : name_(name), similarity_(similarity), scale_(json_at<double>(settings, "scale", "objective")) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        const ScoredPairs pairs = scored_pairs(batch, similarity_);
        return {order_loss(pairs.values * scale_, pairs.gold), {}};
    }
    void check(const TrainingSet& set) const override { require_order(set, name_); }

  private:
    const char* name_;
    RowMeasure similarity_;
    double scale_;
};

}  // namespace

std::unique_ptr<PairObjective> make_cosent(const Json& settings) { return std::make_unique<Ranking>("cosent", cosine, settings); }
std::unique_ptr<PairObjective> make_angle(const Json& settings) { return std::make_unique<Ranking>("angle", angle, settings); }

}  // namespace faceter
