#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "model/path.h"

namespace faceter {

/// A leaf that is trained. One of an expert or an adapter carries it: the optimiser steps only those that the batch goes through.
struct Parameter {
    std::string name;
    at::Tensor tensor;
    bool decay = true;  ///< decoupled weight decay applies (not to norms and biases)
    Path owner{};       ///< the expert or adapter that it belongs to; Path{}: shared
    double rate = 1;    ///< its learning rate, as a share of the step's
};

/// A tensor under the name that the checkpoint's ecosystem gives it: often a view into a parameter (q, k and v are rows of one).
struct NamedTensor {
    std::string name;
    at::Tensor tensor;
};

}  // namespace faceter
