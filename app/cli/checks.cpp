#include "cli/checks.h"

#include <unistd.h>

#include <cerrno>

#include "common/file.h"
#include "common/printable.h"
#include "common/strings.h"

namespace faceter::cli {
namespace {

/// "at least 0", "from 1 to 5"
template <typename T>
std::string range_text(T least, T most) {
    return most == std::numeric_limits<T>::max() ? fmt::format("of at least {}", least) : fmt::format("from {} to {}", least, most);
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
    return CLI::Validator(
        [least, most](std::string& text) {
            const auto number = parse_int(text);
            if (!number || *number < least || *number > most)
                return fmt::format("{} is no whole number {}", faceter::quoted(text), range_text(least, most));
            text = std::to_string(*number);
            return std::string();
        },
        "");
}

CLI::Validator finite_number(double least, double most) {
    return CLI::Validator(
        [least, most](std::string& text) {
            const auto number = parse_double(text);
            return number && *number >= least && *number <= most
                       ? std::string()
                       : fmt::format("{} is no number {}", faceter::quoted(text), range_text(least, most));
        },
        "");
}

CLI::Validator not_empty() {
    return CLI::Validator([](std::string& text) { return text.empty() ? std::string("an empty word was given") : std::string(); }, "");
}

void check_can_write(const std::string& file) {
    const fs::path path = absolute_path(file);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) throw_io("write", path, EISDIR);
    const fs::path folder = path.parent_path() / "";  // the slash: of a file in its place it is ENOTDIR, not EACCES
    if (::access(folder.c_str(), W_OK | X_OK) != 0) throw_io("create", path, errno);
}

}  // namespace faceter::cli
