#pragma once
#include "common/file.h"

namespace faceter {

/// HOME, else the home folder of this process's user; empty where the system knows none.
fs::path home_folder();

/// Where the system keeps temporary files. Error: TMPDIR names no folder.
fs::path temporary_folder();

}  // namespace faceter
