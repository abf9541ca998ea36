#include <ATen/ATen.h>

#include "losses.h"
#include "model/device.h"
#include "model/ops.h"
#include "train/objective_data.h"

namespace faceter {
namespace {

at::Tensor distance(const at::Tensor& a, const at::Tensor& b, const std::string& kind) {
    if (kind == "cosine") return 1 - (normalize_rows(a) * normalize_rows(b)).sum(1);
    return (a - b).norm(kind == "euclidean" ? 2 : 1, 1);
}

/// max(0, |q - p| - |q - n| + margin), mean over the hard negatives n of each query (sentence-transformers' TripletLoss).
class Triplet final : public PairObjective {
  public:
    explicit Triplet(const Json& settings)
        : distance_(json_at<std::string>(settings, "distance", "objective")), margin_(json_at<double>(settings, "margin", "objective")) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        const at::Tensor owners = to_device(at::tensor(at::ArrayRef<std::int64_t>(batch.negative_owner)), batch.queries.device());
        const at::Tensor to_positive = distance(batch.queries, batch.documents, distance_).index_select(0, owners);
        const at::Tensor to_negative = distance(queries_of_negatives(batch), batch.negatives, distance_);
        return {mean_of_kept((to_positive - to_negative + margin_).clamp_min(0), keep_of_negatives(batch)), {}};
    }
    void check(const TrainingSet& set) const override { require_negatives(set, "triplet"); }

  private:
    std::string distance_;
    double margin_;
};

}  // namespace

std::unique_ptr<PairObjective> make_triplet(const Json& settings) { return std::make_unique<Triplet>(settings); }

}  // namespace faceter
