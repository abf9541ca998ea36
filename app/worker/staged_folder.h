#pragma once
#include "common/file.h"

namespace faceter::worker {

/// A folder that appears when it is done: until then it lies beside its place under another name, and goes with all that it holds where
/// put_in_place() was not reached.
class StagedFolder {
  public:
    explicit StagedFolder(fs::path place);
    ~StagedFolder();
    StagedFolder(const StagedFolder&) = delete;
    StagedFolder& operator=(const StagedFolder&) = delete;
    const fs::path& path() const { return staged_; }
    /// Where something under path(), or that itself, will be: for messages.
    fs::path final_path(const fs::path& staged) const { return staged == staged_ ? place_ : place_ / staged.lexically_relative(staged_); }
    /// A place that is there keeps the files that are not written anew.
    void put_in_place();

  private:
    fs::path place_, staged_;
};

}  // namespace faceter::worker
