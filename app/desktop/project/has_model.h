#pragma once
#include "store/store.h"

namespace faceter::desktop {

/// Whether a run has a model that can be looked into, exported or scored: it is done, and was not imported as results alone.
inline bool hasModel(const RunRow& run) { return run.state.phase == RunPhase::done && !run.info.is_imported(); }

}  // namespace faceter::desktop
