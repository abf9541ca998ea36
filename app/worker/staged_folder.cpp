#include "staged_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "common/abandoned.h"

namespace faceter::worker {
namespace {

/// Of all that is staged for a place.
std::string beginning_of(const fs::path& place) { return fmt::format(".{}.tmp-", place.filename().string()); }

fs::path plain(const fs::path& folder) {
    const fs::path whole = absolute_path(folder);
    return whole.filename().empty() ? whole.parent_path() : whole;
}

/// Without it no folder is read: what a kill leaves of one model and of another is none.
bool makes_a_model(const fs::path& file) { return file.filename() == "config.json" || file.filename() == "adapter_config.json"; }

}  // namespace

StagedFolder::StagedFolder(const fs::path& place) : place_(plain(place)) {
    remove_abandoned(place_);
    staged_ = (fs::exists(place_) ? place_ : place_.parent_path()) / (beginning_of(place_) + std::to_string(::getpid()));
    shown_.emplace(staged_, place_);
    make_directories(staged_);
}

StagedFolder::~StagedFolder() {
    std::error_code ignored;
    fs::remove_all(staged_, ignored);
}

bool StagedFolder::is_empty(const fs::path& folder) {
    const std::string staged = beginning_of(plain(folder));
    return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(),
                       [&](const fs::directory_entry& entry) { return entry.path().filename().string().starts_with(staged); });
}

void StagedFolder::put_in_place() {
    if (staged_.parent_path() != place_) {
        std::error_code ignored;
        fs::remove(place_, ignored);  // a link to nothing
        sync_directory(staged_);
        rename_synced(staged_, place_);
        return;
    }
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(staged_))
        if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(staged_));
    const auto last = std::stable_partition(files.begin(), files.end(), [](const fs::path& file) { return !makes_a_model(file); });
    for (auto file = last; file != files.end(); ++file) fs::remove(place_ / *file);
    for (const fs::path& file : files) {
        make_directories((place_ / file).parent_path());
        rename_synced(staged_ / file, place_ / file);
    }
}

}  // namespace faceter::worker
