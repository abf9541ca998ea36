#pragma once
#include <span>
#include <vector>

#include "stats/bootstrap.h"

namespace faceter {

/// The mean of a table of values, rows (seeds) x columns (data sets), when both could have been others: rows and columns are drawn with
/// replacement, each by itself, and the mean is taken over what they cross in (Owen 2007, the pigeonhole bootstrap). `n` counts cells.
/// Where there is one row or one column that side does not vary: the interval then speaks for the other alone. An empty or ragged table is
/// a usage error.
BootstrapResult two_way_bootstrap(std::span<const std::vector<double>> rows, const BootstrapOptions& options = {});

}  // namespace faceter
