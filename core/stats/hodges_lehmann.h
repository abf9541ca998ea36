#pragma once
#include <span>

#include "stats/descriptive.h"

namespace faceter {

/// The shift that Wilcoxon's signed-rank test speaks of (Hodges and Lehmann 1963): the median of the Walsh averages (d_i + d_j) / 2, i <=
/// j, and the interval that inverts the exact test (R's wilcox.test(conf.int = TRUE) without ties; with them it is approximate). For more
/// than 50 differences the normal quantile takes the place of the exact one.
struct HodgesLehmann {
    double estimate = 0;
    Interval interval;         ///< where n is too small for the confidence, the whole range of the Walsh averages
    double confidence = 0.95;  ///< that was asked for
};
/// NaN for none, for a NaN, and for more than 2,000 differences (two million averages).
HodgesLehmann hodges_lehmann(std::span<const double> differences, double confidence = 0.95);

}  // namespace faceter
