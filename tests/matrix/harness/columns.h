#pragma once
#include "conform/column.h"

namespace faceter::matrix {

/// Every variant that the plugins offer, with the settings that change what is computed, under names that a reader knows.
std::vector<conform::Column> columns();

}  // namespace faceter::matrix
