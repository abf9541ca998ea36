#pragma once
#include <filesystem>

namespace faceter {

/// Whether a name from outside, "a/b.json", stays in the folder that it is taken in: relative, normal, without "..".
inline bool is_inner_path(const std::filesystem::path& name) {
    return !name.empty() && name.is_relative() && name.lexically_normal().native() == name.native() && *name.begin() != ".." &&
           *name.begin() != "." && name.has_filename();
}

}  // namespace faceter
