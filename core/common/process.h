#pragma once
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace faceter {

/// How a process that is started stands to this one.
enum class Kinship {
    child,    ///< of this process group (Ctrl-C reaches it as well); it may outlive us
    leashed,  ///< leads a group of its own and gets SIGTERM when the thread that started it ends
    orphan,   ///< of a session of its own and nobody's child: never a zombie of ours
};

/// A program started without a shell: arguments reach it as they are. Signals that this process ignores or blocks are as usual in it.
struct ProcessStart {
    std::vector<std::string> arguments;  ///< the program first; without a slash it is looked for in PATH
    Kinship kinship = Kinship::child;
    int input = -1, output = -1, errors = -1;          ///< descriptors; -1: /dev/null for the input, ours for the other two
    std::map<std::string, std::string> environment{};  ///< set beside ours
};

struct StartedProcess {
    pid_t process = -1;  ///< -1 for an orphan
    int error = 0;       ///< errno where it could not be started: no such program, no more processes
};

/// Returns when the program runs or could not be started.
StartedProcess start_process(const ProcessStart& start);

/// Waits for the end of a child: its exit code; 128 + the signal that killed it.
int wait_for_process(pid_t process);

}  // namespace faceter
