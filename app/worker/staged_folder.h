#pragma once
#include <optional>

#include "common/shown_place.h"

namespace faceter::worker {

/// A folder that appears when it is done: until then it lies beside its place under another name, or inside of it where the place is there
/// already (a shell may stand in it, it may be a link, or a disk of its own), and goes with all that it holds where put_in_place() was not
/// reached.
class StagedFolder {
  public:
    explicit StagedFolder(const fs::path& place);
    ~StagedFolder();
    StagedFolder(const StagedFolder&) = delete;
    StagedFolder& operator=(const StagedFolder&) = delete;
    const fs::path& path() const { return staged_; }
    const fs::path& place() const { return place_; }
    /// Where something under path(), or that itself, will be: for messages.
    fs::path final_path(const fs::path& staged) const { return staged == staged_ ? place_ : place_ / staged.lexically_relative(staged_); }
    /// A place that is there keeps the files that are not written anew.
    void put_in_place();
    /// Whether there is nothing in a folder but what was staged there by a program that was killed.
    static bool is_empty(const fs::path& folder);

  private:
    fs::path place_, staged_;
    std::optional<ShownPlace> shown_;  ///< errors name the place
};

}  // namespace faceter::worker
