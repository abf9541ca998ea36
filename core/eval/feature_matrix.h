#pragma once
#include <cstdint>

namespace faceter {

/// A view of row-major float32 features: `rows` examples of `dim` numbers, without a gap.
struct FeatureMatrix {
    const float* data = nullptr;
    std::int64_t rows = 0, dim = 0;
};

}  // namespace faceter
