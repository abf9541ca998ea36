#include "stats/number.h"

#include <cmath>

#include "common/error.h"

namespace faceter {

Json number_to_json(double value) {
    if (std::isnan(value)) return nullptr;
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

double number_from_json(const Json& value, std::string_view name) {
    if (value.is_null()) return not_a_number;
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    throw data_error("{}: expected a number, null, \"inf\" or \"-inf\", found {}", name, value.type_name());
}

}  // namespace faceter
