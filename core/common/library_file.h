#pragma once
#include <filesystem>

namespace faceter {

/// The file `name` beside the library or program that holds `symbol`, whether it exists or not; empty where the linker does not know.
std::filesystem::path beside_library_of(const void* symbol, const std::filesystem::path& name);

}  // namespace faceter
