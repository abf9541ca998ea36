#pragma once
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QProcess>
#include <QStandardPaths>
#include <set>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/random.h"

namespace faceter::testing {

/// A port that nobody listens on now, below those that the system hands to outgoing connections: until a daemon has it, none of the many
/// connections of tests that run beside this one can take it. Two calls of one process give two ports.
inline int free_port() {
    static RandomStream random(static_cast<std::uint64_t>(::getpid()), "port");
    static std::set<int> given;
    for (;;) {
        const int port = 12'000 + static_cast<int>(random.below(20'000));
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_ANY);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        const bool free = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        ::close(socket);
        if (free && given.insert(port).second) return port;
    }
}

/// A program of the system, also where PATH lacks /usr/sbin; empty where it is not installed.
inline std::string system_program(const char* name) {
    QString found = QStandardPaths::findExecutable(name);
    if (found.isEmpty()) found = QStandardPaths::findExecutable(name, {"/usr/sbin", "/sbin"});
    return found.toStdString();
}

/// A daemon in the foreground, ended with this object.
class Daemon {
  public:
    Daemon(const std::vector<std::string>& command, const fs::path& log) {
        QStringList arguments;
        for (std::size_t i = 1; i < command.size(); ++i) arguments << QString::fromStdString(command[i]);
        process_.setProcessChannelMode(QProcess::MergedChannels);
        process_.setStandardOutputFile(QString::fromStdString(log.string()));
        process_.start(QString::fromStdString(command.front()), arguments);
        process_.waitForStarted();
    }
    ~Daemon() {
        process_.terminate();
        if (!process_.waitForFinished(10'000)) process_.kill();
        process_.waitForFinished(5'000);
    }

  private:
    QProcess process_;
};

/// Sees to it that nothing outlives a test, also one that crashes or is killed: everything whose arguments or environment name the test's
/// folder. It is a process of its own that nobody finds among the test's children; the end of a pipe tells it that the test is gone, and
/// then it removes the folder as well.
class Guardian {
  public:
    explicit Guardian(const fs::path& folder) {
        int tell[2], done[2];
        if (::pipe2(tell, O_CLOEXEC) != 0 || ::pipe2(done, O_CLOEXEC) != 0) return;
        const pid_t child = ::fork();
        if (child == 0) {
            ::setsid();
            if (::fork() != 0) ::_exit(0);
            ::dup2(tell[0], STDIN_FILENO);
            ::dup2(done[1], STDOUT_FILENO);
            ::execl("/bin/sh", "sh", "-c", script, "sh", folder.c_str(), nullptr);
            ::_exit(127);
        }
        ::waitpid(child, nullptr, 0);
        ::close(tell[0]);
        ::close(done[1]);
        tell_ = tell[1];
        done_ = done[0];
    }
    ~Guardian() {
        char byte = '\n';
        [[maybe_unused]] const auto wrote = ::write(tell_, &byte, 1);
        [[maybe_unused]] const auto got = ::read(done_, &byte, 1);  // its end
        ::close(tell_);
        ::close(done_);
    }
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;

  private:
    static constexpr const char* script =
        "read -r line; left=$?\n"
        "for process in /proc/[0-9]*; do\n"
        "    [ $process = /proc/$$ ] || ! grep -qsF -- \"$1\" $process/environ $process/cmdline || kill -9 ${process#/proc/} 2>/dev/null\n"
        "done\n"
        "[ $left = 0 ] || { sleep 1; rm -rf -- \"$1\"; }\n";
    int tell_ = -1, done_ = -1;
};

}  // namespace faceter::testing
