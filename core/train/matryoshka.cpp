#include <ATen/ATen.h>
#include <fmt/format.h>

#include "common/error.h"
#include "train/objective.h"

namespace faceter {

Matryoshka::Matryoshka(std::unique_ptr<PairObjective> around, std::vector<std::int64_t> dims, std::vector<double> weights)
    : around_(std::move(around)), dims_(std::move(dims)), weights_(std::move(weights)) {
    if (weights_.empty()) weights_.assign(dims_.size(), 1.0);
    if (weights_.size() != dims_.size())
        throw settings_error("objective.matryoshka_weights has {} numbers for {} prefixes in matryoshka_dims; give one each, or none",
                             weights_.size(), dims_.size());
}

LossResult Matryoshka::operator()(const PairEmbeddings& batch) const {
    LossResult result;
    for (const std::int64_t dim : dims_)
        if (dim > batch.queries.size(1))
            throw settings_error("objective.matryoshka_dims has {}, but the embeddings have {} elements", dim, batch.queries.size(1));
    const std::vector<LossResult> parts = around_->over_prefixes(batch, dims_);
    for (std::size_t i = 0; i < dims_.size(); ++i) {
        const at::Tensor share = parts[i].loss * weights_[i];
        result.loss = i == 0 ? share : result.loss + share;
        result.parts[fmt::format("{}{}", loss_of_prefix, dims_[i])] = parts[i].loss.detach();
        if (i == 0) result.parts.insert(parts[i].parts.begin(), parts[i].parts.end());
    }
    return result;
}

}  // namespace faceter
