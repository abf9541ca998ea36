#pragma once
#include <ATen/core/Tensor.h>

namespace faceter {

/// How far parameters have moved, |W - W0| / |W0|, over all the tensors that were added; both lengths squared, in float64.
struct Movement {
    double moved = 0, start = 0;
    /// Tensors of one shape; both undefined where a model has no such parameter (a bias).
    void add(const at::Tensor& now, const at::Tensor& before);
    void add(const Movement& other) { moved += other.moved, start += other.start; }
    /// Where nothing was there before, the length itself.
    double ratio() const;
};

}  // namespace faceter
