#include <algorithm>
#include <fstream>
#include <regex>

#include "common/error.h"
#include "common/lock_file.h"
#include "common/strings.h"
#include "launch/remote.h"
#include "record/launch.h"

namespace faceter {
namespace {

std::string part_of(const fs::path& path, std::uint64_t offset, std::uint64_t size) {
    std::string bytes(size, '\0');
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    return bytes;
}

/// At the end of what is there, and nowhere else. Another program that follows the same runs (the workbench) may have brought some already.
void append_at(const fs::path& path, std::uint64_t offset, std::string_view bytes) {
    LockFile lock(path);
    lock.wait();
    OutputFile file(path, OutputFile::Mode::append);
    const std::uint64_t size = file.size(), known = size < offset ? 0 : std::min<std::uint64_t>(size - offset, bytes.size());
    if (size < offset || part_of(path, offset, known) != bytes.substr(0, known))
        throw data_error("{}: the other machine goes on at byte {}, but {} are here", path.string(), offset, size);
    file.write(bytes.substr(known));
    file.sync();
    file.close();
}

/// A mirror that was a run, and is none any more: nothing is to be made anew of it.
bool was_deleted(const fs::path& folder, const std::string& id) {
    std::error_code error;
    return folder.filename() == id && !fs::exists(folder / "run.json", error) && !error;
}

void check_id(const std::string& id) {
    static const std::regex pattern("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");
    if (id.size() > 200 || !std::regex_match(id, pattern)) throw data_error("the other machine names a run {}", faceter::quoted(id));
}

}  // namespace

Mirror::Mirror(const Project& project, const Profile& profile, const std::vector<std::string>& ids)
    : runs_folder_(project.runs_folder()), profile_(profile.name), remote_folder_(profile.settings["folder"].get<std::string>()) {
    for (const std::string& id : ids) {
        check_id(id);
        std::error_code ignored;
        const bool made = fs::exists(runs_folder_ / id, ignored);
        if (made) check_mirror(runs_folder_ / id);
        folders_[id] = made ? runs_folder_ / id : runs_folder_ / (std::string(unfinished_prefix) + id);
    }
}

/// A run that is here already is written to only where this very profile brought it.
void Mirror::check_mirror(const fs::path& folder) const {
    const auto launch = read_launch(RunDirectory(folder));
    if (launch && launch->launcher == "ssh" && launch->profile == profile_ && launch->folder == remote_folder_) return;
    throw data_error(
        "{}: the other machine answers with a run of this name, and this one did not come from there (profile '{}'); nothing was changed",
        folder.string(), profile_);
}

/// A mirror that was cut short before it became a run gets run.json again, with which it does.
std::string Mirror::request(bool once) const {
    Json request = feed_request(folders_, once);
    for (const auto& [id, folder] : folders_)
        if (folder.filename() != id) request["runs"][id].erase("run.json");
    return request.dump() + "\n";
}

void Mirror::take(const FeedFrame& frame) {
    if (!frame.head.contains("run")) return;  // a beat
    const auto id = json_at<std::string>(frame.head, "run", "frame");
    if (!folders_.contains(id)) throw data_error("the other machine sends run {}, which was not asked for", faceter::quoted(id));
    if (was_deleted(folders_.at(id), id)) return;
    if (frame.head.contains("file"))
        take_file(id, frame);
    else if (json_or(frame.head, "over", false, "frame"))
        take_end(id, frame.head);
}

void Mirror::take_file(const std::string& id, const FeedFrame& frame) {
    const auto path = json_at<std::string>(frame.head, "file", "frame");
    const bool growing = frame.head.contains("offset");
    if (!is_fed_file(path) || growing != is_growing_file(path))
        throw data_error("the other machine sends {}, which is no file of a run's record", faceter::quoted(path));
    if (path == "run.json") check_named(id, frame.bytes);
    const fs::path file = folders_.at(id) / path;
    make_directories(file.parent_path());
    if (growing)
        append_at(file, json_at<std::uint64_t>(frame.head, "offset", "frame"), frame.bytes);
    else
        write_file_atomic(file, frame.bytes);
    if (path == "run.json") finish_making(id);
    std::error_code ignored;
    if (path.starts_with("journal/")) fs::remove(folders_.at(id) / "control" / "stop", ignored);  // take_end: it has begun since
}

/// Before it takes the place of what is here.
void Mirror::check_named(const std::string& id, const std::string& bytes) const {
    const auto named = json_at<std::string>(parse_json(bytes, "run.json of " + id), "id", "run.json of " + id);
    if (named != id) throw data_error("the other machine sends run {} under the name {}", faceter::quoted(named), id);
}

/// From here on the run exists, whole as far as it goes.
void Mirror::finish_making(const std::string& id) {
    const fs::path folder = folders_.at(id);
    const RunDirectory run(folder);
    write_launch(run, {"ssh", profile_, "", remote_folder_});
    if (folder.filename() == id) return;
    for (const char* part : {"journal", "checkpoints", "results", "figures", "tables", "logs", "control"}) make_directories(folder / part);
    rename_synced(folder, runs_folder_ / id);
    folders_[id] = runs_folder_ / id;
    Project(runs_folder_.parent_path(), false).name_runs();
}

/// A process that died over there without a word cannot be looked for from here: what that machine saw stands in for it.
void Mirror::take_end(const std::string& id, const Json& head) {
    const End end{json_or(head, "exit_code", static_cast<int>(ExitCode::failed), "frame"),
                  json_or<std::string>(head, "cause", "", "frame").substr(0, 2000)};
    const RunDirectory run(folders_.at(id));
    const std::vector<int> attempts = run.attempts();
    if (attempts.empty() && end.exit_code == static_cast<int>(ExitCode::stopped))
        run.request("stop");  // it was stopped before it began
    else if (!attempts.empty() && !is_over(read_state(run).phase) && !read_worker_exit(run, attempts.back()))
        write_worker_exit(run, attempts.back(), {end.exit_code, 0, end.cause});
    ended_[id] = end;
}

}  // namespace faceter
