#pragma once
#include "settings/schema.h"

namespace faceter {

/// The settings of one data entry: an item of tasks.*.train, of evaluation.datasets, or the `texts` of an analysis.
Schema data_entry_schema();
/// A data entry with the default of each setting that it leaves out.
Json whole_entry(const Json& entry);

}  // namespace faceter
