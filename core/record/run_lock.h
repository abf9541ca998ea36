#pragma once
#include <chrono>
#include <optional>

#include "common/lock_file.h"
#include "record/run_directory.h"

namespace faceter {

/// control/lock: one set of processes a run. Programs that are started meanwhile inherit it, so that a worker holds it for as long as it
/// lives, even when its supervisor goes first. On a file system without locks (some of clusters) control/lock.held stands in: it names the
/// holder, which has to call beat(); one that has not been touched for a minute, or whose process is known to be gone, is taken over.
class RunLock {
  public:
    /// Error (failed): another worker is running it.
    explicit RunLock(const RunDirectory& run);
    ~RunLock();
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;
    /// To be called every second or so; touches the file every ten.
    void beat();
    /// Closes this process's copy; what was started meanwhile goes on holding it.
    void leave_to_children() { lock_.reset(); }
    /// False where the lock file had to stand in.
    bool supported() const { return held_.empty(); }

  private:
    void hold_file(const RunDirectory& run);
    std::optional<LockFile> lock_;
    fs::path held_;  ///< lock.held, where it is ours
    std::chrono::steady_clock::time_point beaten_;
};

bool is_run_locked(const RunDirectory& run);

/// True where lock.held names a process of this machine that is gone: the next worker would take it over.
bool has_dead_lock(const RunDirectory& run);
/// Takes it away, where it is still that.
void remove_dead_lock(const RunDirectory& run);

}  // namespace faceter
