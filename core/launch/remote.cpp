#include "launch/remote.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "launch/slurm.h"
#include "record/launch.h"
#include "record/state.h"

namespace faceter {
namespace {

constexpr int submit_limit_s = 300;
constexpr int most_failures = 10;
constexpr int most_tries = 3;                                                  // to bring the record of runs that were just submitted
constexpr int lost_code = 255;                                                 // of ssh, where the connection failed
constexpr int limit_code = 124;                                                // of a command that took too long
constexpr std::string_view arrived = "faceter: the experiment has arrived\n";  // said there before its runs are made
constexpr std::string_view frames_follow = "faceter: frames follow\n";         // and before the record of runs

std::string setting(const Profile& profile, const char* key) { return profile.settings[key].get<std::string>(); }

std::string preparation(const Profile& profile) {
    std::string script;
    for (const auto& [name, value] : profile.settings["environment"].items())
        script += fmt::format("export {}={}\n", name, shell_word(value.get<std::string>()));
    const std::string folder = shell_word(setting(profile, "folder"));
    return script + fmt::format("mkdir -p {} && cd {} || exit 5\n", folder, folder);
}

std::string call(const Profile& profile, const std::vector<std::string>& arguments) {
    std::string line = shell_word(setting(profile, "faceter"));
    for (const std::string& argument : arguments) line += " " + shell_word(argument);
    return line;
}

/// A line of a script that says one; what shells there print of their own stands before it.
std::string said_there(std::string_view line) { return fmt::format("echo {}\n", shell_word(trim(line))); }

/// A here-document whose end does not occur in the text.
std::string here_document(std::string_view text) {
    std::string end = "FACETER_END";
    while (text.find(end) != std::string_view::npos) end += "_";
    return fmt::format("<<'{}'\n{}{}{}\n", end, text, text.ends_with('\n') ? "" : "\n", end);
}

/// Output of a script there; an error with what it said where it fails.
std::string run_there(const Profile& profile, const std::string& script, std::string* said = nullptr) {
    const CommandResult result = run_command(ssh_command(profile), script, submit_limit_s);
    if (said) *said = result.complaint;
    if (result.code == 0) return result.output;
    if ((result.code == lost_code || result.code == limit_code) && result.output.find(arrived) != std::string::npos)
        throw JobMayWait(ExitCode::failed, fmt::format("{}: the connection was lost when the experiment had arrived there: {}. Its runs "
                                                       "may have begun, and would be started twice if it were "
                                                       "submitted again; see there first: faceter list --project {}",
                                                       setting(profile, "host"), result.complaint.empty() ? "no answer" : result.complaint,
                                                       shell_word(setting(profile, "folder"))));
    if (result.code == lost_code) throw failure("{}: cannot be reached: {}", setting(profile, "host"), result.complaint);
    const bool ours = result.code >= 2 && result.code <= 8;
    throw Error(ours ? static_cast<ExitCode>(result.code) : ExitCode::failed,
                fmt::format("{}: {}", setting(profile, "host"),
                            result.complaint.empty() ? fmt::format("exit code {}", result.code) : result.complaint));
}

}  // namespace

std::vector<std::string> ssh_command(const Profile& profile) {
    std::vector<std::string> words{
        "ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3"};
    if (const std::string config = setting(profile, "config"); !config.empty()) words.insert(words.end(), {"-F", config});
    words.insert(words.end(), {"--", setting(profile, "host"), "sh", "-s"});
    return words;
}

std::string remote_script(const Profile& profile, const std::vector<std::string>& arguments, std::string_view input) {
    return preparation(profile) + "exec " + call(profile, arguments) + " " +
           (input.empty() ? std::string("</dev/null\n") : here_document(input));
}

std::string remote_submission(const Profile& profile, const Experiment& experiment, const ExperimentOptions& options,
                              const ChosenRuns& chosen) {
    const std::string folder = setting(profile, "folder"), through = setting(profile, "profile");
    std::vector<std::string> more{"--project", folder, "--json", "--set", "name=" + Json(experiment.name()).dump()};
    for (const std::string& assignment : options.overrides) more.insert(more.end(), {"--set", assignment});
    std::vector<std::string> seeds;
    for (const std::uint64_t seed : options.seeds) seeds.push_back(std::to_string(seed));
    if (!seeds.empty()) more.insert(more.end(), {"--seeds", join(seeds, ",")});
    if (options.smoke) more.emplace_back("--smoke");
    for (const std::string& name : chosen) more.insert(more.end(), {"--only", name});
    std::vector<std::string> first{through.empty() ? "run" : "submit"};
    if (through.empty())
        more.insert(more.end(), {"--detach", "--jobs", std::to_string(profile.settings["jobs"].get<int>()), "--devices",
                                 std::to_string(profile.settings["devices"].get<int>())});
    else
        more.insert(more.end(), {"--profile", through});
    std::string script = preparation(profile);
    script += "file=$(mktemp ./submitted-XXXXXX) || exit 5\ncat >\"$file\" " + here_document(experiment.text());
    script += said_there(arrived);
    script += call(profile, first) + " \"$file\"";
    for (const std::string& argument : more) script += " " + shell_word(argument);
    return script + " </dev/null\ncode=$?\nrm -f \"$file\"\nexit $code\n";
}

namespace {

/// Of runs that are made there: as their mirrors are the only way to them from here, one connection that breaks is not the last.
void bring_records(const Project& project, const Profile& profile, const std::vector<std::string>& ids) {
    for (int tries = 1;; ++tries) try {
            return RemoteFollower(project, profile, ids).catch_up();
        } catch (const Error& error) {
            if (tries == most_tries || stop_requested() != StopRequest::none || abandon_requested())
                throw JobMayWait(ExitCode::failed, fmt::format("the runs were made, and go on there ({}), but their record did not come: "
                                                               "{}. Submitting again would start them twice; see "
                                                               "there: faceter list --project {}",
                                                               join(ids, ", "), error.what(), shell_word(setting(profile, "folder"))));
            say(stderr, "the record of the runs did not come ({}); trying again in {} s\n", error.what(), tries);
            std::this_thread::sleep_for(std::chrono::seconds(tries));
        }
}

}  // namespace

std::vector<std::string> submit_through_ssh(const Project& project, const Profile& profile, const Experiment& experiment,
                                            const ExperimentOptions& options, const ChosenRuns& chosen) {
    std::string output = run_there(profile, remote_submission(profile, experiment, options, chosen));
    if (const std::size_t at = output.find(arrived); at != std::string::npos) output.erase(0, at + arrived.size());
    const Json answer = parse_json(output, setting(profile, "host"));
    std::vector<std::string> ids;
    for (const Json& run : json_at<Json>(answer, "runs", "answer")) ids.push_back(json_at<std::string>(run, "id", "answer"));
    bring_records(project, profile, ids);
    return ids;
}

std::string call_through_ssh(const Profile& profile, const std::vector<std::string>& arguments) {
    std::string said;
    run_there(profile, remote_script(profile, arguments), &said);
    return said;
}

void RemoteFollower::connect(bool once) {
    const std::string script = remote_script(profile_, {"feed", "--project", setting(profile_, "folder")}, mirror_.request(once));
    frames_ = FrameReader(std::string(frames_follow));
    connection_ = std::make_unique<Command>(ssh_command(profile_), said_there(frames_follow) + script);
}

bool RemoteFollower::read_some(int wait_ms) {
    const auto bytes = connection_->read(wait_ms);
    if (!bytes) return false;
    frames_.add(*bytes);
    while (const auto frame = frames_.next()) {
        mirror_.take(*frame);
        heard_ = true;
        failures_ = 0;
    }
    return true;
}

void RemoteFollower::catch_up() {
    connect(true);
    while (read_some(1000)) {
        if (!abandon_requested()) continue;
        connection_.reset();
        throw failure("{}: given up before it answered", setting(profile_, "host"));
    }
    const int code = connection_->finish();
    const std::string complaint = connection_->complaint();
    connection_.reset();
    if (code != 0) throw failure("{}: {}", setting(profile_, "host"), complaint.empty() ? fmt::format("exit code {}", code) : complaint);
}

void RemoteFollower::pump() {
    if (!given_up_.empty() || mirror_.all_ended()) return;
    try {
        if (!connection_) {
            if (Clock::now() < next_try_) return;
            connect(false);
        }
        for (int i = 0; i < 64; ++i) {  // no more at once, so that one busy machine does not starve the others
            const bool open = read_some(i == 0 ? 20 : 0);
            if (mirror_.all_ended()) return connection_.reset();
            if (!open) return lost();
        }
    } catch (const Error& error) {
        given_up_ = fmt::format("{}: {}", setting(profile_, "host"), error.what());
        connection_.reset();
    }
}

void RemoteFollower::lost() {
    const int code = connection_->finish();
    const std::string complaint = connection_->complaint();
    connection_.reset();
    const std::string why = complaint.empty() ? fmt::format("ssh ended with code {}", code) : complaint;
    ++failures_;
    const bool never = !heard_, refused = code >= 2 && code <= 8;  // faceter itself said no
    if (never || refused || failures_ > most_failures) {
        given_up_ = fmt::format("{}: {}; the runs go on there, 'faceter follow' catches up", setting(profile_, "host"), why);
        return;
    }
    const int wait_s = std::min(30, 1 << std::min(failures_, 5));
    next_try_ = Clock::now() + std::chrono::seconds(wait_s);
    say(stderr, "lost the connection to {} ({}); trying again in {} s\n", setting(profile_, "host"), why, wait_s);
}

}  // namespace faceter
