#include <ATen/ATen.h>

#include "experiment/builtin_settings.h"
#include "model/device.h"
#include "model/ops.h"
#include "train/blocked_infonce.h"
#include "train/gradient_way.h"
#include "train/objective.h"

namespace faceter {
namespace {

/// What each row's cross entropy counts in the mean over the kept rows: [B].
at::Tensor row_weights(const PairEmbeddings& batch) {
    const std::int64_t rows = batch.queries.size(0);
    if (batch.keep.empty()) return at::full({rows}, 1.0 / static_cast<double>(rows), batch.queries.options());
    const at::Tensor kept =
        to_device(at::tensor(at::ArrayRef<std::int64_t>(batch.keep)), batch.queries.device()).to(batch.queries.options());
    return kept / kept.sum().clamp_min(1);
}

/// Rows of logits at a time where nothing else is said: so many logits are 16 MiB in float32.
std::int64_t fitting_rows(std::int64_t columns) { return std::max<std::int64_t>(1, (std::int64_t{1} << 22) / columns); }

}  // namespace

std::string Objective::attach(const EmbeddingModel&, std::uint64_t, const std::filesystem::path&) { return {}; }
void Objective::keep(const std::filesystem::path&) const {}

std::unique_ptr<GradientWay> PairObjective::way(const StepTools& tools) const { return make_pair_way(tools, *this); }

void PairEmbeddings::move_to(const c10::Device& device) {
    for (at::Tensor* rows : {&queries, &documents, &negatives, &guide_queries, &guide_documents, &guide_negatives})
        if (rows->defined()) *rows = to_device(*rows, device);
}

InfoNceSettings InfoNceSettings::from_json(const Json& given) {
    const Json settings = builtin_settings(ExtensionKind::objective, "infonce", given);
    InfoNceSettings s;
    s.symmetric = json_at<bool>(settings, "symmetric", "objective");
    s.cosine = json_at<std::string>(settings, "similarity", "objective") == "cosine";
    const auto mask = json_at<std::string>(settings, "mask_false_negatives", "objective");
    s.mask = mask == "none" ? Mask::none : mask == "same_text" ? Mask::same_text : Mask::same_label;
    const auto hard = json_at<std::string>(settings, "hard_negatives", "objective");
    s.hard_negatives = hard == "none" ? HardNegatives::none : hard == "own" ? HardNegatives::own : HardNegatives::all;
    return s;
}

std::vector<LossResult> PairObjective::over_prefixes(const PairEmbeddings& batch, const std::vector<std::int64_t>& dims) const {
    std::vector<LossResult> results;
    for (const std::int64_t dim : dims) {
        PairEmbeddings part = batch;
        for (at::Tensor* rows : {&part.queries, &part.documents, &part.negatives})
            if (rows->defined()) *rows = normalize_rows(rows->narrow(1, 0, dim));
        results.push_back((*this)(part));
    }
    return results;
}

LossResult InfoNce::operator()(const PairEmbeddings& batch) const {
    return losses(batch, {batch.queries.size(1)}, settings_.cosine).front();
}

std::vector<LossResult> InfoNce::over_prefixes(const PairEmbeddings& batch, const std::vector<std::int64_t>& dims) const {
    return losses(batch, dims, true);
}

std::vector<LossResult> InfoNce::losses(const PairEmbeddings& batch, const std::vector<std::int64_t>& dims, bool normalised) const {
    const bool hard = batch.negatives.defined() && batch.negatives.size(0) > 0 && reads_negatives();
    const at::Tensor documents = hard ? at::cat({batch.documents, batch.negatives}) : batch.documents;
    const auto scaled = [&](const at::Tensor& x, std::int64_t dim) {
        const at::Tensor prefix = x.narrow(1, 0, dim);
        return normalised ? normalize_rows(prefix) : prefix;
    };
    std::vector<ScoredRows> views;
    for (const std::int64_t dim : dims) views.push_back({scaled(batch.queries, dim), scaled(documents, dim)});
    const BlockedLoss blocked =
        blocked_infonce(views, PairMasks(batch, settings_, documents.size(0)), row_weights(batch), batch.temperature, settings_.symmetric,
                        settings_.block_rows > 0 ? settings_.block_rows : fitting_rows(documents.size(0)));
    std::vector<LossResult> results(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) {
        results[i].loss = blocked.losses.select(0, static_cast<std::int64_t>(i));
        results[i].parts["masked_negatives"] = blocked.masked;
    }
    return results;
}

}  // namespace faceter
