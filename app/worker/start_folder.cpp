#include "start_folder.h"

#include <optional>

#include "checkpoint/hub.h"
#include "common/error.h"
#include "record/run_directory.h"

namespace faceter::worker {
namespace {

std::optional<RunDirectory> run_at(const fs::path& folder) {
    std::error_code ignored;
    for (const fs::path& place : {folder, folder.parent_path()})
        if (fs::is_regular_file(place / "run.json", ignored)) return RunDirectory(place);
    return std::nullopt;
}

}  // namespace

fs::path first_start(fs::path folder) {
    constexpr int longest_line = 64;  // of runs, were two to name each other
    try {
        for (int i = 0; i < longest_line; ++i) {
            const auto run = run_at(folder);
            if (!run) break;
            folder = find_model(json_or<std::string>(run->settings(), "model", "", "settings"));
        }
        return folder;
    } catch (const Error&) {
        return {};
    }
}

}  // namespace faceter::worker
