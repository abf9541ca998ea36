#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace faceter {

/// What a program ends with; documented in README.md, so that a batch script can decide what to do next.
enum class ExitCode : int {
    done = 0,
    usage = 2,     ///< unknown command, flag or argument
    settings = 3,  ///< an experiment file or a setting is wrong
    data = 4,      ///< a data file or a checkpoint is wrong or missing
    failed = 5,    ///< failed while running
    stopped = 6,   ///< stopped or preempted; a checkpoint was written
    out_of_memory = 7,
    peer_lost = 8,
};

/// An error as a user reads it: what happened, where, what was expected and what to do next, one sentence each.
/// The message is complete: callers print it as it is. `where` (file:line:column) is already in front of it.
class Error : public std::runtime_error {
  public:
    Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    ExitCode code() const { return code_; }

  private:
    ExitCode code_;
};

/// A place in a file as editors write it: "file:line:column"; a line or column of 0 is left out.
struct SourcePosition {
    std::string file;
    std::size_t line = 0;
    std::size_t column = 0;
    std::string text() const;
};

template <typename... Args>
Error usage_error(fmt::format_string<Args...> format, Args&&... args) {
    return {ExitCode::usage, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
Error settings_error(fmt::format_string<Args...> format, Args&&... args) {
    return {ExitCode::settings, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
Error data_error(fmt::format_string<Args...> format, Args&&... args) {
    return {ExitCode::data, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
Error failure(fmt::format_string<Args...> format, Args&&... args) {
    return {ExitCode::failed, fmt::format(format, std::forward<Args>(args)...)};
}

/// What an errno means, in English whatever the locale: messages are searched for and compared.
const char* errno_text(int error);

/// Runs `body` and turns what it throws into the exit code and one line on standard error ("faceter: ...").
/// std::bad_alloc becomes out_of_memory; any other exception `failed`, and so does output that could not be written.
int run_guarded(std::string_view program, int (*body)(int, char**), int argc, char** argv);
/// The exit code of an exception in flight (call inside a catch block) and its message.
std::pair<ExitCode, std::string> describe_current_exception();

}  // namespace faceter
