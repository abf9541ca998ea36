#include "cli/named_runs.h"

#include <fmt/format.h>

#include <algorithm>

namespace faceter::cli {

std::vector<RunDirectory> find_runs(const Project& project, const std::vector<std::string>& names) {
    std::vector<RunDirectory> runs;
    for (const std::string& name : names) {
        RunDirectory found = project.find_run(name);
        const auto is_found = [&](const RunDirectory& run) { return run.info().id == found.info().id; };
        if (std::none_of(runs.begin(), runs.end(), is_found)) runs.push_back(std::move(found));
    }
    return runs;
}

std::string counted_runs(std::size_t number) { return fmt::format("{} run{}", number, number == 1 ? "" : "s"); }

Json runs_json(const std::vector<RunDirectory>& runs) {
    Json list = Json::array();
    for (const RunDirectory& run : runs)
        list.push_back({{"id", run.info().id}, {"name", run.info().name}, {"folder", run.folder().string()}});
    return {{"runs", list}};
}

}  // namespace faceter::cli
