#pragma once
#include "common/file.h"

namespace faceter {

/// Removes what killed processes left where they wrote `place`: NAME.tmp-PID-N of a file (AtomicFile), .NAME.tmp-PID of a folder, beside it
/// or in it. Only of processes that are gone, and an hour after the last write: another machine may write here too.
void remove_abandoned(const fs::path& place);

}  // namespace faceter
