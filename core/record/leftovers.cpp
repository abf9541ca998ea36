#include "record/leftovers.h"

#include <algorithm>
#include <chrono>
#include <regex>

#include "common/error.h"
#include "record/launch.h"
#include "record/state.h"
#include "record/trash_folders.h"

namespace faceter {
namespace {

constexpr auto settled = std::chrono::hours(24);

/// The newest write in it is a day ago.
bool is_old(const fs::path& path) {
    std::error_code error;
    auto newest = fs::last_write_time(path, error);
    if (error) return false;
    if (fs::is_directory(fs::symlink_status(path, error)))
        for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
            std::error_code ignored;
            if (const auto time = fs::last_write_time(it->path(), ignored); !ignored) newest = std::max(newest, time);
        }
    return !error && fs::file_time_type::clock::now() - newest > settled;
}

/// NAME.tmp-PID-N: a file that AtomicFile was writing.
bool is_temporary(const std::string& name) {
    static const std::regex pattern(".*\\.tmp-[0-9]{1,10}(-[0-9]{1,10})?");
    return name.size() < 300 && std::regex_match(name, pattern);
}

class Search {
  public:
    std::vector<Leftover> found;

    void add(const fs::path& path, const char* what) { found.push_back({path, what, is_old(path)}); }

    /// Calls with the name of each entry of a folder.
    template <typename Body>
    static void each(const fs::path& folder, Body body) {
        std::error_code error;
        for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
            body(it->path(), it->path().filename().string());
    }

    void temporaries(const fs::path& folder) {
        each(folder, [&](const fs::path& path, const std::string& name) {
            if (is_temporary(name)) add(path, "a file that was being written");
        });
    }

    void run_parts(const fs::path& folder) {
        each(folder, [&](const fs::path& path, const std::string& name) {
            if (name.starts_with(".model-")) add(path, "a model that was being written");
            if (name.ends_with(".safetensors.new")) add(path, "a head that was being written");
        });
        each(folder / "checkpoints", [&](const fs::path& path, const std::string& name) {
            if (name.starts_with(".writing-")) add(path, "a checkpoint that was being written");
        });
        each(folder / "control", [&](const fs::path& path, const std::string& name) {
            if (name.starts_with(".probe-") || name.starts_with("lock.held.stale-")) add(path, "a mark of a process that is gone");
        });
        for (const char* part : {"", "results", "figures", "tables", "control"}) temporaries(folder / part);
        each(folder / "journal", [&](const fs::path& path, const std::string&) { temporaries(path); });
    }

    void run(const fs::path& folder) {
        try {
            const RunDirectory opened(folder);
            const RunPhase phase = read_state(opened).phase;
            if (is_over(phase) || (phase == RunPhase::queued && !is_being_submitted(opened))) run_parts(folder);
        } catch (const Error& error) {
            const std::string where = folder.string() + ": ", what = error.what();
            found.push_back({folder, what.starts_with(where) ? what.substr(where.size()) : what, false});
        }
    }

    void runs(const Project& project) {
        each(project.runs_folder(), [&](const fs::path& path, const std::string& name) {
            if (name.starts_with(unfinished_prefix))
                add(path, "a run that was being made");
            else if (!name.starts_with('.'))
                run(path);
        });
    }

    /// Folders of jobs/ or queue/ in which the file is missing that is written when they count.
    void unborn(const fs::path& folder, std::initializer_list<const char*> any_of, const char* what) {
        each(folder, [&](const fs::path& path, const std::string&) {
            std::error_code ignored;
            if (std::none_of(any_of.begin(), any_of.end(), [&](const char* file) { return fs::exists(path / file, ignored); }))
                add(path, what);
            else
                temporaries(path);
        });
    }
};

}  // namespace

std::vector<Leftover> find_leftovers(const Project& project) {
    Search search;
    search.runs(project);
    for (const fs::path& folder : unfinished_removals(project)) search.found.push_back({folder, "a removal that was cut short", true});
    search.unborn(project.folder() / "jobs", {"job.json", "submission.json"}, "a submission that was never made");
    search.unborn(project.folder() / "queue", {"queue.json"}, "a queue that was never made");
    search.temporaries(project.folder());
    Search::each(project.folder(), [&](const fs::path& path, const std::string& name) {
        if (name.starts_with("submitted-") && name.size() == 16) search.add(path, "the copy of an experiment that was being submitted");
    });
    std::sort(search.found.begin(), search.found.end(), [](const Leftover& a, const Leftover& b) { return a.path < b.path; });
    return search.found;
}

std::vector<Leftover> find_cache_leftovers() {
    Search search;
    Search::each(cache_directory() / "debian", [&](const fs::path& path, const std::string& name) {
        if (name.starts_with(".fetch-")) search.add(path, "a package index that was being fetched");
    });
    for (const char* part : {"tokens", "difficulties"}) search.temporaries(cache_directory() / part);
    return search.found;
}

}  // namespace faceter
