#include "serve/request_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/strings.h"

namespace faceter::worker {

RequestLog::RequestLog() {
    struct stat info {};
    if (::fstat(STDERR_FILENO, &info) != 0) return;
    is_socket_ = S_ISSOCK(info.st_mode);
    may_wait_ = S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode);
    if (may_wait_) own_ = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

RequestLog::~RequestLog() {
    if (own_ >= 0) ::close(own_);
}

/// How many bytes went through at once; 0 also where there is an error, which must not end the server.
std::size_t RequestLog::put(std::string_view bytes) {
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (may_wait_ && own_ < 0 && (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0)) return 0;
    const ssize_t count = is_socket_ ? ::send(STDERR_FILENO, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                     : ::write(own_ >= 0 ? own_ : STDERR_FILENO, bytes.data(), bytes.size());
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

void RequestLog::write(const std::string& line) {
    if (!rest_.empty()) rest_.erase(0, put(rest_));
    const std::string missing = dropped_ > 0 ? fmt::format("{{\"time\":\"{}\",\"dropped\":{}}}\n", utc_now(), dropped_) : "";
    const std::string all = missing + line;
    const std::size_t gone = rest_.empty() ? put(all) : 0;
    if (gone == 0) {
        ++dropped_;
        return;
    }
    rest_ = all.substr(gone);
    dropped_ = 0;
}

}  // namespace faceter::worker
