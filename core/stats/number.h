#pragma once
#include <limits>
#include <string_view>

#include "common/json.h"

namespace faceter {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A double as JSON holds it here: finite numbers as numbers, NaN ("there is no such value") as null, infinities as the strings
/// "inf" and "-inf". JSON itself has neither.
Json number_to_json(double value);
/// The way back; a data error naming `name` for anything else.
double number_from_json(const Json& value, std::string_view name);

}  // namespace faceter
