#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace faceter::worker {

/// Lines on standard error that never wait for who reads them: where a pipe, a terminal or a socket takes no more, or a disk is full, a
/// line is left out, and how many were is said in a line of its own ({"time": ..., "dropped": 12}) before the next one that goes through.
/// write() is called by one thread at a time.
class RequestLog {
  public:
    RequestLog();
    ~RequestLog();
    RequestLog(const RequestLog&) = delete;
    RequestLog& operator=(const RequestLog&) = delete;

    void write(const std::string& line);

  private:
    std::size_t put(std::string_view bytes);

    int own_ = -1;  ///< opened anew where that can be, so as not to wait; standard error's own setting is shared with other programs
    bool is_socket_ = false, may_wait_ = false;
    std::string rest_;  ///< of a line that went through in part
    std::uint64_t dropped_ = 0;
};

}  // namespace faceter::worker
