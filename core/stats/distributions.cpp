#include "stats/distributions.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numbers>

#include "stats/number.h"

namespace faceter {

double student_t_upper_tail(double t, double df) {
    if (std::isnan(t) || std::isnan(df) || df <= 0) return not_a_number;
    if (std::isinf(t)) return t > 0 ? 0 : 1;
    return boost::math::cdf(boost::math::complement(boost::math::students_t(df), t));
}

double student_t_upper_quantile(double upper_tail, double df) {
    if (std::isnan(upper_tail) || std::isnan(df) || df <= 0 || upper_tail < 0 || upper_tail > 1) return not_a_number;
    if (upper_tail == 0) return std::numeric_limits<double>::infinity();
    if (upper_tail == 1) return -std::numeric_limits<double>::infinity();
    return boost::math::quantile(boost::math::complement(boost::math::students_t(df), upper_tail));
}

double normal_upper_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

}  // namespace faceter
