#include "common/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "common/cancel.h"
#include "common/error.h"

namespace faceter {

LockFile::LockFile(const fs::path& path, Children children) : path_(path) {
    if (const int fault = injected_fault(FileOperation::open, path)) throw_io("create", path, fault);
    std::error_code ignored;
    // A link in a folder that came from elsewhere makes no file where it leads.
    const int access = fs::is_directory(path, ignored) ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT | O_NOFOLLOW;
    descriptor_ = ::open(path.c_str(), access | (children == Children::inherit ? 0 : O_CLOEXEC), 0666);
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

LockOutcome LockFile::try_lock(Kind kind, std::chrono::milliseconds patience) {
    const int how = (kind == Kind::read ? LOCK_SH : LOCK_EX) | LOCK_NB;
    const auto end = std::chrono::steady_clock::now() + patience;
    LockOutcome outcome = lock(how);
    while (outcome == LockOutcome::held && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        outcome = lock(how);
    }
    return outcome;
}

LockOutcome LockFile::wait() { return lock(LOCK_EX); }

LockOutcome LockFile::wait_unless_stopped(std::string_view what) {
    while (true) {
        const LockOutcome outcome = try_lock(Kind::change, std::chrono::milliseconds(200));
        if (outcome != LockOutcome::held) return outcome;
        if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, fmt::format("stopped while waiting for {}", what));
    }
}

bool is_locked(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // it may be another user's, or a pipe
    if (descriptor < 0) return false;
    const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;  // others who look do not count
    ::close(descriptor);
    return held;
}

}  // namespace faceter
