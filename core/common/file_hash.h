#pragma once
#include <cstdint>
#include <filesystem>

namespace faceter {

/// hash64 of a file's content, read in pieces: a map of a large file would count as memory of this process.
std::uint64_t hash64_file(const std::filesystem::path& path);

}  // namespace faceter
