#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faceter {

class Store;

/// One number that stands for a series of a run: "loss:last", "loss/retrieval:min", "grad_norm:max", or at a step, "loss:100".
struct SeriesValue {
    enum class Which { last, min, max, at };
    std::string series;
    Which which = Which::last;
    std::int64_t step = 0;  ///< of `at`

    /// Nothing where the text is no such name.
    static std::optional<SeriesValue> parse(std::string_view text);
    std::string text() const;
    /// NaN where the run has no such series, or none at that step. Reads the roots of the series, not its points.
    double of(Store& store, const std::string& run) const;
};

}  // namespace faceter
