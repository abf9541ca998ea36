#pragma once
#include <cstdint>
#include <span>

#include "train/curriculum.h"

namespace faceter {

/// Reorders a plan's pairs so that the shares of all ranks (share_of: as many pairs each, but for one) are about the same work, since the
/// slowest is waited for: the most work first, each to the rank with least so far that has room (longest processing time first: Graham,
/// 1969). `work` of each pair, in any unit. The same on every rank.
void balance_shares(BatchPlan& plan, std::span<const double> work, int ranks);

}  // namespace faceter
