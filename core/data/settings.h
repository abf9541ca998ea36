#pragma once
#include "settings/schema.h"

namespace faceter {

/// The settings of one data entry: an item of tasks.*.train, of evaluation.datasets, or the `texts` of an analysis.
Schema data_entry_schema();

}  // namespace faceter
