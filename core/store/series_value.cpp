#include "store/series_value.h"

#include <fmt/format.h>

#include <limits>

#include "common/strings.h"
#include "store/store.h"

namespace faceter {
namespace {

constexpr std::pair<const char*, SeriesValue::Which> words[] = {
    {"last", SeriesValue::Which::last}, {"min", SeriesValue::Which::min}, {"max", SeriesValue::Which::max}};

}  // namespace

std::optional<SeriesValue> SeriesValue::parse(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    SeriesValue value{std::string(text.substr(0, colon)), Which::at, 0};
    const std::string_view which = text.substr(colon + 1);
    for (const auto& [word, known] : words)
        if (which == word) {
            value.which = known;
            return value;
        }
    const auto step = parse_int(which);
    if (!step || *step < 0) return std::nullopt;
    value.step = *step;
    return value;
}

std::string SeriesValue::text() const {
    for (const auto& [word, known] : words)
        if (which == known) return fmt::format("{}:{}", series, word);
    return fmt::format("{}:{}", series, step);
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
    if (which != Which::last) return which == Which::min ? range.min : range.max;
    return store.series_sample(run, series, SeriesX::step, range.from, range.to, 1).front().last;
}

}  // namespace faceter
