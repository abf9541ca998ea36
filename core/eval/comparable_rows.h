#pragma once
#include <ATen/core/Tensor.h>

#include "checkpoint/model_folder.h"

namespace faceter {

/// Rows [N, D] that a search by this similarity can take: a cosine is the product of rows of length 1.
at::Tensor comparable_rows(const at::Tensor& rows, Similarity similarity);
/// Scores [A, B] of comparable rows [A, D] and [B, D]: products, or distances with a minus.
at::Tensor row_similarities(const at::Tensor& a, const at::Tensor& b, Similarity similarity);
/// The score of one pair of comparable rows, summed in double precision.
double row_similarity(const at::Tensor& a, std::int64_t i, const at::Tensor& b, std::int64_t j, Similarity similarity);
/// What a search by squared distances found, as the model's score: the distance with a minus. Other scores stay.
float shown_score(float searched, Similarity similarity);

}  // namespace faceter
