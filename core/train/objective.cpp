#include "train/objective.h"

#include <ATen/ATen.h>

#include "model/device.h"

namespace faceter {

void Objective::check(const TrainingSet&) const {}
at::Tensor mean_of_kept(const at::Tensor& losses, const std::vector<std::int64_t>& keep) {
    if (keep.empty()) return losses.mean();
    const at::Tensor kept = to_device(at::tensor(at::ArrayRef<std::int64_t>(keep)), losses.device()).to(losses.scalar_type());
    return (losses * kept).sum() / kept.sum().clamp_min(1);
}

std::vector<std::int64_t> keep_of_negatives(const PairEmbeddings& batch) {
    std::vector<std::int64_t> keep;
    if (batch.keep.empty()) return keep;
    for (const std::int64_t owner : batch.negative_owner) keep.push_back(batch.keep[static_cast<std::size_t>(owner)]);
    return keep;
}

at::Tensor queries_of_negatives(const PairEmbeddings& batch) {
    const at::Tensor owners = at::tensor(at::ArrayRef<std::int64_t>(batch.negative_owner));
    return batch.queries.index_select(0, to_device(owners, batch.queries.device()));
}

}  // namespace faceter
