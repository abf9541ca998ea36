#pragma once
#include <chrono>

#include "common/file.h"

namespace faceter {

enum class LockOutcome {
    taken,
    held,         ///< by somebody else
    unsupported,  ///< this file system has no locks
};

/// flock(2) on a folder, or on a file that is made where it is missing: held until the last copy of its descriptor is closed, which a
/// process that dies does.
class LockFile {
  public:
    enum class Children { without, inherit };  ///< `inherit`: programs that are started hold it as well
    enum class Kind { read, change };          ///< several may hold it to read, one alone to change
    explicit LockFile(const fs::path& path, Children children = Children::without);
    ~LockFile();
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;

    /// Tried for that long; a second passes over somebody who only looks (is_locked).
    LockOutcome try_lock(Kind kind = Kind::change, std::chrono::milliseconds patience = std::chrono::seconds(1));
    /// Waits until it is taken (or unsupported), whatever happens.
    LockOutcome wait();
    /// The same; Error (stopped) on a stop request, which says what was waited for.
    LockOutcome wait_unless_stopped(std::string_view what);

  private:
    LockOutcome lock(int how);
    fs::path path_;
    int descriptor_ = -1;
};

/// True while somebody holds the lock; nothing is made.
bool is_locked(const fs::path& path);

}  // namespace faceter
