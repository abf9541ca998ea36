#include "experiment/chosen_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"

namespace faceter {
namespace {

/// MoTE/learning_rate=1e-05 of MoTE/learning_rate=1e-05/seed=1.
std::string name_over_seeds(const ResolvedRun& run) { return run.variant + (run.point.empty() ? "" : "/") + run.point; }

bool is_meant(const ResolvedRun& run, const std::string& name) {
    return name == run.variant || name == name_over_seeds(run) || name == name_of(run);
}

/// All that is_meant() takes.
std::vector<std::string> parts_and_wholes(const Experiment& experiment) {
    std::vector<std::string> names;
    for (const ResolvedRun& run : experiment.runs()) names.insert(names.end(), {run.variant, name_over_seeds(run), name_of(run)});
    return names;
}

void check_named(const Experiment& experiment, const std::string& name) {
    std::vector<std::string> names;
    for (const ResolvedRun& run : experiment.runs()) {
        if (is_meant(run, name)) return;
        names.push_back(name_of(run));
    }
    const auto near = nearest(name, parts_and_wholes(experiment));
    constexpr std::size_t most_listed = 12;
    const bool more = names.size() > most_listed;
    names.resize(std::min(names.size(), most_listed));
    throw usage_error("{} makes no run {}; {}its runs are {}{}", experiment.name(), faceter::quoted(name),
                      near ? fmt::format("did you mean '{}'? ", *near) : "", join(names, ", "), more ? " ..." : "");
}

}  // namespace

std::string name_of(const ResolvedRun& run) { return fmt::format("{}/seed={}", name_over_seeds(run), run.seed); }

std::vector<const ResolvedRun*> chosen_runs(const Experiment& experiment, const ChosenRuns& names) {
    for (const std::string& name : names) check_named(experiment, name);
    std::vector<const ResolvedRun*> runs;
    for (const ResolvedRun& run : experiment.runs())
        if (names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_meant(run, name); }))
            runs.push_back(&run);
    return runs;
}

}  // namespace faceter
