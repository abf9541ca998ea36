#pragma once
#include <memory>

#include "plugin/registry.h"

namespace faceter {

/// The texts of the analysis under each task's instruction, and which experts their tokens go through: a heat map of loads, a figure of
/// entropies and a table. A model without token-routed blocks gives an empty result that says so.
std::unique_ptr<Analysis> make_expert_load();

}  // namespace faceter
