#include "session/json_channel.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "common/json_text.h"

namespace faceter::worker {

bool JsonChannel::take_line(std::string& line, Read& outcome) {
    const std::size_t at = buffer_.find('\n', searched_);
    if (at == std::string::npos) {
        searched_ = buffer_.size();
        if (buffer_.size() <= max_line_bytes) return false;
        buffer_.clear();
        searched_ = 0;
        outcome = Read::too_long;
        return !std::exchange(dropping_, true);  // said once; the rest of the line goes silently
    }
    line.assign(buffer_, 0, at);
    buffer_.erase(0, at + 1);
    searched_ = 0;
    outcome = Read::line;
    return !std::exchange(dropping_, false);
}

JsonChannel::Read JsonChannel::next(std::string& line, int timeout_ms) {
    for (;;) {
        Read outcome = Read::nothing;
        if (take_line(line, outcome)) return outcome;
        if (outcome != Read::nothing) continue;
        if (ended_) return Read::end;
        pollfd waiting{input_, POLLIN, 0};
        const int ready = ::poll(&waiting, 1, timeout_ms);
        if (ready == 0 || (ready < 0 && errno == EINTR)) return Read::nothing;
        char bytes[65536];
        const ssize_t count = ready < 0 ? -1 : ::read(input_, bytes, sizeof bytes);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) {
            ended_ = true;
            if (!buffer_.empty()) buffer_ += '\n';  // a last line without its line break counts
            continue;
        }
        buffer_.append(bytes, static_cast<std::size_t>(count));
    }
}

bool JsonChannel::write(const Json& message) {
    const std::string line = json_text(message) + "\n";  // texts come from files: nothing in them ends the session
    const std::lock_guard lock(writing_);
    for (std::size_t done = 0; done < line.size();) {
        const ssize_t count = ::write(output_, line.data() + done, line.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        done += static_cast<std::size_t>(count);
    }
    return true;
}

}  // namespace faceter::worker
