#include "conform/embeddings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/error.h"

namespace faceter::conform {
namespace {

std::size_t number_behind(const std::string& text, std::size_t at) {
    std::size_t value = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), value);
    return value;
}

}  // namespace

double Embeddings::length(std::size_t i) const {
    double squares = 0;
    for (std::size_t d = 0; d < dim; ++d) squares += static_cast<double>(row(i)[d]) * row(i)[d];
    return std::sqrt(squares);
}

bool Embeddings::finite() const {
    return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

Embeddings Embeddings::read_npy(const fs::path& file) {
    const std::string content = read_file(file);
    const std::size_t shape = content.find("'shape': ("), comma = content.find(", ", shape);
    if (content.size() < 128 || !content.starts_with("\x93NUMPY") || shape == std::string::npos || comma == std::string::npos)
        throw data_error("{}: is no NumPy file", file.string());
    Embeddings result;
    result.rows = number_behind(content, shape + 10);
    result.dim = number_behind(content, comma + 2);
    result.values.resize(result.rows * result.dim);
    const std::size_t bytes = result.values.size() * sizeof(float);
    if (content.size() != 128 + bytes) throw data_error("{}: {} bytes of data, expected {}", file.string(), content.size() - 128, bytes);
    std::memcpy(result.values.data(), content.data() + 128, bytes);
    return result;
}

Embeddings Embeddings::of_json(const Json& rows) {
    Embeddings result{rows.size(), rows.empty() ? 0 : rows[0].size(), {}};
    for (const Json& row : rows)
        for (const Json& value : row) result.values.push_back(value.is_number() ? value.get<float>() : std::nanf(""));
    return result;
}

bool is_weights(const fs::path& file) { return file.filename() == "model.safetensors" || file.filename() == "adapter_model.safetensors"; }

double row_difference(const Embeddings& a, std::size_t i, const Embeddings& b, std::size_t j) {
    double largest = 0;
    for (std::size_t d = 0; d < a.dim; ++d) {
        const double apart = std::abs(static_cast<double>(a.row(i)[d]) - b.row(j)[d]);
        if (std::isnan(apart)) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, apart);
    }
    const double length = a.length(i);
    return largest / (length > 0 ? length : 1);
}

double difference(const Embeddings& a, const Embeddings& b) {
    if (a.rows != b.rows || a.dim != b.dim) return std::numeric_limits<double>::infinity();
    double largest = 0;
    for (std::size_t i = 0; i < a.rows; ++i) largest = std::max(largest, row_difference(a, i, b, i));
    return largest;
}

}  // namespace faceter::conform
