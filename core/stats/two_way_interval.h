#pragma once
#include <span>
#include <vector>

#include "stats/descriptive.h"

namespace faceter {

/// A t interval of the mean of a table, rows (seeds) x columns (data sets), when both could have been others: the two-way random model
/// without replication. The variance of the mean is (MS_rows + MS_columns - MS_rest) / (R C), never less than the largest of the three
/// makes it, with Satterthwaite's degrees of freedom (Searle, Casella and McCulloch 1992, section 4.5). For few rows or columns, of which a
/// bootstrap's interval is too narrow (of two rows that vary it covers hardly more than half the means); this one covers 90 to 99 % of
/// them. One row or one column: that side does not vary. An empty or ragged table, or one of a single cell, is a usage error.
Interval two_way_t_interval(std::span<const std::vector<double>> rows, double confidence = 0.95);

}  // namespace faceter
