#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace faceter {

/// hash64 of a file's content, read in pieces: a map of a large file would count as memory of this process.
std::uint64_t hash64_file(const std::filesystem::path& path);

/// sha256_file() of hash.h; `piece_read` hears the bytes of each piece, and may throw: a file of many GiB takes minutes.
std::string sha256_file(const std::filesystem::path& path, const std::function<void(std::uint64_t bytes)>& piece_read);

}  // namespace faceter
