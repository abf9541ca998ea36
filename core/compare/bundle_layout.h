#pragma once
#include <string>
#include <string_view>

#include "common/file.h"

namespace faceter {

inline constexpr int bundle_format = 1;

/// Of RUN/: what a bundle takes along, and what open_bundle accepts. Nothing of control/, checkpoints/, logs/ or model/.
bool is_record_file(std::string_view name);

/// "supplement" of "a/supplement.tar.gz": the one folder in the archive.
std::string bundle_name(const fs::path& archive);

}  // namespace faceter
