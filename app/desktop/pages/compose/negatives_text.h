#pragma once
#include <QString>
#include <vector>

#include "experiment/experiment.h"

namespace faceter::desktop {

/// What a batch holds each of its queries against (core's batch_negatives), a line for each that differs. Empty: nothing is trained.
QString negativesText(const std::vector<const ResolvedRun*>& runs);

}  // namespace faceter::desktop
