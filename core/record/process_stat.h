#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace faceter {

/// The fields of /proc/PID/stat behind the process's name (which may hold anything): [0] is field 3 of proc(5), the state. Empty where
/// there is no such process.
std::vector<std::string> process_stat(std::int64_t pid);

}  // namespace faceter
