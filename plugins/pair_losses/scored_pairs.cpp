#include "scored_pairs.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/device.h"
#include "model/ops.h"

namespace faceter {
namespace {

std::vector<double> gold_of(std::vector<double> scores, std::int64_t count, double otherwise) {
    scores.resize(static_cast<std::size_t>(count), Example::no_score);
    for (double& score : scores)
        if (std::isnan(score)) score = otherwise;
    return scores;
}

at::Tensor rows_at(const at::Tensor& values, const std::vector<std::int64_t>& rows) {
    return values.index_select(0, to_device(at::tensor(at::ArrayRef<std::int64_t>(rows), at::kLong), values.device()));
}

ScoredPairs kept(const ScoredPairs& all, const std::vector<std::int64_t>& keep) {
    if (keep.empty()) return all;
    std::vector<std::int64_t> rows;
    ScoredPairs some;
    for (std::size_t i = 0; i < keep.size(); ++i)
        if (keep[i]) rows.push_back(static_cast<std::int64_t>(i)), some.gold.push_back(all.gold[i]);
    some.values = rows_at(all.values, rows);
    return some;
}

}  // namespace

at::Tensor cosine(const at::Tensor& a, const at::Tensor& b) { return (normalize_rows(a) * normalize_rows(b)).sum(1); }

at::Tensor ScoredPairs::scores() const {
    return to_device(at::tensor(at::ArrayRef<double>(gold), at::kDouble), values.device()).to(values.scalar_type());
}

at::Tensor ScoredPairs::values_of(double wanted) const {
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < gold.size(); ++i)
        if (gold[i] == wanted) rows.push_back(static_cast<std::int64_t>(i));
    return rows_at(values, rows);
}

ScoredPairs scored_pairs(const PairEmbeddings& batch, RowMeasure measure) {
    ScoredPairs all{measure(batch.queries, batch.documents), gold_of(batch.scores, batch.queries.size(0), 1)};
    std::vector<std::int64_t> keep = batch.keep;
    if (batch.negatives.defined()) {
        all.values = at::cat({all.values, measure(queries_of_negatives(batch), batch.negatives)});
        const auto below = gold_of(batch.negative_scores, batch.negatives.size(0), 0);
        all.gold.insert(all.gold.end(), below.begin(), below.end());
        const auto kept_below = keep_of_negatives(batch);
        keep.insert(keep.end(), kept_below.begin(), kept_below.end());
    }
    return kept(all, keep);
}

}  // namespace faceter
