#include "train/pair_masks.h"

#include <ATen/ATen.h>

#include "model/device.h"

namespace faceter {
namespace {

template <typename T>
at::Tensor on_device(const std::vector<T>& values, const c10::Device& device) {
    const at::Tensor host = at::empty({static_cast<std::int64_t>(values.size())}, at::kLong);
    std::copy(values.begin(), values.end(), host.data_ptr<std::int64_t>());
    return to_device(host, device);
}

/// What documents and, where they count and are known, hard negatives are compared by.
at::Tensor of_columns(std::vector<std::uint64_t> documents, const std::vector<std::uint64_t>& negatives, bool hard,
                      const c10::Device& device) {
    if (hard) documents.insert(documents.end(), negatives.begin(), negatives.end());
    return on_device(documents, device);
}

}  // namespace

PairMasks::PairMasks(const PairEmbeddings& batch, const InfoNceSettings& settings, std::int64_t columns) : columns_(columns) {
    const c10::Device device = batch.queries.device();
    const bool hard = columns > batch.queries.size(0);
    if (settings.mask != InfoNceSettings::Mask::none && !batch.document_texts.empty())
        texts_ = {on_device(batch.document_texts, device), of_columns(batch.document_texts, batch.negative_texts, hard, device)};
    if (settings.mask != InfoNceSettings::Mask::none && !batch.query_texts.empty()) {  // another positive of the same query
        const at::Tensor queries = on_device(batch.query_texts, device);
        queries_ = {queries, queries};
    }
    if (settings.mask == InfoNceSettings::Mask::same_label && !batch.labels.empty())
        labels_ = {on_device(batch.labels, device), of_columns(batch.labels, batch.negative_labels, hard, device)};
    if (settings.hard_negatives == InfoNceSettings::HardNegatives::own && hard) owners_ = on_device(batch.negative_owner, device);
}

at::Tensor PairMasks::block(std::int64_t first, std::int64_t rows) const {
    const at::Tensor& like = texts_.rows.defined()     ? texts_.rows
                             : queries_.rows.defined() ? queries_.rows
                             : labels_.rows.defined()  ? labels_.rows
                                                       : owners_;
    const at::Tensor mask = at::zeros({rows, columns_}, like.options().dtype(at::kBool));
    const auto compare = [&](const Hashes& hashes) {
        const at::Tensor own = hashes.rows.narrow(0, first, rows).unsqueeze(1);
        at::Tensor same = own == hashes.columns.unsqueeze(0);
        if (&hashes == &labels_) same = same & (own != static_cast<std::int64_t>(no_label));
        mask.narrow(1, 0, hashes.columns.size(0)).bitwise_or_(same);
    };
    if (texts_.rows.defined()) compare(texts_);
    if (queries_.rows.defined()) compare(queries_);
    if (labels_.rows.defined()) compare(labels_);
    if (owners_.defined()) {
        const at::Tensor own = at::arange(first, first + rows, owners_.options()).unsqueeze(1);
        mask.narrow(1, columns_ - owners_.size(0), owners_.size(0)).bitwise_or_(own != owners_.unsqueeze(0));
    }
    mask.narrow(1, first, rows).diagonal().fill_(false);
    return mask;
}

at::Tensor PairMasks::false_negatives(const at::Tensor& block, std::int64_t first) const {
    if (!owners_.defined()) return block.sum();
    const std::int64_t hard = owners_.size(0);
    const at::Tensor queries = at::arange(first, first + block.size(0), owners_.options()).unsqueeze(1);
    const at::Tensor own = block.narrow(1, columns_ - hard, hard) & (queries == owners_.unsqueeze(0));
    return block.narrow(1, 0, columns_ - hard).sum() + own.sum();
}

}  // namespace faceter
