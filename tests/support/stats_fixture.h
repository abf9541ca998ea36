#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "common/json.h"
#include "support/test.h"

namespace faceter::testing {

/// shared/fixtures/stats/stats.json, read once.
inline const Json& stats_fixture() {
    static const Json fixture = read_json(shared_folder() / "fixtures/stats/stats.json");
    return fixture;
}

/// A number of the fixture; "nan" is written as a string there.
inline double number(const Json& value) { return value.is_string() || value.is_null() ? std::nan("") : value.get<double>(); }
inline std::vector<double> numbers(const Json& values) {
    std::vector<double> result;
    for (const Json& value : values) result.push_back(number(value));
    return result;
}

/// Relative closeness; two NaN are close, zero is close to zero only.
inline bool close(double found, double expected, double tolerance = 1e-10) {
    if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
    return found == expected || std::abs(found - expected) <= tolerance * std::abs(expected);
}
inline std::string difference(double found, double expected) {
    return fmt::format("found {:.17g}, expected {:.17g}, relative {:.2g}", found, expected,
                       std::abs(found - expected) / std::abs(expected));
}

}  // namespace faceter::testing

#define EXPECT_CLOSE_TO(found, expected, tolerance, name)                                               \
    do {                                                                                                \
        const double f_ = (found), e_ = (expected);                                                     \
        QVERIFY2(faceter::testing::close(f_, e_, tolerance),                                            \
                 (std::string(name) + ": " #found " " + faceter::testing::difference(f_, e_)).c_str()); \
    } while (false)
#define EXPECT_CLOSE(found, expected, name) EXPECT_CLOSE_TO(found, expected, 1e-10, name)
