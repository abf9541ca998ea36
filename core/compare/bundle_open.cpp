#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "common/archive.h"
#include "common/command.h"
#include "common/error.h"
#include "common/file_name.h"
#include "common/hash.h"
#include "common/inner_path.h"
#include "common/lock_file.h"
#include "common/strings.h"
#include "compare/bundle.h"
#include "compare/bundle_layout.h"
#include "compare/study.h"
#include "record/trash_folders.h"

namespace faceter {
namespace {

/// What bundle.json may have: the name of a file is within 4 KiB, and written with escapes at most six times as long.
constexpr std::uint64_t longest_card = std::uint64_t{1} << 20, longest_entry = std::uint64_t{25} << 10;

/// An extracted bundle, checked file by file.
class Unpacked {
  public:
    Unpacked(const fs::path& archive, const fs::path& folder) : name_(archive.string()) {
        const std::size_t num_files = extract_archive(archive, folder);
        top_ = only_folder(folder);
        const Json card = read_card(num_files);
        check_files(card);
        for (const auto& id : json_at<std::vector<std::string>>(card, "runs", name_)) runs_.push_back(check_run(id));
        check_each_record_belongs();
    }
    const fs::path& top() const { return top_; }
    const std::vector<RunDirectory>& runs() const { return runs_; }

  private:
    [[noreturn]] void refuse(const std::string& what) const { throw data_error("{}: {}; nothing was taken from it", name_, what); }

    fs::path only_folder(const fs::path& folder) const {
        std::vector<fs::path> inside;
        for (const auto& entry : fs::directory_iterator(folder)) inside.push_back(entry.path());
        if (inside.size() != 1 || !fs::is_regular_file(inside.front() / "bundle.json"))
            refuse("is no bundle: it has no folder with a bundle.json; 'faceter bundle' makes one");
        return inside.front();
    }

    Json read_card(std::size_t num_files) const {
        const std::uint64_t most = std::min(std::uint64_t{1} << 28, longest_card + num_files * longest_entry);
        const Json card = read_json(top_ / "bundle.json", most);
        if (json_at<int>(card, "faceter_bundle", name_) != bundle_format)
            refuse(fmt::format("is a bundle of another form; {} is expected", bundle_format));
        return card;
    }

    void check_files(const Json& card) const {
        std::map<std::string, std::string> listed;
        for (const Json& file : json_at<Json>(card, "files", name_))
            listed[json_at<std::string>(file, "path", name_)] = json_at<std::string>(file, "sha256", name_);
        for (const auto& entry : fs::recursive_directory_iterator(top_)) {
            if (entry.is_directory()) continue;
            const std::string name = entry.path().lexically_relative(top_).string();
            if (name == "bundle.json") continue;
            const auto at = listed.find(name);
            if (at == listed.end()) refuse(fmt::format("holds {}, which bundle.json does not list", faceter::quoted(name)));
            if (sha256_file(entry.path()) != at->second)
                refuse(fmt::format("{} is not what was bundled, its SHA-256 differs", faceter::quoted(name)));
            listed.erase(at);
        }
        if (!listed.empty()) refuse(fmt::format("{} is missing", faceter::quoted(listed.begin()->first)));
    }

    RunDirectory check_run(const std::string& id) const {
        if (!is_inner_path(id) || safe_file_name(id) != id) refuse(fmt::format("names a run {}", faceter::quoted(id)));
        const fs::path folder = top_ / "runs" / id;
        if (!fs::is_directory(folder)) refuse(fmt::format("lacks the run {}", faceter::quoted(id)));
        for (const auto& entry : fs::recursive_directory_iterator(folder))
            if (const std::string name = entry.path().lexically_relative(folder).string(); !entry.is_directory() && !is_record_file(name))
                refuse(fmt::format("its run {} holds {}, which no bundle holds", id, faceter::quoted(name)));
        return RunDirectory(folder);
    }

    void check_each_record_belongs() const {
        std::set<std::string> known;
        for (const RunDirectory& run : runs_) known.insert(run.info().id);
        if (known.size() != runs_.size()) refuse("names a run twice");
        if (!fs::is_directory(top_ / "runs")) return;
        for (const auto& entry : fs::directory_iterator(top_ / "runs"))
            if (!known.contains(entry.path().filename().string()))
                refuse(fmt::format("holds runs/{}, which bundle.json does not name", entry.path().filename().string()));
    }

    std::string name_;
    fs::path top_;
    std::vector<RunDirectory> runs_;
};

/// What readers of its files say names them as files of the archive: the folder is gone when somebody reads it.
Unpacked unpack(const fs::path& archive, const fs::path& folder) {
    try {
        return Unpacked(archive, folder);
    } catch (const Error& error) {
        if (error.code() != ExitCode::data) throw;
        std::string message = error.what();
        const std::string there = folder.string() + "/";
        for (std::size_t at = 0; (at = message.find(there)) != std::string::npos;)
            message.replace(at, there.size(), archive.string() + ": ");
        throw Error(error.code(), message);
    }
}

/// What a run's folder has besides its record.
void add_empty_folders(const fs::path& run) {
    for (const char* part : {"journal", "checkpoints", "results", "figures", "tables", "logs", "control"}) make_directories(run / part);
}

fs::path made_folder(const fs::path& folder) {
    make_directories(folder);
    return folder;
}

/// Within the project, so that runs are renamed into it; gone at the end. One at a time: who comes meanwhile waits.
struct WorkFolder {
    explicit WorkFolder(const fs::path& bundles) : path(bundles / ".opening"), lock_(made_folder(bundles)) {
        lock_.wait();
        remove_tree(path);  // of one that was killed
        make_directories(path);
    }
    ~WorkFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    const fs::path path;

  private:
    LockFile lock_;
};

/// The deleted one could not be restored beside it, nor this one be moved to the trash.
void check_not_in_trash(const Unpacked& unpacked, const Project& project) {
    for (const RunDirectory& run : unpacked.runs()) {
        const std::string& id = run.info().id;
        if (!fs::exists(project.runs_folder() / id) && !find_in_trash(project, id).empty())
            throw usage_error("{} is in the trash, and nothing was taken; to bring it back: faceter restore {} --project {}",
                              run.info().shown_name(), id, shell_word(project.folder().string()));
    }
}

/// Scores of the bundle's record that the project's has otherwise, or not at all.
bool has_other_results(const RunDirectory& bundled, const fs::path& here) {
    if (!fs::is_directory(bundled.results())) return false;
    for (const auto& entry : fs::directory_iterator(bundled.results())) {
        const fs::path same = here / "results" / entry.path().filename();
        if (!fs::is_regular_file(same) || sha256_file(same) != sha256_file(entry.path())) return true;
    }
    return false;
}

/// What a study had decided at its first run, and what was changed since, for its report here; one that the project has stays.
class StudyDecided {
  public:
    StudyDecided(const fs::path& top, const Project& project) : record_(top / "study/record.json") {
        if (!fs::is_regular_file(record_)) return;
        const Json plan = json_at<Json>(read_json(record_), "plan", record_.string());
        place_ = study_record_file(project.folder(), json_at<std::string>(plan, "name", record_.string()));
    }
    void take() const {
        if (place_.empty() || fs::exists(place_)) return;
        make_directories(place_.parent_path());
        write_file_atomic(place_, read_file(record_));
    }

  private:
    fs::path record_, place_;
};

}  // namespace

bool is_record_file(std::string_view name) {
    static const std::regex known(R"((run\.json|experiment\.yaml|user\.jsonl|journal/[0-9]{1,6}/(rank-[0-9]{1,5}\.jsonl|exit\.json)|)"
                                  R"((results|figures|tables)/[A-Za-z0-9_-][A-Za-z0-9._-]*\.json))");
    return std::regex_match(name.begin(), name.end(), known);
}

std::string bundle_name(const fs::path& archive) {
    std::string name = archive.filename().string();
    for (const char* ending : {".gz", ".tgz", ".tar"})
        if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
    return safe_file_name(name);
}

OpenedBundle open_bundle(const fs::path& archive, const Project& project) {
    if (!fs::is_regular_file(archive)) throw data_error("{}: no such file; 'faceter bundle' makes one", archive.string());
    const fs::path bundles = project.folder() / "bundles";
    OpenedBundle opened{bundles / bundle_name(archive), {}, {}, {}};
    const WorkFolder work(bundles);
    if (fs::exists(opened.folder))
        throw usage_error("{}: it was opened there before; remove the folder to open it again", opened.folder.string());
    const Unpacked unpacked = unpack(archive, work.path);
    check_not_in_trash(unpacked, project);
    const StudyDecided decided(unpacked.top(), project);
    for (const RunDirectory& run : unpacked.runs()) {
        const std::string& id = run.info().id;
        const fs::path place = project.runs_folder() / id;
        if (fs::exists(place)) {
            opened.known.push_back(id);
            if (has_other_results(run, place)) opened.differing.push_back(id);
            continue;
        }
        add_empty_folders(run.folder());
        make_directories(place.parent_path());
        rename_synced(run.folder(), place);
        opened.runs.push_back(id);
    }
    decided.take();
    remove_tree(unpacked.top() / "runs");
    rename_synced(unpacked.top(), opened.folder);
    project.name_runs();
    return opened;
}

}  // namespace faceter
