#include "common/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace faceter {

LockFile::LockFile(const fs::path& path, Children children) : path_(path) {
    if (const int fault = injected_fault(FileOperation::open, path)) throw_io("create", path, fault);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | (children == Children::inherit ? 0 : O_CLOEXEC), 0666);
    if (descriptor_ < 0) throw_io("create", path, errno);
}

LockFile::~LockFile() { ::close(descriptor_); }

LockOutcome LockFile::lock(int how) {
    if (injected_fault(FileOperation::lock, path_)) return LockOutcome::unsupported;
    int result = 0;
    while ((result = ::flock(descriptor_, how)) != 0 && errno == EINTR) {
    }
    if (result == 0) return LockOutcome::taken;
    return errno == EWOULDBLOCK ? LockOutcome::held : LockOutcome::unsupported;
}

/// Tried for a second: somebody who only looks (is_locked) holds it for an instant, which on a busy machine may be long.
LockOutcome LockFile::try_lock() {
    LockOutcome outcome = lock(LOCK_EX | LOCK_NB);
    for (int i = 0; i < 200 && outcome == LockOutcome::held; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        outcome = lock(LOCK_EX | LOCK_NB);
    }
    return outcome;
}

LockOutcome LockFile::wait() { return lock(LOCK_EX); }

bool is_locked(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool held = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return held;
}

}  // namespace faceter
