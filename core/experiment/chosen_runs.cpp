#include "experiment/chosen_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"

namespace faceter {
namespace {

bool is_meant(const std::string& run, const std::string& name) { return run == name || run.starts_with(name + "/"); }

void check_named(const Experiment& experiment, const std::string& name) {
    std::vector<std::string> names;
    for (const ResolvedRun& run : experiment.runs()) names.push_back(name_of(run));
    if (std::any_of(names.begin(), names.end(), [&](const std::string& run) { return is_meant(run, name); })) return;
    constexpr std::size_t most_listed = 12;
    const bool more = names.size() > most_listed;
    names.resize(std::min(names.size(), most_listed));
    throw usage_error("{} makes no run {}; its runs are {}{}", experiment.name(), faceter::quoted(name), join(names, ", "),
                      more ? " ..." : "");
}

}  // namespace

std::string name_of(const ResolvedRun& run) {
    return fmt::format("{}{}{}/seed={}", run.variant, run.point.empty() ? "" : "/", run.point, run.seed);
}

std::vector<const ResolvedRun*> chosen_runs(const Experiment& experiment, const ChosenRuns& names) {
    for (const std::string& name : names) check_named(experiment, name);
    std::vector<const ResolvedRun*> runs;
    for (const ResolvedRun& run : experiment.runs())
        if (names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_meant(name_of(run), name); }))
            runs.push_back(&run);
    return runs;
}

}  // namespace faceter
