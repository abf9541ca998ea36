#include <algorithm>

#include "common/command.h"
#include "common/error.h"
#include "common/strings.h"
#include "record/run_directory.h"
#include "record/run_names.h"
#include "record/state.h"
#include "record/trash_folders.h"

namespace faceter {
namespace {

constexpr std::size_t max_listed = 10;

/// By the names that tables show.
std::string listed(const Project& project, const std::vector<std::string>& ids) {
    std::vector<std::string> some;
    for (const std::string& id : ids) {
        if (some.size() == max_listed) break;
        const std::string name = name_of_run(project.folder(), id, "");
        some.push_back(name.empty() ? id : name);
    }
    return join(some, ", ") + (ids.size() > max_listed ? ", ..." : "");
}

/// What can be read of the runs in a folder that have no name yet.
void add_unnamed(const fs::path& project, const fs::path& folder, const std::vector<std::string>& ids, std::vector<NamedRun>& runs) {
    for (const std::string& id : unnamed_runs(project, ids)) {
        try {
            const RunInfo info = RunDirectory(folder / id).info();
            runs.push_back({info.id, info.variant, info.created, info.smoke, info.name});
        } catch (const Error& error) {
            if (error.code() != ExitCode::data) throw;
        }
    }
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (!name.starts_with('.')) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Records are JSON, and name paths.
fs::path checked_folder(const fs::path& folder) {
    if (folder.empty()) throw usage_error("the name of the project's folder is empty; give --project DIR");
    fs::path absolute = absolute_path(folder);
    if (!is_valid_utf8(absolute.string()))
        throw usage_error("{}: the path of a project must be UTF-8 text; rename the folder, or choose another", absolute.string());
    return absolute;
}

/// A project's runs folder, or a run, taken for the project would get a project's folders within, which no list shows.
void refuse_inside_of_a_project(const fs::path& folder) {
    std::error_code ignored;
    if (fs::is_directory(folder / "runs", ignored)) return;
    const bool is_run = fs::exists(folder / "run.json", ignored) && folder.parent_path().filename() == "runs";
    const fs::path runs = is_run ? folder.parent_path() : folder, project = runs.parent_path();
    if (!is_run && (runs.filename() != "runs" || !fs::exists(project / "names.jsonl", ignored))) return;
    throw usage_error("{}: {} of the project {}; give that folder", folder.string(), is_run ? "is a run" : "holds the runs",
                      project.string());
}

/// A folder that somebody renamed, the run within it is found no more: throws what to do. Nothing where there is none.
void throw_if_renamed(const Project& project, const std::vector<std::string>& names, std::string_view id) {
    if (id.empty()) return;
    for (const std::string& name : names) {
        std::string inside;
        const fs::path file = project.runs_folder() / name / "run.json";
        try {
            inside = json_or<std::string>(read_json(file), "id", "", file.string());
        } catch (const Error&) {
            continue;
        }
        if (inside == id && name != id) RunDirectory(file.parent_path());
    }
}

/// Runs whose run.json cannot be read: what is wrong with the first, and how many there are.
struct Unread {
    std::string first;
    std::size_t count = 0;

    std::string text() const {
        if (count == 0) return "";
        return "; not read: " + first + (count > 1 ? fmt::format(" (and {} more)", count - 1) : "");
    }
};

/// Project::each_run.
Unread each_readable(const Project& project, const std::function<void(const RunDirectory&)>& body) {
    Unread unread;
    for (const std::string& id : project.run_ids()) {
        std::optional<RunDirectory> run;
        std::error_code ignored;
        try {
            run.emplace(project.runs_folder() / id);
        } catch (const Error& error) {
            if (error.code() != ExitCode::data) throw;
            if (!fs::exists(project.runs_folder() / id / "run.json", ignored)) continue;
            if (unread.count++ == 0) unread.first = error.what();
        }
        if (run) body(*run);
    }
    return unread;
}

/// Project::runs_called, and what it could not look at.
std::pair<std::vector<RunInfo>, Unread> called(const Project& project, std::string_view name) {
    std::vector<RunInfo> found;
    Unread unread = each_readable(project, [&](const RunDirectory& run) {
        if (is_called(run.info(), name)) found.push_back(run.info());
    });
    std::reverse(found.begin(), found.end());  // of one moment the last by name stands first
    std::stable_sort(found.begin(), found.end(), [](const RunInfo& a, const RunInfo& b) { return a.created > b.created; });
    const bool smoke_goes_on =
        found.size() > 1 && found.front().smoke && !is_over(read_state(RunDirectory(project.runs_folder() / found.front().id)).phase);
    if (!smoke_goes_on) std::stable_partition(found.begin(), found.end(), [](const RunInfo& one) { return !one.smoke; });
    return {std::move(found), std::move(unread)};
}

}  // namespace

bool is_called(const RunInfo& run, std::string_view name) {
    const std::string lower = lowercase_ascii(name), variant = lowercase_ascii(run.variant);
    return lower == variant || lower == fmt::format("{}-s{}", variant, run.seed);
}

Project::Project(const fs::path& folder, bool create) : folder_(checked_folder(folder)) {
    if (folder_.filename().empty()) folder_ = folder_.parent_path();
    if (create) {
        refuse_inside_of_a_project(folder_);
        make_directories(runs_folder());
    }
    std::error_code error;
    const bool there = fs::is_directory(runs_folder(), error);
    if (error && error != std::errc::no_such_file_or_directory)
        throw data_error("{}: cannot be looked at: {}", runs_folder().string(), errno_text(error.value()));
    if (!there)
        throw data_error("{}: not a project: it has no folder 'runs'; give the folder that 'faceter run --project' made", folder_.string());
}

std::vector<std::string> Project::run_ids() const { return names_in(runs_folder()); }

void Project::name_runs() const {
    std::vector<NamedRun> unnamed;
    add_unnamed(folder_, runs_folder(), run_ids(), unnamed);
    for (const fs::path& folder : trash_folders(folder_)) add_unnamed(folder_, folder, names_in(folder), unnamed);
    give_run_names(folder_, std::move(unnamed));
}

void Project::each_run(const std::function<void(const RunDirectory&)>& body) const { each_readable(*this, body); }

std::vector<RunInfo> Project::runs_called(std::string_view name) const { return called(*this, name).first; }

RunDirectory Project::find_run(std::string_view name) const {
    std::error_code ignored;
    if (!name.empty() && name.find('/') == std::string_view::npos && !name.starts_with('.') &&
        fs::exists(runs_folder() / name / "run.json", ignored))
        return RunDirectory(runs_folder() / name);
    name_runs();
    const std::vector<std::string> ids = run_ids();
    if (const auto id = id_of_name(folder_, name)) {
        if (std::binary_search(ids.begin(), ids.end(), *id)) return RunDirectory(runs_folder() / *id);
        const bool in_trash = !find_in_trash(*this, *id).empty();
        if (!in_trash) throw_if_renamed(*this, ids, *id);
        throw usage_error("{}: run {} ({}) {}", folder_.string(), name, *id,
                          in_trash ? fmt::format("is in the trash; faceter restore {} --project {}", name, shell_word(folder_.string()))
                                   : "was deleted; no other run gets its name");
    }
    std::vector<std::string> found;
    for (const std::string& id : ids)
        if (!name.empty() && id.starts_with(name)) found.push_back(id);
    Unread unread;
    if (found.empty()) {
        const auto [runs, others] = called(*this, name);
        if (!runs.empty()) found = {runs.front().id};
        unread = others;
    }
    if (found.size() == 1) return RunDirectory(runs_folder() / found.front());
    if (found.empty()) throw_if_renamed(*this, ids, name);
    if (found.size() > 1)
        throw usage_error("{} stands for several runs: {}; give a whole name", faceter::quoted(name), listed(*this, found));
    throw usage_error("{}: no run {}{}{}", folder_.string(), faceter::quoted(name),
                      ids.empty() ? "; the project has no runs yet" : "; runs are: " + listed(*this, ids), unread.text());
}

}  // namespace faceter
