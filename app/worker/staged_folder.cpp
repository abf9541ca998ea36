#include "staged_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

namespace faceter::worker {

StagedFolder::StagedFolder(fs::path place) : place_(absolute_path(place)) {
    if (place_.filename().empty()) place_ = place_.parent_path();
    staged_ = place_.parent_path() / fmt::format(".{}.tmp-{}", place_.filename().string(), ::getpid());
    make_directories(staged_);
}

StagedFolder::~StagedFolder() {
    std::error_code ignored;
    fs::remove_all(staged_, ignored);
}

void StagedFolder::put_in_place() {
    std::error_code ignored;
    if (!fs::exists(place_) || fs::is_empty(place_)) {
        fs::remove(place_, ignored);
        sync_directory(staged_);
        rename_synced(staged_, place_);
        return;
    }
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(staged_))
        if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(staged_));
    for (const fs::path& file : files) {
        make_directories((place_ / file).parent_path());
        rename_synced(staged_ / file, place_ / file);
    }
}

}  // namespace faceter::worker
