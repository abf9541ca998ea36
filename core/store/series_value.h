#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

class Store;
struct RunRow;

/// One number that stands for a series of a run: "loss:last", "loss:best", "loss/retrieval:min", "grad_norm:max", or at a step, "loss:100".
struct SeriesValue {
    /// The best is the least of a loss and the greatest of a validation score (score/TASK).
    enum class Which { last, best, min, max, at };
    std::string series;
    Which which = Which::last;
    std::int64_t step = 0;  ///< of `at`

    /// Nothing where the text is no such name, or asks for the best of a series that has none (the learning rate).
    static std::optional<SeriesValue> parse(std::string_view text);
    std::string text() const;
    /// "last", "best", "least", "most", "at step 100": what people read beside the name of the series.
    std::string words() const;
    /// Whether a series has values that are better than others: -1 the lesser, 1 the greater; 0: neither.
    static int direction(std::string_view series);
    /// Of this value: -1 or 1 of the best, the least of a loss and so on; 0 where less is neither better nor worse.
    int direction() const { return direction(series); }
    /// NaN where the run has no such series, or none at that step. Reads the roots of the series, not its points.
    double of(Store& store, const std::string& run) const;
    /// One a row. A series that no run of the store has is a settings error: a misspelt name would be a column of nothing.
    std::vector<double> of(Store& store, const std::vector<RunRow>& rows) const;
};

/// Decimals that show four digits of the largest of these (NaN: passed over): 3.142, 0.00002000.
int series_decimals(const std::vector<double>& values);

}  // namespace faceter
