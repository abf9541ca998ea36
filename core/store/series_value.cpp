#include "store/series_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/error.h"
#include "common/strings.h"
#include "store/store.h"

namespace faceter {
namespace {

struct Word {
    const char* text;
    SeriesValue::Which which;
    const char* read;
};
constexpr Word all_words[] = {{"last", SeriesValue::Which::last, "last"},
                              {"best", SeriesValue::Which::best, "best"},
                              {"min", SeriesValue::Which::min, "least"},
                              {"max", SeriesValue::Which::max, "most"}};

const Word* word_of(SeriesValue::Which which) {
    for (const Word& word : all_words)
        if (word.which == which) return &word;
    return nullptr;
}

/// Whatever rows were chosen.
bool any_run_has(Store& store, const std::string& series) {
    for (const RunRow& run : store.runs()) {
        const std::vector<std::string> names = store.series_names(run.info.id);
        if (std::binary_search(names.begin(), names.end(), series)) return true;
    }
    return false;
}

}  // namespace

std::optional<SeriesValue> SeriesValue::parse(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    SeriesValue value{std::string(text.substr(0, colon)), Which::at, 0};
    const std::string_view which = text.substr(colon + 1);
    for (const Word& word : all_words)
        if (which == word.text) {
            value.which = word.which;
            if (value.which == Which::best && value.direction() == 0) return std::nullopt;
            return value;
        }
    const auto step = parse_int(which);
    if (!step || *step < 0) return std::nullopt;
    value.step = *step;
    return value;
}

std::string SeriesValue::text() const {
    const Word* word = word_of(which);
    return word ? fmt::format("{}:{}", series, word->text) : fmt::format("{}:{}", series, step);
}

std::string SeriesValue::words() const {
    const Word* word = word_of(which);
    return word ? word->read : fmt::format("at step {}", step);
}

int SeriesValue::direction(std::string_view series) {
    // Of later stages ("loss@1"), and of prefixes as runs before "prefix_loss/256" recorded them ("loss@256@1").
    const std::string_view name = series.substr(0, series.find('@'));
    if (name == "loss" || name.starts_with("loss/") || name.starts_with("prefix_loss/") || name.ends_with("_loss")) return -1;
    return name.starts_with("score/") ? 1 : 0;
}

double SeriesValue::of(Store& store, const std::string& run) const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (which == Which::at) {
        const auto place = static_cast<double>(step);
        const SeriesBucket bucket = store.series_sample(run, series, SeriesX::step, place, place, 1).front();
        return bucket.count > 0 ? bucket.last : none;
    }
    const SeriesRange range = store.series_range(run, series, SeriesX::step);
    if (range.count == 0) return none;
    switch (which) {
        case Which::min:
            return range.min;
        case Which::max:
            return range.max;
        case Which::best:
            return direction() < 0 ? range.min : range.max;
        default:
            return store.series_sample(run, series, SeriesX::step, range.from, range.to, 1).front().last;
    }
}

std::vector<double> SeriesValue::of(Store& store, const std::vector<RunRow>& rows) const {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const RunRow& row : rows) values.push_back(of(store, row.info.id));
    const bool known = rows.empty() || std::any_of(values.begin(), values.end(), [](double one) { return !std::isnan(one); });
    if (!known && !any_run_has(store, series))
        throw settings_error("no run has a value {}; names of series are what page Curves and faceter show --json list, as in loss:last",
                             faceter::quoted(text()));
    return values;
}

int series_decimals(const std::vector<double>& values) {
    double most = 0;
    for (const double value : values)
        if (std::isfinite(value)) most = std::max(most, std::abs(value));
    return most > 0 ? std::clamp(3 - static_cast<int>(std::floor(std::log10(most))), 0, 12) : 2;
}

}  // namespace faceter
