#pragma once
#include "common/file.h"

namespace faceter {

enum class LockOutcome {
    taken,
    held,         ///< by somebody else
    unsupported,  ///< this file system has no locks
};

/// flock(2) on a file that is made where it is missing: held until the last copy of its descriptor is closed, which a process that dies
/// does.
class LockFile {
  public:
    enum class Children { without, inherit };  ///< `inherit`: programs that are started hold it as well
    explicit LockFile(const fs::path& path, Children children = Children::without);
    ~LockFile();
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;

    LockOutcome try_lock();
    /// Waits until it is taken (or unsupported).
    LockOutcome wait();

  private:
    LockOutcome lock(int how);
    fs::path path_;
    int descriptor_ = -1;
};

/// True while somebody holds the lock; nothing is made.
bool is_locked(const fs::path& path);

}  // namespace faceter
