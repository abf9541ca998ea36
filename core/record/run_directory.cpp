#include "record/run_directory.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>

#include <fmt/chrono.h>

#include "common/error.h"
#include "common/file_name.h"
#include "common/in_place.h"
#include "common/lock_file.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "experiment/machine.h"
#include "record/run_names.h"
#include "record/trash_folders.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

constexpr int run_format = 1;
constexpr std::uint64_t max_run_bytes = 16 << 20;
constexpr int max_attempts = 100'000;
constexpr std::size_t longest_name = 64;  // of those that are given
constexpr std::size_t max_tags = 1000;    // of a run; each is compared with all of them

std::string compact_time() {
    return fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::string random_suffix() { return fmt::format("{:04x}", std::random_device{}() & 0xffff); }

std::string name_part(const std::string& text, std::size_t longest) {
    const std::string part = word_of_name(text, longest);
    return part.empty() ? "x" : lowercase_ascii(part);
}

/// Empty where it is none.
std::string name_of_result(const Json& json) {
    const auto name = json.is_object() && json.contains("score") ? json.find("name") : json.end();
    return name != json.end() && name->is_string() ? name->get<std::string>() : "";
}

Json info_to_json(const RunInfo& info) {
    return {{"faceter_run", run_format}, {"id", info.id},
            {"name", info.name},         {"variant", info.variant},
            {"method", info.method},     {"experiment", info.experiment},
            {"plugin", info.plugin},     {"point", info.point},
            {"seed", info.seed},         {"created", info.created},
            {"parent", info.parent},     {"version", info.version},
            {"smoke", info.smoke},       {"settings", info.settings}};
}

RunInfo info_from_json(const Json& json, const std::string& name) {
    if (json_at<int>(json, "faceter_run", name) != run_format)
        throw data_error("{}: a run of another form of Faceter; {} is expected", name, run_format);
    RunInfo info;
    info.id = json_at<std::string>(json, "id", name);
    info.name = json_or<std::string>(json, "name", "", name);
    info.experiment = json_or<std::string>(json, "experiment", "", name);
    info.variant = json_at<std::string>(json, "variant", name);
    info.method = json_at<std::string>(json, "method", name);
    info.plugin = json_or<std::string>(json, "plugin", "", name);
    info.point = json_or<std::string>(json, "point", "", name);
    info.seed = json_at<std::uint64_t>(json, "seed", name);
    info.created = json_or<std::string>(json, "created", "", name);
    info.parent = json_or<std::string>(json, "parent", "", name);
    info.version = json_or<std::string>(json, "version", "", name);
    info.smoke = json_or(json, "smoke", false, name);
    info.settings = json_at<Json>(json, "settings", name);
    if (!info.settings.is_object()) throw data_error("{}: member 'settings' must be an object", name);
    return info;
}

void fill_run(const fs::path& project, const fs::path& folder, RunInfo& info, std::string_view experiment_text) {
    for (const char* part : {"journal", "checkpoints", "results", "figures", "tables", "logs", "control"}) make_directories(folder / part);
    write_file_atomic(folder / "experiment.yaml", experiment_text);
    // A name that is given is never given again: first it must be known that the disk has room for the rest.
    const fs::path file = folder / "run.json";
    info.name = std::string(longest_name, 'x');
    write_file_atomic(file, info_to_json(info).dump(1) + "\n");
    info.name = give_run_name(project, {info.id, info.variant, info.created, info.smoke, ""});
    remove_file(file);
    write_file_atomic(file, info_to_json(info).dump(1) + "\n");
}

RunDirectory create_run(const fs::path& project, RunInfo info, std::string_view experiment_text) {
    const fs::path runs = project / "runs";
    make_directories(runs);
    const std::string stem =
        fmt::format("{}-{}-s{}-{}", name_part(info.experiment, 40), name_part(info.variant, 24), info.seed, compact_time());
    info.created = utc_now();
    info.version = FACETER_VERSION;
    for (int trial = 0; trial < 100; ++trial) {
        info.id = stem + "-" + random_suffix();
        const fs::path folder = runs / info.id, temporary = runs / (std::string(unfinished_prefix) + info.id);
        std::error_code ignored;
        if (fs::exists(fs::symlink_status(folder, ignored)) || !make_directory(temporary)) continue;
        try {
            fill_run(project, temporary, info, experiment_text);
            rename_synced(temporary, folder);
        } catch (const Error&) {  // a disk that is full: nothing of it stays
            std::error_code kept;
            fs::remove_all(temporary, kept);
            throw;
        }
        return RunDirectory(folder);
    }
    throw failure("{}: cannot find a free name for a run", runs.string());
}

void check_identity(const fs::path& folder, const std::string& id) {
    const std::string name = folder.filename().string();
    if (name == id || name == std::string(unfinished_prefix) + id) return;
    std::error_code ignored;
    const fs::path project = folder.parent_path().parent_path();
    std::vector<fs::path> places = trash_folders(project);
    places.insert(places.end(), {folder.parent_path(), project / "runs"});
    const auto holds_it = [&](const fs::path& place) { return fs::exists(place / id / "run.json", ignored); };
    if (std::none_of(places.begin(), places.end(), holds_it))  // it may be all that there is of the run
        throw data_error("{}: is run {} (its run.json says so) under another name, and is not read under that. Rename the folder to {}",
                         folder.string(), faceter::quoted(id), faceter::quoted(id));
    throw data_error(
        "{}: a copy of run {} (its run.json says so) under another name, and no run of its own. Remove the folder, or rename it to {} in a "
        "project that does not have that run; 'faceter rerun' makes a new run with the same settings",
        folder.string(), faceter::quoted(id), faceter::quoted(id));
}

void write_json(const fs::path& folder, std::string_view name, const Json& json) {
    check_in_place(folder.parent_path() / "run.json");
    make_directories(folder);
    write_file_atomic(folder / (safe_file_name(name) + ".json"), json.dump() + "\n");
}

}  // namespace

std::string RunInfo::group() const {
    const std::string base = experiment + "/" + variant;
    return point.empty() ? base : base + "/" + point;
}

RunDirectory::RunDirectory(const fs::path& folder) : folder_(absolute_path(folder)) {
    if (folder_.filename().empty()) folder_ = folder_.parent_path();
    const fs::path file = folder_ / "run.json";
    std::error_code error;
    if (!fs::exists(file, error))
        throw data_error("{}: not a run: {}", folder_.string(),
                         error ? fmt::format("run.json cannot be looked at: {}", errno_text(error.value())) : "it has no run.json");
    info_ = info_from_json(read_json(file, max_run_bytes), file.string());
    check_identity(folder_, info_.id);
    info_.name = name_of_run(project(), info_.id, info_.name);
}

RunInfo info_of(const ResolvedRun& run, const std::string& experiment, bool smoke, OpenThreads threads) {
    RunInfo info;
    info.experiment = experiment;
    info.variant = run.variant;
    info.method = run.method;
    info.plugin = run.plugin;
    info.point = run.point;
    info.seed = run.seed;
    info.smoke = smoke;
    info.settings = run.settings;
    if (threads == OpenThreads::of_this_machine && head_setting(info.settings, "threads") == 0) info.settings["threads"] = usable_cores();
    return info;
}

RunDirectory RunDirectory::create(const fs::path& project, const Experiment& experiment, const ResolvedRun& run, bool smoke,
                                  OpenThreads threads) {
    return create_run(project, info_of(run, experiment.name(), smoke, threads), experiment.text());
}

RunDirectory RunDirectory::create_imported(const fs::path& project, RunInfo info, std::string_view text) {
    return create_run(project, std::move(info), text);
}

RunDirectory RunDirectory::create_like(const fs::path& project, const RunDirectory& other) {
    RunInfo info = other.info();
    info.parent = info.id;
    return create_run(project, std::move(info), read_file(other.folder() / "experiment.yaml", max_run_bytes));
}

fs::path RunDirectory::attempt_journal(int attempt, int rank) const {
    return folder_ / "journal" / std::to_string(attempt) / fmt::format("rank-{}.jsonl", rank);
}

fs::path RunDirectory::attempt_log(int attempt, int rank) const {
    return folder_ / "logs" / std::to_string(attempt) / fmt::format("rank-{}.log", rank);
}

std::vector<int> RunDirectory::attempts() const {
    std::vector<int> numbers;
    std::error_code error;
    for (fs::directory_iterator it(folder_ / "journal", error), end; !error && it != end; it.increment(error))
        if (const auto number = parse_int(it->path().filename().string()); number && *number > 0 && *number <= max_attempts)
            numbers.push_back(static_cast<int>(*number));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

int RunDirectory::begin_attempt() const {
    const std::vector<int> before = attempts();
    int next = before.empty() ? 1 : before.back() + 1;
    if (const char* handed = std::getenv("FACETER_ATTEMPT"))
        if (const auto number = parse_int(handed); number && *number >= next && *number <= max_attempts) next = static_cast<int>(*number);
    for (; next <= max_attempts; ++next) {
        const fs::path folder = folder_ / "journal" / std::to_string(next);
        make_directories(folder.parent_path());
        if (!make_directory(folder)) continue;
        sync_directory(folder.parent_path());
        return next;
    }
    throw failure("{}: more than {} attempts", folder_.string(), max_attempts);
}

void RunDirectory::request(std::string_view what) const {
    make_directories(control());
    write_file_atomic(control() / safe_file_name(what), utc_now() + "\n");
}

bool RunDirectory::requested(std::string_view what) const {
    std::error_code ignored;
    return fs::exists(control() / safe_file_name(what), ignored);
}

void RunDirectory::clear_request(std::string_view what) const {
    std::error_code ignored;
    fs::remove(control() / safe_file_name(what), ignored);
}

void RunDirectory::write_result(std::string_view name, const Json& result) const { write_json(results(), name, result); }
void RunDirectory::write_figure(std::string_view name, const Json& figure) const { write_json(figures(), name, figure); }
void RunDirectory::write_table(std::string_view name, const Json& table) const { write_json(tables(), name, table); }

RunDirectory::Documents RunDirectory::read_all(const fs::path& sub_folder, const Broken& broken) const {
    std::vector<std::string> stems;
    std::error_code error;
    for (fs::directory_iterator it(sub_folder, error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == ".json") stems.push_back(it->path().stem().string());
    if (error && error != std::errc::no_such_file_or_directory)
        broken(sub_folder.filename().string(),
               fmt::format("{}: cannot be looked into: {}", sub_folder.string(), errno_text(error.value())));
    std::sort(stems.begin(), stems.end());
    Documents all;
    for (const std::string& stem : stems) {
        try {
            const fs::path file = sub_folder / (stem + ".json");
            if (!fs::is_regular_file(file)) throw data_error("{}: is not a file that can be read", file.string());  // /dev/zero has no end
            all.emplace_back(stem, read_json(file));
        } catch (const std::exception& problem) {
            broken(stem, problem.what());
        }
    }
    return all;
}

RunDirectory::Documents RunDirectory::read_results(const Broken& broken) const {
    Documents all = read_all(results(), broken);
    std::set<std::string> own;
    for (const auto& [stem, json] : all)
        if (const std::string name = name_of_result(json); !name.empty() && stem == safe_file_name(name)) own.insert(name);
    std::erase_if(all, [&](const auto& document) {
        const auto& [stem, json] = document;
        const std::string name = name_of_result(json);
        if (own.count(name) == 0 || stem == safe_file_name(name)) return false;
        broken(stem, fmt::format("{}: is another file of the result {}; it is left out, and {}.json counts",
                                 (results() / (stem + ".json")).string(), faceter::quoted(name), safe_file_name(name)));
        return true;
    });
    return all;
}

void RunDirectory::append_user_event(const Json& event) const {
    const fs::path path = folder_ / "user.jsonl";
    LockFile lock(path);
    lock.wait();
    OutputFile file(path, OutputFile::Mode::append);
    std::ifstream written(path, std::ios::binary);
    const bool torn = written.seekg(-1, std::ios::end) && written.get() != '\n';  // by a crash: it stays a line of its own
    const std::string line = (torn ? "\n" : "") + event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (file.size() + line.size() > max_run_bytes)
        throw data_error("{}: has no room for this ({} bytes at most); write less, or remove lines of it", path.string(), max_run_bytes);
    file.write(line);
    file.sync();
    file.close();
    sync_directory(folder_);
}

RunDirectory::UserState RunDirectory::user_state() const {
    UserState state;
    const fs::path file = folder_ / "user.jsonl";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return state;
    const std::string text = read_file(file, max_run_bytes);
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const Json event = parse_untrusted_json(line, {64, 1000});
        if (!event.is_object()) continue;  // empty, or torn by a crash
        const auto name = [&](const char* key) {
            return event.contains(key) && event[key].is_string() ? event[key].get<std::string>() : std::string();
        };
        const std::string tag = name("tag"), untag = name("untag");
        if (!tag.empty() && state.tags.size() < max_tags && std::find(state.tags.begin(), state.tags.end(), tag) == state.tags.end())
            state.tags.push_back(tag);
        if (!untag.empty()) std::erase(state.tags, untag);
        if (event.contains("note") && event["note"].is_string()) state.note = event["note"];
        for (const auto& [key, flag] : {std::pair<const char*, bool*>{"archived", &state.archived}, {"pinned", &state.pinned}})
            if (event.contains(key) && event[key].is_boolean()) *flag = event[key];
        if (event.contains("trashed") && event["trashed"].is_number()) state.trashed = event["trashed"];
    }
    return state;
}

}  // namespace faceter
