#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace faceter {

/// A leaf that is trained. Expert parameters carry their expert's index: the optimiser steps only those that the batch plan names.
struct Parameter {
    std::string name;
    at::Tensor tensor;
    bool decay = true;  ///< decoupled weight decay applies (not to norms and biases)
    int expert = -1;    ///< -1: shared
};

/// A tensor under the name that the checkpoint's ecosystem gives it: often a view into a parameter (q, k and v are rows of one).
struct NamedTensor {
    std::string name;
    at::Tensor tensor;
};

}  // namespace faceter
