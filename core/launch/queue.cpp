#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/error.h"
#include "common/lock_file.h"
#include "common/process.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "experiment/machine.h"
#include "launch/elsewhere.h"
#include "launch/supervisor.h"
#include "record/launch.h"
#include "record/state.h"

namespace faceter {
namespace {

fs::path done_file(const Queue& queue, const fs::path& run) { return queue.folder / "done" / run.filename(); }

/// A supervisor names itself in one of its runs after the other.
bool holds(const Queue& queue, const RunDirectory& run) {
    if (queue.exit_code(run.folder())) return true;
    const auto supervisor = read_supervisor(run);
    return supervisor && supervisor->on_this_machine() && supervisor->alive();
}

std::vector<RunDirectory> without(const std::vector<RunDirectory>& runs, const std::vector<RunDirectory>& others) {
    std::vector<RunDirectory> rest;
    for (const RunDirectory& run : runs)
        if (std::none_of(others.begin(), others.end(), [&](const RunDirectory& other) { return other.folder() == run.folder(); }))
            rest.push_back(run);
    return rest;
}

}  // namespace

Queue Queue::create(const Project& project, const std::vector<RunDirectory>& runs, int jobs, int devices) {
    const fs::path root = project.folder() / "queue";
    make_directories(root);
    std::string name = (root / "q-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw failure("{}: cannot create folder: {}", name, errno_text(errno));
    Queue queue;
    queue.folder = name;
    queue.jobs = jobs;
    queue.devices = devices;
    queue.worker = absolute_path(worker_program()).string();
    make_directories(queue.folder / "done");
    Json paths = Json::array();
    for (const RunDirectory& run : runs) {
        clear_launch(run);
        queue.runs.push_back(run.folder());
        paths.push_back(run.folder().string());
    }
    write_file_atomic(queue.folder / "queue.json",
                      Json{{"runs", paths}, {"jobs", jobs}, {"devices", devices}, {"worker", queue.worker}}.dump(1) + "\n");
    return queue;
}

Queue Queue::open(const fs::path& folder) {
    const fs::path file = folder / "queue.json";
    const Json json = read_json(file, 16 << 20);
    Queue queue;
    queue.folder = absolute_path(folder);
    for (const std::string& run : json_at<std::vector<std::string>>(json, "runs", file.string())) queue.runs.emplace_back(run);
    queue.jobs = std::max(1, json_or(json, "jobs", 1, file.string()));
    queue.devices = std::max(1, json_or(json, "devices", 1, file.string()));
    queue.worker = json_at<std::string>(json, "worker", file.string());
    return queue;
}

std::optional<int> Queue::exit_code(const fs::path& run) const {
    std::error_code ignored;
    const fs::path file = done_file(*this, run);
    if (!fs::exists(file, ignored)) return std::nullopt;
    return static_cast<int>(parse_int(trim(read_file(file, 100))).value_or(static_cast<int>(ExitCode::failed)));
}

bool Queue::supervised() const {
    if (is_locked(lock_file())) return true;
    std::error_code ignored;
    if (!fs::exists(name_file(), ignored)) return false;  // locks hold here
    const auto process = ProcessIdentity::from_json(parse_untrusted_json(read_file(name_file(), 1 << 16)));
    return process.on_this_machine() && process.alive();
}

bool waits_in_queue(const RunDirectory& run, const RunState& state) {
    const auto supervisor = state.phase == RunPhase::queued ? read_supervisor(run) : std::nullopt;
    return supervisor && supervisor->on_this_machine() && supervisor->alive();
}

void refuse_imported(const std::vector<RunDirectory>& runs) {
    for (const RunDirectory& run : runs)
        if (run.info().is_imported())
            throw usage_error("{} holds results that were imported; it has no model that could run", run.info().shown_name());
}

void prepare_resume(const std::vector<RunDirectory>& runs) {
    refuse_imported(runs);
    for (const RunDirectory& run : runs) {
        const RunState state = read_state(run);
        const std::string& id = run.info().shown_name();
        if (state.phase == RunPhase::running) throw usage_error("{} is running; stop it first (faceter stop {})", id, id);
        if (const auto job = read_job(run); job && !job->is_over() && state.phase == RunPhase::queued)
            throw usage_error("{} {}; stop it first (faceter stop {})", id, state.cause, id);
        if (is_being_submitted(run)) throw usage_error("{} {}", id, state.cause);
        if (waits_in_queue(run, state))
            throw usage_error("{} waits in a queue, which will start it; 'faceter queue move {}' lets it start earlier", id, id);
        if (state.phase == RunPhase::silent) throw usage_error("{} may still be running: {}", id, state.cause);
        if (state.phase == RunPhase::done) throw usage_error("{} is done; a rerun runs it anew (faceter rerun {})", id, id);
    }
    for (const RunDirectory& run : runs) run.clear_request("stop");
}

void start_supervisor(const Queue& queue, const std::vector<RunDirectory>& resumed) {
    const int log = ::open((queue.folder / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0) throw failure("{}: cannot create: {}", (queue.folder / "log").string(), errno_text(errno));
    const std::string program = (program_folder() / "faceter").string();  // this program, or the command line beside the desktop
    const auto started = start_process({{program, "supervise", queue.folder.string()}, Kinship::orphan, -1, log, log, {}});
    ::close(log);
    if (started.error) throw failure("{}: cannot start: {}", program, errno_text(started.error));
    const auto is_held = [&](const RunDirectory& run) { return holds(queue, run); };
    const auto has_begun = [&] { return queue.supervised() && std::all_of(resumed.begin(), resumed.end(), is_held); };
    for (int i = 0; i < 500 && !has_begun() && !fs::exists(queue.folder / "ended"); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

Queue start_queue(const Project& project, const std::vector<RunDirectory>& runs, int jobs, int devices,
                  const std::vector<RunDirectory>& resumed) {
    try {
        const fs::path root = project.folder() / "queue";
        make_directories(root);
        LockFile turn(root);
        turn.wait_unless_stopped("another program that starts runs of this project");
        prepare_resume(resumed);
        Queue queue = Queue::create(project, runs, jobs, devices);
        start_supervisor(queue, resumed);
        return queue;
    } catch (const std::exception&) {
        take_back(project, without(runs, resumed));
        throw;
    }
}

}  // namespace faceter
