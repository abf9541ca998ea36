#include <algorithm>
#include <map>

#include "cli/commands.h"
#include "common/command.h"
#include "common/error.h"
#include "common/printable.h"
#include "data/file_ending.h"
#include "record/state.h"
#include "settings/yaml.h"

namespace faceter::cli {
namespace {

constexpr std::size_t most_named = 5;

/// "experiment", "study", or nothing of ours.
std::string kind_of(const fs::path& file) {
    try {
        const YamlNode root = read_yaml(file.string());
        return root.find("claims") ? "study" : root.find("variants") || root.find("tasks") ? "experiment" : "";
    } catch (const Error&) {
        return "";
    }
}

/// What `faceter init` takes.
bool is_table(const fs::path& file) {
    const std::string ending = data_ending(file);
    return ending == ".csv" || ending == ".tsv" || ending == ".jsonl" || ending == ".parquet";
}

/// Other programs have folders called "runs" as well.
bool is_project(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator it(folder / "runs", error), end; !error && it != end; it.increment(error))
        if (fs::is_regular_file(it->path() / "run.json", error)) return true;
    return false;
}

std::map<std::string, std::vector<std::string>> files_here() {
    std::map<std::string, std::vector<std::string>> files;
    std::error_code error;
    for (fs::directory_iterator it(".", error), end; !error && it != end; it.increment(error)) {
        if (is_table(it->path()) && it->is_regular_file(error)) files["table"].push_back(shell_file(it->path().filename().string()));
        if (is_project(it->path())) files["project"].push_back(it->path().filename().string());
        if (it->path().extension() == ".yaml")
            if (const std::string kind = kind_of(it->path()); !kind.empty()) files[kind].push_back(typed(it->path().filename().string()));
    }
    for (auto& [kind, names] : files) std::sort(names.begin(), names.end());
    return files;
}

/// "2 done, 1 running"
std::string counts_text(const std::map<std::string, int>& phases) {
    std::string text;
    for (const auto& [phase, count] : phases) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, phase);
    return text;
}

struct RunsHere {
    std::map<std::string, int> phases;
    std::vector<std::string> running, resumable;
    int done = 0;
};

RunsHere runs_of(const Project& project) {
    RunsHere here;
    project.name_runs();
    project.each_run([&](const RunDirectory& run) {
        const RunState state = read_state(run);
        ++here.phases[std::string(run_phase_name(state.phase))];
        here.done += state.phase == RunPhase::done;
        if (state.phase == RunPhase::running)
            here.running.push_back(fmt::format("{}  {} {}/{}", run.info().shown_name(), state.doing, state.step, state.total_steps));
        if (is_over(state.phase) && state.phase != RunPhase::done && !run.info().is_imported())
            here.resumable.push_back(run.info().shown_name());
    });
    return here;
}

void print_some(const std::vector<std::string>& lines, const std::string& before) {
    for (std::size_t i = 0; i < std::min(lines.size(), most_named); ++i) say(stdout, "  {}{}\n", before, lines[i]);
    if (lines.size() > most_named) fmt::print("  ... and {} more\n", lines.size() - most_named);
}

void print_project(const Project& project) {
    const RunsHere here = runs_of(project);
    const std::string counts = counts_text(here.phases);
    say(stdout, "Project {}: {}\n", absolute_path(project.folder()).lexically_normal().string(), counts.empty() ? "no runs yet" : counts);
    print_some(here.running, "");
    if (!here.running.empty()) fmt::print("  faceter follow   watches them\n");
    print_some(here.resumable, "faceter resume ");
    if (here.done > 0) fmt::print("  faceter compare   the scores, with tests\n  faceter report --output report.html\n");
}

/// Of projects below this folder: how their runs stand, and the command that lists them.
void print_projects(const std::vector<std::string>& names) {
    fmt::print("Projects here:\n");
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::map<std::string, int> phases;
        if (i < most_named)
            Project(names[i], false).each_run([&](const RunDirectory& run) {
                ++phases[std::string(run_phase_name(read_state(run).phase))];
            });
        lines.push_back(fmt::format("{}   {}", typed(names[i]), counts_text(phases)));
    }
    print_some(lines, "faceter list --project ");
}

}  // namespace

bool print_overview() {
    const char* set = std::getenv("FACETER_PROJECT");
    const bool named = set && *set && fs::is_directory(fs::path(set) / "runs");
    const bool project = named || fs::is_directory("runs");
    auto files = files_here();
    if (project) files.erase("table");  // its own lists of names
    const std::vector<std::string> projects = project ? std::vector<std::string>() : files["project"];
    files.erase("project");
    if (!projects.empty()) print_projects(projects);
    if (!project && projects.empty() && files.empty()) return false;
    if (project) print_project(Project(named ? set : ".", false));
    const std::string into = named ? typed(set) : project ? "." : projects.size() == 1 ? typed(projects.front()) : "DIR";
    for (const auto& [kind, names] : files) {
        const bool study = kind == "study", table = kind == "table";
        fmt::print("{} here:\n", study ? "Studies" : table ? "Tables" : "Experiments");
        print_some(names, study ? "faceter study status --project DIR " : table ? "faceter init " : "faceter check ");
        if (kind == "experiment") say(stdout, "  faceter run {} --project {}\n", names.front(), into);
    }
    fmt::print("All commands: faceter --help\n");
    return true;
}

}  // namespace faceter::cli
