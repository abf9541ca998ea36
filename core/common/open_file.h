#pragma once
#include <functional>
#include <string_view>

#include "common/file.h"

namespace faceter {

/// A descriptor to read from, without waiting for somebody to write into a pipe: one in a folder that came from elsewhere would hold us for
/// ever. Pipes that the shell names (/dev/fd/63) are read. Data error naming the path where it is a folder, such a pipe or missing.
int open_to_read(const fs::path& path);

/// Hands the bytes of a file, as open_to_read() opens it, to `take`: pieces of a MiB, and what is left at the end, which may be nothing.
/// Data error naming the path where it cannot be read.
void read_pieces(const fs::path& path, const std::function<void(std::string_view piece)>& take);

}  // namespace faceter
