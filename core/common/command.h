#pragma once
#include <sys/types.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

/// A program that is started without a shell: arguments reach it as they are. It gets its whole standard input at once; its standard error
/// is kept for its end. It does not outlive this object, nor this process.
class Command {
  public:
    using Environment = std::map<std::string, std::string>;  ///< set beside ours
    /// Error (failed): no such program.
    explicit Command(const std::vector<std::string>& arguments, std::string_view input = {}, const Environment& environment = {});
    ~Command();
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    /// More of its standard output, after waiting for some at most so long: empty where there was none; nothing at its end.
    std::optional<std::string> read(int wait_ms);
    /// Waits for its end. The exit code; 128 + the signal that killed it.
    int finish();
    /// What it has written to standard error so far (its last 4 kB), trimmed.
    std::string complaint() const;

  private:
    void end();

    pid_t process_ = -1;
    int output_ = -1, errors_ = -1;
};

struct CommandResult {
    int code = 0;
    std::string output, complaint;
};
/// While it lives, whoever sets the flag gives up what its thread runs: run_command() ends there as if nothing had answered.
class AbandonScope {
  public:
    explicit AbandonScope(const std::atomic<bool>& flag);
    ~AbandonScope();
    AbandonScope(const AbandonScope&) = delete;
    AbandonScope& operator=(const AbandonScope&) = delete;

  private:
    const std::atomic<bool>* outer_;
};
/// Of this thread's scope.
bool abandon_requested();
/// Runs it to its end, at most so many seconds, or until `abandon` is set by somebody who waits for this thread, or its scope's flag (then
/// it is killed and the code is 124, as where it answers with more than 64 MiB).
CommandResult run_command(const std::vector<std::string>& arguments, std::string_view input = {}, int limit_s = 60,
                          const std::atomic<bool>* abandon = nullptr);

/// As one word of a POSIX shell, whatever it holds.
std::string shell_word(std::string_view text);
/// The same of a file, which no program takes for an option.
std::string shell_file(std::string_view path);

}  // namespace faceter
