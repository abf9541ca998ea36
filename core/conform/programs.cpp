#include "conform/programs.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "conform/broken.h"
#include "data/child_process.h"
#include "launch/run_processes.h"

namespace faceter::conform {
namespace {

constexpr std::chrono::seconds patience{900};  // a command that hangs is a finding, not the end
constexpr std::uint64_t most_output = 64u << 20;

std::string shell_line(const std::vector<std::string>& arguments) {
    std::string line = fs::path(arguments.front()).filename().string();
    for (std::size_t i = 1; i < arguments.size(); ++i)
        line += arguments[i].find_first_of(" '\"$*") == std::string::npos ? " " + arguments[i] : " '" + arguments[i] + "'";
    return line;
}

}  // namespace

std::string Outcome::said() const {
    const std::string& text = err.empty() ? out : err;
    return fmt::format("exit code {}: {}", code, text.substr(text.size() > 700 ? text.size() - 700 : 0));
}

std::vector<std::string> EmbedSource::options() const {
    std::vector<std::string> options = {"--model", model};
    if (!project.empty()) options.insert(options.end(), {"--project", project});
    if (!task.empty()) options.insert(options.end(), {"--task", task});
    return options;
}

std::string EmbedSource::command() const {
    std::string text = "faceter embed";
    for (const std::string& option : options()) text += " " + option;
    return text;
}

Embeddings Programs::embed(const EmbedSource& source, const std::vector<std::string>& texts) const {
    const Json params = {
        {"model", source.model}, {"project", source.project.empty() ? "." : source.project}, {"task", source.task}, {"texts", texts}};
    const Json answer = session_->ask({{"id", 1}, {"method", "embed"}, {"params", params}});
    if (answer.contains("error")) throw Broken{"the live worker: " + answer.at("error").dump(), source.command()};
    return Embeddings::of_json(answer.at("result").at("vectors"));
}

Outcome Programs::faceter(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), faceter_.string());
    ChildResult child = run_child(arguments, patience, most_output);
    return {child.exit_code, std::move(child.output), std::move(child.last_lines), shell_line(arguments)};
}

bool Programs::kill_at(const RunDirectory& run, std::uint64_t bytes) const {
    RunProcesses processes(run, worker_.string(), 1);
    bool killed = false;
    while (!processes.over()) {
        std::error_code none;
        const pid_t worker = processes.process(0);
        if (const auto size = fs::file_size(run.attempt_journal(processes.attempt()), none); !none && size >= bytes && !killed)
            killed = ::kill(worker, SIGKILL) == 0;
        int status = 0;
        if (::waitpid(worker, &status, WNOHANG) == worker) {
            killed = killed && WIFSIGNALED(status);
            processes.ended(worker, status);
        }
        ::usleep(1000);
    }
    return killed;
}

}  // namespace faceter::conform
