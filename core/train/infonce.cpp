#include <ATen/ATen.h>

#include <limits>

#include "model/device.h"
#include "model/ops.h"
#include "train/gradient_way.h"
#include "train/objective.h"

namespace faceter {
namespace {

/// Mean over the kept rows of the cross entropy of row i with column i.
at::Tensor diagonal_cross_entropy(const at::Tensor& logits, const std::vector<std::int64_t>& keep) {
    const std::int64_t rows = logits.size(0);
    const at::Tensor losses = logits.logsumexp(1) - logits.narrow(1, 0, rows).diagonal();
    if (keep.empty()) return losses.mean();
    const at::Tensor kept = to_device(at::tensor(at::ArrayRef<std::int64_t>(keep)), logits.device()).to(logits.scalar_type());
    return (losses * kept).sum() / kept.sum().clamp_min(1);
}

}  // namespace

std::string Objective::attach(const EmbeddingModel&, std::uint64_t, const std::filesystem::path&) { return {}; }
void Objective::keep(const std::filesystem::path&) const {}

std::unique_ptr<GradientWay> PairObjective::way(const StepTools& tools) const { return make_pair_way(tools, *this); }

void PairEmbeddings::move_to(const c10::Device& device) {
    for (at::Tensor* rows : {&queries, &documents, &negatives})
        if (rows->defined()) *rows = to_device(*rows, device);
}

InfoNceSettings InfoNceSettings::from_json(const Json& settings) {
    InfoNceSettings s;
    s.symmetric = json_or<bool>(settings, "symmetric", false, "objective");
    s.cosine = json_or<std::string>(settings, "similarity", "cosine", "objective") == "cosine";
    const auto mask = json_or<std::string>(settings, "mask_false_negatives", "same_text", "objective");
    s.mask = mask == "none" ? Mask::none : mask == "same_text" ? Mask::same_text : Mask::same_label;
    const auto hard = json_or<std::string>(settings, "hard_negatives", "all", "objective");
    s.hard_negatives = hard == "none" ? HardNegatives::none : hard == "own" ? HardNegatives::own : HardNegatives::all;
    return s;
}

at::Tensor InfoNce::false_negatives(const PairEmbeddings& batch, std::int64_t columns) const {
    const std::int64_t rows = batch.queries.size(0);
    const bool by_text = settings_.mask != InfoNceSettings::Mask::none && !batch.document_texts.empty();
    const bool by_label = settings_.mask == InfoNceSettings::Mask::same_label && !batch.labels.empty();
    const bool own_only = settings_.hard_negatives == InfoNceSettings::HardNegatives::own && columns > rows;
    if (!by_text && !by_label && !own_only) return {};
    const at::Tensor mask = at::zeros({rows, columns}, at::kBool);
    auto* out = mask.data_ptr<bool>();
    bool any = false;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            if (i == j) continue;
            const bool hard = j >= rows;
            const std::int64_t n = j - rows;
            bool masked = hard && own_only && batch.negative_owner[n] != i;
            if (by_text) masked |= batch.document_texts[i] == (hard ? batch.negative_texts[n] : batch.document_texts[j]);
            if (by_label && batch.labels[i] != no_label)
                masked |=
                    batch.labels[i] == (hard ? (batch.negative_labels.empty() ? no_label : batch.negative_labels[n]) : batch.labels[j]);
            out[i * columns + j] = masked;
            any |= masked;
        }
    return any ? mask : at::Tensor();
}

LossResult InfoNce::operator()(const PairEmbeddings& batch) const {
    const bool hard =
        batch.negatives.defined() && batch.negatives.size(0) > 0 && settings_.hard_negatives != InfoNceSettings::HardNegatives::none;
    const auto scaled = [&](const at::Tensor& x) { return settings_.cosine ? normalize_rows(x) : x; };
    const at::Tensor queries = scaled(batch.queries);
    const at::Tensor documents = scaled(hard ? at::cat({batch.documents, batch.negatives}) : batch.documents);
    at::Tensor logits = at::matmul(queries, documents.t()) / batch.temperature;  // [B, B + N]
    const at::Tensor mask = false_negatives(batch, logits.size(1));
    if (mask.defined()) logits = logits.masked_fill(to_device(mask, logits.device()), -std::numeric_limits<double>::infinity());
    LossResult result;
    result.loss = diagonal_cross_entropy(logits, batch.keep);
    if (settings_.symmetric) {
        // Documents against queries: hard negatives are nobody's positive, so they have no row of their own.
        const at::Tensor back = diagonal_cross_entropy(logits.narrow(1, 0, batch.queries.size(0)).t(), batch.keep);
        result.loss = (result.loss + back) / 2;
    }
    result.parts["masked_negatives"] = at::scalar_tensor(mask.defined() ? mask.sum().item<double>() : 0, at::kDouble);
    return result;
}

}  // namespace faceter
