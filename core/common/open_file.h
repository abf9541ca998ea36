#pragma once
#include "common/file.h"

namespace faceter {

/// A descriptor to read from, without waiting for somebody to write into a pipe: one in a folder that came from elsewhere would hold us for
/// ever. Pipes that the shell names (/dev/fd/63) are read. Data error naming the path where it is a folder, such a pipe or missing.
int open_to_read(const fs::path& path);

}  // namespace faceter
