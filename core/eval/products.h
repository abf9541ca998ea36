#pragma once
#include <ATen/core/Tensor.h>

#include "eval/feature_matrix.h"

namespace faceter {

/// A tensor that looks at the matrix's memory, [rows, dim]; nothing is copied.
at::Tensor view_of(const FeatureMatrix& matrix);
/// The same for rows first ... first + count.
FeatureMatrix rows_of(const FeatureMatrix& matrix, std::int64_t first, std::int64_t count);
/// A usage error that names `what` where the matrix has no columns or a negative size, a data error where a number is not finite.
void check_features(const FeatureMatrix& matrix, const char* what);

}  // namespace faceter
