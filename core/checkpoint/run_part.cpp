#include "checkpoint/run_part.h"

namespace faceter {

std::filesystem::path part_of_run(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
    const std::filesystem::path group = path.parent_path();
    const std::filesystem::path in_model = group.parent_path() / "model" / group.filename() / path.filename();
    return std::filesystem::exists(in_model, ignored) ? in_model : path;
}

}  // namespace faceter
