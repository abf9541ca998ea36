#pragma once
#include <optional>

#include "record/run_directory.h"

namespace faceter {

/// What was said of a run before it was launched, to be held against what is measured: control/forecast.json.
struct Forecast {
    double seconds = 0;     ///< of the whole run
    double memory_gib = 0;  ///< peak of a process
    bool operator==(const Forecast&) const = default;
};
void write_forecast(const RunDirectory& run, const Forecast& forecast);
/// Nothing where none was made, or what is there is none.
std::optional<Forecast> read_forecast(const RunDirectory& run);

}  // namespace faceter
