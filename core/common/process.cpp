#include "common/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

extern char** environ;

namespace faceter {
namespace {

/// All that the new process needs, made before the fork: after it only calls that are safe in a signal handler are.
struct Prepared {
    explicit Prepared(const ProcessStart& start) : words(start.arguments) {
        for (const auto& [name, value] : start.environment) variables.push_back(name + "=" + value);
        for (char** variable = environ; *variable; ++variable)
            if (!start.environment.contains(std::string(std::string_view(*variable).substr(0, std::string_view(*variable).find('=')))))
                variables.emplace_back(*variable);
        arguments = pointers(words);
        environment = pointers(variables);
    }

    static std::vector<char*> pointers(std::vector<std::string>& texts) {
        std::vector<char*> all;
        for (std::string& text : texts) all.push_back(text.data());
        all.push_back(nullptr);
        return all;
    }

    std::vector<std::string> words, variables;
    std::vector<char*> arguments, environment;
};

void set_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void set_descriptors(const ProcessStart& start) {
    ::dup2(start.input >= 0 ? start.input : ::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    if (start.output >= 0) ::dup2(start.output, STDOUT_FILENO);
    if (start.errors >= 0) ::dup2(start.errors, STDERR_FILENO);
}

void set_kinship(Kinship kinship) {
    if (kinship == Kinship::orphan) ::setsid();
    if (kinship != Kinship::leashed) return;
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::setpgid(0, 0);
}

[[noreturn]] void become(const ProcessStart& start, const Prepared& prepared, int report) {
    if (start.kinship == Kinship::orphan && ::fork() > 0) ::_exit(0);
    set_kinship(start.kinship);
    set_descriptors(start);
    set_signals();
    ::execvpe(prepared.arguments.front(), prepared.arguments.data(), prepared.environment.data());
    const int error = errno;
    [[maybe_unused]] const auto wrote = ::write(report, &error, sizeof error);
    ::_exit(127);
}

/// The errno that the new process reports; none where exec closed the pipe.
int reported_error(int report) {
    int error = 0;
    ssize_t got = 0;
    while ((got = ::read(report, &error, sizeof error)) < 0 && errno == EINTR) {
    }
    return got == sizeof error ? error : 0;
}

}  // namespace

StartedProcess start_process(const ProcessStart& start) {
    const Prepared prepared(start);
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) return {-1, errno};
    const pid_t process = ::fork();
    if (process == 0) become(start, prepared, report[1]);
    int error = process < 0 ? errno : 0;
    ::close(report[1]);
    if (!error) error = reported_error(report[0]);
    ::close(report[0]);
    const bool ours = process > 0 && !error && start.kinship != Kinship::orphan;
    if (process > 0 && !ours) wait_for_process(process);
    return {ours ? process : -1, error};
}

int wait_for_process(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace faceter
