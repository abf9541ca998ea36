#pragma once
#include <string>
#include <string_view>

namespace faceter {

/// Letters, digits, '.', '_' and '-' as they are, everything else '-'; never empty, never starting with '.', at most 101 bytes. Different
/// names may have one file name.
std::string safe_file_name(std::string_view name);

}  // namespace faceter
