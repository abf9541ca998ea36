#include "eval/comparable_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "model/ops.h"

namespace faceter {

at::Tensor comparable_rows(const at::Tensor& rows, Similarity similarity) {
    return (similarity == Similarity::cosine ? normalize_rows(rows) : rows).contiguous();
}

at::Tensor row_similarities(const at::Tensor& a, const at::Tensor& b, Similarity similarity) {
    constexpr std::int64_t without_products = 2;  // of rows and their lengths, which lose what near rows differ by
    if (similarity == Similarity::euclidean) return -at::cdist(a, b, 2, without_products);
    if (similarity == Similarity::manhattan) return -at::cdist(a, b, 1);
    return at::mm(a, b.t());
}

double row_similarity(const at::Tensor& a, std::int64_t i, const at::Tensor& b, std::int64_t j, Similarity similarity) {
    const std::int64_t dim = a.size(1);
    const float *x = a.const_data_ptr<float>() + i * dim, *y = b.const_data_ptr<float>() + j * dim;
    double total = 0;
    for (std::int64_t d = 0; d < dim; ++d) {
        const double product = static_cast<double>(x[d]) * y[d], difference = static_cast<double>(x[d]) - y[d];
        total += similarity == Similarity::euclidean   ? difference * difference
                 : similarity == Similarity::manhattan ? std::abs(difference)
                                                       : product;
    }
    return similarity == Similarity::euclidean ? -std::sqrt(total) : similarity == Similarity::manhattan ? -total : total;
}

float shown_score(float searched, Similarity similarity) {
    return similarity == Similarity::euclidean ? -std::sqrt(std::max(0.0f, -searched)) : searched;
}

}  // namespace faceter
