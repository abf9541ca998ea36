#pragma once
#include <vector>

#include "figure/figure.h"

namespace faceter::testing {

/// Figures such as analyses make them, of every kind; every number is made up by a fixed generator.
Figure sample_lines(int num_series = 3, int num_points = 120);
Figure sample_bars(int num_series = 2);
Figure sample_densities(int num_series = 2);
Figure sample_scatter(int num_series = 2, bool labels = true);
Figure sample_box();
Figure sample_heat_map(int num_rows = 6, int num_columns = 6, bool diverging = false);
Figure sample_log_axes();
/// One of each, and the variants worth looking at.
std::vector<Figure> sample_figures();

}  // namespace faceter::testing
