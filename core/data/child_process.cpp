#include "data/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/cancel.h"
#include "common/error.h"

extern char** environ;

namespace faceter {
namespace {

struct Pipe {
    Pipe() {
        if (::pipe2(ends, O_CLOEXEC) != 0) throw failure("cannot create a pipe: {}", errno_text(errno));
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    void close_end(int end) {
        if (ends[end] >= 0) ::close(ends[end]);
        ends[end] = -1;
    }
    int ends[2];
};

std::vector<std::string> c_locale_environment() {
    std::vector<std::string> variables{"LC_ALL=C"};
    for (char** variable = environ; *variable; ++variable)
        if (std::string_view(*variable).substr(0, 7) != "LC_ALL=") variables.emplace_back(*variable);
    return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> all;
    for (std::string& text : strings) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

/// The child's process id, or 0 where there is no such program. It leads a process group of its own, so that all of it can be ended.
pid_t spawn(std::vector<std::string> arguments, Pipe& out, Pipe& error) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, error.ends[1], 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<std::string> environment = c_locale_environment();
    pid_t child = 0;
    const int result =
        ::posix_spawnp(&child, arguments[0].c_str(), &actions, &attributes, pointers(arguments).data(), pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (result == ENOENT || result == EACCES) return 0;
    if (result != 0) throw failure("cannot start {}: {}", arguments[0], errno_text(result));
    return child;
}

/// Kills the group and collects the child unless wait() has done so.
class Child {
  public:
    explicit Child(pid_t id) : id_(id) {}
    ~Child() {
        if (id_ <= 0) return;
        ::kill(-id_, SIGKILL);
        wait();
    }
    int wait() {
        int status = 0;
        while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
        }
        id_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

  private:
    pid_t id_;
};

/// Reads what is there; false at the end.
bool drain(int descriptor, std::string& to) {
    char buffer[1 << 16];
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got > 0) to.append(buffer, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, std::chrono::seconds time_limit, std::uint64_t max_output) {
    const auto deadline = std::chrono::steady_clock::now() + time_limit;
    Pipe out, error;
    const pid_t id = spawn(arguments, out, error);
    if (id == 0) return {127, "", arguments[0] + ": no such program"};
    Child child(id);
    out.close_end(1);
    error.close_end(1);
    ChildResult result;
    pollfd watched[2] = {{out.ends[0], POLLIN, 0}, {error.ends[0], POLLIN, 0}};
    while (watched[0].fd >= 0 || watched[1].fd >= 0) {
        ::poll(watched, 2, 200);
        if (stop_requested() != StopRequest::none)
            throw Error(ExitCode::stopped, fmt::format("stopped while {} was running", arguments[0]));
        if (std::chrono::steady_clock::now() > deadline)
            throw data_error("{} took longer than {} s and was ended; check the network and the package sources, then try again",
                             arguments[0], time_limit.count());
        if (watched[0].revents && !drain(watched[0].fd, result.output)) watched[0].fd = -1;
        if (watched[1].revents && !drain(watched[1].fd, result.last_lines)) watched[1].fd = -1;
        if (result.output.size() > max_output)
            throw data_error("{} wrote more than {} bytes; this is not an index of packages", arguments[0], max_output);
        if (result.last_lines.size() > 8192) result.last_lines.erase(0, result.last_lines.size() - 4096);
    }
    result.exit_code = child.wait();
    return result;
}

}  // namespace faceter
