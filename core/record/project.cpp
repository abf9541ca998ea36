#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "record/run_directory.h"

namespace faceter {
namespace {

constexpr std::size_t max_listed = 10;

/// "mote" or "mote-s2" against a run's variant and seed.
bool is_called(const RunInfo& info, std::string_view name) {
    const std::string lower = lowercase_ascii(name), variant = lowercase_ascii(info.variant);
    return lower == variant || lower == fmt::format("{}-s{}", variant, info.seed);
}

std::string listed(const std::vector<std::string>& ids) {
    std::vector<std::string> some(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), max_listed)));
    return join(some, ", ") + (ids.size() > max_listed ? ", ..." : "");
}

/// The newest run of a variant.
std::string newest_called(const Project& project, std::string_view name) {
    std::string newest, created;
    project.each_run([&](const RunDirectory& run) {
        if (is_called(run.info(), name) && run.info().created >= created) newest = run.info().id, created = run.info().created;
    });
    return newest;
}

}  // namespace

Project::Project(const fs::path& folder, bool create) : folder_(absolute_path(folder)) {
    if (folder_.filename().empty()) folder_ = folder_.parent_path();
    std::error_code ignored;
    if (create)
        make_directories(runs_folder());
    else if (!fs::is_directory(runs_folder(), ignored))
        throw data_error("{}: not a project: it has no folder 'runs'; give the folder that 'faceter run --project' made", folder_.string());
}

std::vector<std::string> Project::run_ids() const {
    std::vector<std::string> ids;
    std::error_code error;
    for (fs::directory_iterator it(runs_folder(), error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (!name.starts_with('.')) ids.push_back(name);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

void Project::each_run(const std::function<void(const RunDirectory&)>& body) const {
    for (const std::string& id : run_ids()) {
        std::optional<RunDirectory> run;
        try {
            run.emplace(runs_folder() / id);
        } catch (const Error& error) {
            if (error.code() != ExitCode::data) throw;
        }
        if (run) body(*run);
    }
}

RunDirectory Project::find_run(std::string_view name) const {
    std::error_code ignored;
    if (!name.empty() && name.find('/') == std::string_view::npos && !name.starts_with('.') &&
        fs::exists(runs_folder() / name / "run.json", ignored))
        return RunDirectory(runs_folder() / name);
    const std::vector<std::string> ids = run_ids();
    std::vector<std::string> found;
    for (const std::string& id : ids)
        if (!name.empty() && id.starts_with(name)) found.push_back(id);
    if (found.empty())
        if (const std::string newest = newest_called(*this, name); !newest.empty()) found = {newest};
    if (found.size() == 1) return RunDirectory(runs_folder() / found.front());
    if (found.size() > 1) throw usage_error("{} stands for several runs: {}; give more of the name", faceter::quoted(name), listed(found));
    throw usage_error("{}: no run {}{}", folder_.string(), faceter::quoted(name),
                      ids.empty() ? "; the project has no runs yet" : "; runs are: " + listed(ids));
}

}  // namespace faceter
