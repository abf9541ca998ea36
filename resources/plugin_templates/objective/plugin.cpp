#include <ATen/ATen.h>

#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

namespace faceter {
namespace {

/// L = mean_i max(0, margin - cos(q_i, d_i) + max_{j != i} cos(q_i, d_j)); here of Faghri et al., VSE++, 2018, equation 6. The embeddings
/// come with the whole batch, whatever the gradient cache and several processes do around it.
class @CLASS@ final : public PairObjective {
  public:
    explicit @CLASS@(const Json& settings) : margin_(json_at<double>(settings, "margin", "objective")) {}

    LossResult operator()(const PairEmbeddings& batch) const override {
        const auto unit = [](const at::Tensor& x) { return x / x.norm(2, 1, true).clamp_min(1e-12); };
        const at::Tensor similarity = at::matmul(unit(batch.queries), unit(batch.documents).t());  // [B, B]
        const at::Tensor self = at::eye(similarity.size(0), similarity.options()) * 4.0;           // takes the positive out of the maximum
        const at::Tensor hardest = std::get<0>((similarity - self).max(1));                        // [B]
        return {mean_of_kept((margin_ - similarity.diagonal() + hardest).clamp_min(0), batch.keep), {}};
    }

  private:
    double margin_;
};

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("@NAME@", [](faceter::Registry& registry) {
    registry.add_objective("@NAME@", [](const faceter::Json& settings) { return std::make_unique<faceter::@CLASS@>(settings); });
})
