#include "cli/named_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "record/launch.h"

namespace faceter::cli {

bool is_name_of(const RunInfo& run, const std::string& name) {
    return run.id.starts_with(name) || lowercase_ascii(run.name) == lowercase_ascii(name);
}

void tell_which_run(const Project& project, const std::string& name, const RunDirectory& run) {
    const RunInfo taken = run.info();
    if (is_name_of(taken, name)) return;
    const std::vector<RunInfo> called = project.runs_called(name);
    if (called.size() < 2) return;
    const bool passed_over = called.back().smoke && !taken.smoke;
    say(stderr, "{} stands for {}, the newest of {}{}\n", name, taken.shown_name(), counted_runs(called.size()),
        passed_over ? " but for those of --smoke" : "");
}

RunDirectory find_run(const Project& project, const std::string& name) { return std::move(find_runs(project, {name}).front()); }

std::vector<RunDirectory> find_single_runs(const Project& project, const std::vector<std::string>& names) {
    return find_runs(project, names, [](const Project& in, const std::string& name, const RunDirectory& run) {
        if (is_name_of(run.info(), name)) return;
        std::vector<std::string> called;
        for (const RunInfo& info : in.runs_called(name)) called.push_back(info.shown_name());
        if (called.size() > 1)
            throw usage_error("{} stands for several runs: {}; name those that are meant", faceter::quoted(name), join(called, ", "));
    });
}

std::vector<RunDirectory> find_runs(const Project& project, const std::vector<std::string>& names, const TellRun& tell) {
    std::vector<RunDirectory> runs;
    for (const std::string& name : names) {
        RunDirectory found = project.find_run(name);
        tell(project, name, found);
        const auto is_found = [&](const RunDirectory& run) { return run.info().id == found.info().id; };
        if (std::none_of(runs.begin(), runs.end(), is_found)) runs.push_back(std::move(found));
    }
    return runs;
}

std::string counted_runs(std::size_t number) { return fmt::format("{} run{}", number, number == 1 ? "" : "s"); }

Json runs_json(const std::vector<RunDirectory>& runs) {
    Json list = Json::array();
    for (const RunDirectory& run : runs) {
        list.push_back({{"id", run.info().id}, {"name", run.info().name}, {"folder", run.folder().string()}});
        if (const auto launch = read_launch(run); launch && !launch->job.empty()) list.back()["job"] = launch->job;
    }
    return {{"runs", list}};
}

}  // namespace faceter::cli
