#pragma once
#include <vector>

#include "common/file.h"
#include "common/json.h"

namespace faceter::conform {

/// Embeddings as `faceter embed` writes them, or as a peer says them: [rows, dim].
struct Embeddings {
    std::size_t rows = 0, dim = 0;
    std::vector<float> values;
    const float* row(std::size_t i) const { return values.data() + i * dim; }
    double length(std::size_t i) const;
    bool finite() const;

    static Embeddings read_npy(const fs::path& file);
    static Embeddings of_json(const Json& rows);
};

/// Whether a file of a model's folder holds weights: the model's, or an adapter's.
bool is_weights(const fs::path& file);

/// The largest difference of an element of row `i` of `a` and row `j` of `b`, relative to the length of the former (1 where it is 0).
double row_difference(const Embeddings& a, std::size_t i, const Embeddings& b, std::size_t j);
/// The largest over all rows; infinite where their shapes differ.
double difference(const Embeddings& a, const Embeddings& b);

}  // namespace faceter::conform
