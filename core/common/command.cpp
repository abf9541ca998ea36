#include "common/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "common/error.h"
#include "common/process.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr off_t complaint_bytes = 4096;
constexpr std::size_t most_output = 64u << 20;  // of what answers in lines
thread_local const std::atomic<bool>* abandoned_scope = nullptr;

/// A file without a name: the input of a program can be as long as it likes without either side waiting for the other.
int memory_file(std::string_view content) {
    const int file = ::memfd_create("faceter", MFD_CLOEXEC);
    if (file < 0) throw failure("cannot make a file in memory: {}", errno_text(errno));
    for (std::size_t done = 0; done < content.size();) {
        const ssize_t wrote = ::write(file, content.data() + done, content.size() - done);
        if (wrote < 0 && errno != EINTR) {
            const int error = errno;
            ::close(file);
            throw failure("cannot write a file in memory: {}", errno_text(error));
        }
        done += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
    }
    ::lseek(file, 0, SEEK_SET);
    return file;
}

}  // namespace

Command::Command(const std::vector<std::string>& arguments, std::string_view input, const Environment& environment) {
    const int in = memory_file(input);
    errors_ = memory_file("");
    int out[2];
    if (::pipe2(out, O_CLOEXEC) != 0) throw failure("cannot make a pipe: {}", errno_text(errno));
    output_ = out[0];
    const StartedProcess started = start_process({arguments, Kinship::leashed, in, out[1], errors_, environment});
    for (const int descriptor : {in, out[1]}) ::close(descriptor);
    process_ = started.process;
    if (!started.error) return;
    ::close(output_);
    ::close(errors_);
    throw failure("{}: cannot start: {}", arguments.front(), errno_text(started.error));
}

Command::~Command() {
    if (process_ > 0) {
        end();
    } else {
        ::close(output_);
    }
    ::close(errors_);
}

/// With all that it has started; one that does not listen is killed.
void Command::end() {
    ::kill(-process_, SIGTERM);
    ::close(output_);
    for (int i = 0; i < 100; ++i) {
        if (::waitpid(process_, nullptr, WNOHANG) != 0) return;
        ::usleep(20'000);
    }
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
}

std::optional<std::string> Command::read(int wait_ms) {
    pollfd waiting{output_, POLLIN, 0};
    if (::poll(&waiting, 1, wait_ms) <= 0) return "";
    std::string bytes(1 << 16, '\0');
    const ssize_t got = ::read(output_, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return "";
    if (got <= 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

int Command::finish() {
    const int code = wait_for_process(process_);
    process_ = -1;
    return code;
}

std::string Command::complaint() const {
    struct stat info {};
    const off_t size = ::fstat(errors_, &info) == 0 ? info.st_size : 0;
    std::string text(static_cast<std::size_t>(std::min(size, complaint_bytes)), '\0');
    const ssize_t got = ::pread(errors_, text.data(), text.size(), std::max<off_t>(0, size - complaint_bytes));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(trim(text));
}

AbandonScope::AbandonScope(const std::atomic<bool>& flag) : outer_(std::exchange(abandoned_scope, &flag)) {}
AbandonScope::~AbandonScope() { abandoned_scope = outer_; }
bool abandon_requested() { return abandoned_scope && *abandoned_scope; }

CommandResult run_command(const std::vector<std::string>& arguments, std::string_view input, int limit_s,
                          const std::atomic<bool>* abandon) {
    using Clock = std::chrono::steady_clock;
    if (abandon_requested()) return {124, "", "given up before it was asked"};
    Command command(arguments, input);
    CommandResult result;
    const auto end = Clock::now() + std::chrono::seconds(limit_s);
    const auto is_abandoned = [&] { return (abandon && *abandon) || abandon_requested(); };
    bool too_long = false;
    while (Clock::now() < end && !is_abandoned() && !too_long) {
        const auto more = command.read(200);
        if (!more) {
            result.code = command.finish();
            result.complaint = command.complaint();
            return result;
        }
        result.output += *more;
        too_long = result.output.size() > most_output;
    }
    result.code = 124;
    result.complaint = too_long         ? fmt::format("it answered with more than {} MiB", most_output >> 20)
                       : is_abandoned() ? "given up before it answered"
                                        : fmt::format("no answer within {} s", limit_s);
    if (const std::string said = command.complaint(); !said.empty()) result.complaint += ": " + said;
    return result;
}

std::string shell_word(std::string_view text) {
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

std::string shell_file(std::string_view path) { return shell_word((path.starts_with('-') ? "./" : "") + std::string(path)); }

}  // namespace faceter
