#include "eval/products.h"

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>

#include <atomic>
#include <cmath>

#include "common/error.h"

namespace faceter {

at::Tensor view_of(const FeatureMatrix& matrix) {
    return at::from_blob(const_cast<float*>(matrix.data), {matrix.rows, matrix.dim}, at::kFloat);
}

FeatureMatrix rows_of(const FeatureMatrix& matrix, std::int64_t first, std::int64_t count) {
    return {matrix.data + first * matrix.dim, count, matrix.dim};
}

void check_features(const FeatureMatrix& matrix, const char* what) {
    if (matrix.rows < 0 || matrix.dim <= 0)
        throw usage_error("{}: expected a matrix of features, found {} rows of {} numbers", what, matrix.rows, matrix.dim);
    std::atomic<std::int64_t> bad_row{-1};
    at::parallel_for(0, matrix.rows, 1024, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            float sum = 0;  // finite numbers times zero sum to zero, others to NaN
            for (std::int64_t d = 0; d < matrix.dim; ++d) sum += matrix.data[r * matrix.dim + d] * 0.0f;
            if (sum != 0) bad_row = r;
        }
    });
    if (bad_row >= 0) throw data_error("{}: row {} holds a number that is not finite", what, bad_row.load() + 1);
}

}  // namespace faceter
