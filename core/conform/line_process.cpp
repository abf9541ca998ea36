#include "conform/line_process.h"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/error.h"

extern char** environ;

namespace faceter::conform {
namespace {

constexpr int patience_ms = 900'000;  // one that hangs is a finding, not the end

}  // namespace

LineProcess::~LineProcess() { end(); }

void LineProcess::start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw failure("no socket to {}", arguments_.front());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (std::string& argument : arguments_) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    pid_t child = -1;
    const int problem = ::posix_spawn(&child, arguments_.front().c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    socket_ = ends[0];
    if (problem != 0) throw failure("{} could not be started: {}", arguments_.front(), errno_text(problem));
    process_ = child;
    buffer_.clear();
}

void LineProcess::end() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    if (process_ < 0) return;
    ::kill(process_, SIGTERM);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
}

bool LineProcess::write(std::string_view line) const {
    while (!line.empty()) {
        const auto count = ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        line.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

bool LineProcess::read(std::string& line) {
    std::size_t end;
    while ((end = buffer_.find('\n')) == std::string::npos) {
        pollfd ready{socket_, POLLIN, 0};
        char block[65536];
        if (::poll(&ready, 1, patience_ms) <= 0) return false;
        const auto count = ::recv(socket_, block, sizeof block, 0);
        if (count <= 0) return false;
        buffer_.append(block, static_cast<std::size_t>(count));
    }
    line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return true;
}

Json LineProcess::ask(const Json& question) {
    const std::scoped_lock lock(mutex_);
    if (process_ < 0) start();
    std::string line = question.dump() + "\n";
    bool alive = write(line);
    while (alive && (alive = read(line))) {
        Json answer = parse_json(line, arguments_.front());
        if (!answer.contains("progress")) return answer;
    }
    end();
    return {{"error", arguments_.front() + " has ended"}};
}

}  // namespace faceter::conform
