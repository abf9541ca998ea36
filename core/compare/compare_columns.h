#pragma once
#include <string>
#include <vector>

#include "compare/compare.h"

namespace faceter {

// What a comparison shows and is ordered by beside scores and costs. Names are those that filters know (store/filter.h): "loss:best",
// "loss/retrieval:min", "loss:100", "time", "retrieval".

/// Fills comparison.columns and the numbers of its groups. Errors (settings): a name that stands for nothing or for texts, a series that no
/// run has.
void add_columns(Store& store, const std::vector<std::string>& names, Comparison& comparison);
/// Groups by the mean over their runs, the least first or last; those without a value last. The baseline stays the group that it was.
void sort_groups(Store& store, const std::string& name, bool descending, Comparison& comparison);

}  // namespace faceter
