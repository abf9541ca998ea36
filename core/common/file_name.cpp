#include "common/file_name.h"

namespace faceter {

std::string safe_file_name(std::string_view name) {
    std::string safe(name.empty() || name.front() == '.' ? "x" : "");
    for (const char c : name.substr(0, 100)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        safe += plain ? c : '-';
    }
    return safe;
}

}  // namespace faceter
