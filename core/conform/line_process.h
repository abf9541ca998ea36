#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter::conform {

/// A program that answers each JSON line on its standard input with one on its standard output (the live worker, a peer's Python), started
/// with the first question and again after its end. Thread safe: one question at a time.
class LineProcess {
  public:
    explicit LineProcess(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}
    ~LineProcess();
    LineProcess(const LineProcess&) = delete;
    LineProcess& operator=(const LineProcess&) = delete;
    /// The answer; lines that tell progress are passed over. {"error": why} where it ends, or says nothing for a long time.
    Json ask(const Json& question);

  private:
    void start();
    void end();
    bool write(std::string_view line) const;
    bool read(std::string& line);
    std::mutex mutex_;
    std::vector<std::string> arguments_;
    int socket_ = -1;  ///< its standard input and output
    int process_ = -1;
    std::string buffer_;
};

}  // namespace faceter::conform
