#pragma once
#include <mutex>
#include <string>

#include "common/json.h"

namespace faceter::worker {

/// JSON lines over two descriptors, as the live worker and the workbench speak them: one object a line.
class JsonChannel {
  public:
    static constexpr std::size_t max_line_bytes = std::size_t(64) << 20;
    enum class Read { line, too_long, nothing, end };

    JsonChannel(int input, int output) : input_(input), output_(output) {}
    /// The next line without its line break, or `nothing` after `timeout_ms`. A line that grows beyond max_line_bytes is dropped up to its
    /// end.
    Read next(std::string& line, int timeout_ms);
    /// Writes one line; may be called from any thread. False where nobody reads any more.
    bool write(const Json& message);

  private:
    bool take_line(std::string& line, Read& outcome);
    int input_, output_;
    std::string buffer_;
    std::size_t searched_ = 0;
    bool dropping_ = false, ended_ = false;
    std::mutex writing_;
};

}  // namespace faceter::worker
