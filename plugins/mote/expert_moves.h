#pragma once
#include <memory>

#include "plugin/registry.h"

namespace faceter {

/// How far a finished model's task experts have moved from the dense block that they began as, and from one another, by block, and which
/// instruction has which expert. Distances are of all tensors that an expert owns taken as one vector, in units of the dense block's
/// length.
std::unique_ptr<Analysis> make_expert_moves();

}  // namespace faceter
