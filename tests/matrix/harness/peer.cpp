#include "matrix/harness/peer.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"

extern char** environ;

namespace faceter::matrix {

Peer::Peer(const std::string& python) : python_(python) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) throw failure("no pipe to {}", python);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    std::string script = FACETER_SOURCE_DIR "/tests/matrix/peer_encode.py";
    std::string program = python;
    char* arguments[] = {program.data(), script.data(), nullptr};
    pid_t child = -1;
    const int problem = ::posix_spawn(&child, python.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
    process_ = child;
    if (problem != 0) throw failure("{} could not be started", python);
}

Peer::~Peer() {
    ::close(to_);
    ::close(from_);
    int status = 0;
    ::waitpid(process_, &status, 0);
}

Json Peer::encode(const fs::path& folder, const std::string& prompt, const std::vector<std::string>& texts) {
    return ask({{"folder", folder.string()}, {"prompt", prompt}, {"texts", texts}});
}

Json Peer::ask(const Json& request) {
    const std::scoped_lock lock(mutex_);
    const std::string line = request.dump() + "\n";
    for (std::size_t written = 0; written < line.size();) {
        const auto count = ::write(to_, line.data() + written, line.size() - written);
        if (count <= 0) return {{"error", python_ + " has ended"}};
        written += static_cast<std::size_t>(count);
    }
    std::size_t end;
    while ((end = buffer_.find('\n')) == std::string::npos) {
        char block[65536];
        const auto count = ::read(from_, block, sizeof block);
        if (count <= 0) return {{"error", python_ + " has ended"}};
        buffer_.append(block, static_cast<std::size_t>(count));
    }
    const std::string answer = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return parse_json(answer, "peer_encode.py");
}

}  // namespace faceter::matrix
