#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <map>

#include "cli/cluster.h"
#include "cli/named_runs.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "launch/follow.h"
#include "launch/remote.h"
#include "launch/slurm.h"
#include "record/launch.h"
#include "settings/yaml.h"
#include "store/store.h"

namespace faceter::cli {
namespace {

struct ClusterOptions {
    std::string project, name, run;
    std::vector<std::string> runs;
    int ranks = 1, attempt = 0, code = -1;
    bool begin = false, json = false;
};

Json profile_row(const ProfileSummary& profile) {
    Json row = {{"name", profile.name}, {"file", (profile_folder() / (profile.name + ".yaml")).string()}};
    if (!profile.error.empty())
        row["error"] = profile.error;
    else
        row.update({{"kind", profile.kind}, {"where", profile.where}, {"description", profile.description}});
    return row;
}

int list_profiles(const ClusterOptions& options) {
    const std::vector<ProfileSummary> profiles = profile_summaries();
    if (options.json) {
        Json rows = Json::array();
        for (const ProfileSummary& profile : profiles) rows.push_back(profile_row(profile));
        print_json({{"folder", profile_folder().string()}, {"profiles", rows}});
        return 0;
    }
    if (profiles.empty())
        say(stderr, "no profiles in {}; 'faceter profile template slurm' prints one to start from\n", profile_folder().string());
    Table table;
    for (const char* name : {"profile", "kind", "where", "what for"}) table.add_column(name, ColumnKind::text);
    for (const ProfileSummary& profile : profiles) {
        if (!profile.error.empty())
            say(stderr, "{}\n", profile.error);
        else
            table.add_row({Cell::of(profile.name), Cell::of(profile.kind), Cell::of(profile.where), Cell::of(profile.description)});
    }
    if (!table.rows.empty()) print_table(table, "text");
    return 0;
}

int check_profile(const ClusterOptions& options) {
    const Profile profile = read_profile(options.name);
    if (options.json)
        print_json({{"name", profile.name}, {"file", profile.file.string()}, {"settings", profile.settings}});
    else
        print_document(to_yaml(profile.settings));
    return 0;
}

/// Where runs are on other machines: ids by profile.
std::map<std::string, std::vector<std::string>> remote_runs(const std::vector<RunDirectory>& runs) {
    std::map<std::string, std::vector<std::string>> ids;
    for (const RunDirectory& run : runs)
        if (const auto profile = profile_of_mirror(run)) ids[*profile].push_back(run.info().id);
    return ids;
}

/// The runs of a project, wherever they run: asks SLURM about jobs, and keeps the mirrors of runs on other machines up to date.
class ClusterSource : public FollowSource {
  public:
    ClusterSource(const Project& project, const std::vector<RunDirectory>& runs) : project_(project) {
        for (const auto& [profile, ids] : remote_runs(runs)) {
            Remote& remote = remotes_[profile];
            open(remote, profile, ids);
            for (const std::string& id : ids) remote_of_[id] = &remote;
        }
    }
    void refresh() override {
        awaited_ = 0, unheard_ = 0;
        for (auto& [profile, remote] : remotes_) listen(remote);
        if (Clock::now() < next_) return;
        const std::vector<std::string> warnings = refresh_slurm_jobs(project_);
        for (const std::string& warning : warnings)
            if (std::find(told_.begin(), told_.end(), warning) == told_.end()) say(stderr, "warning: {}\n", warning);
        told_ = warnings;
        next_ = Clock::now() + std::chrono::seconds(2);
    }
    std::optional<int> exit_code(const RunDirectory& run, const RunState& state) override {
        if (const auto remote = remote_of_.find(run.info().id); remote != remote_of_.end()) {
            const std::optional<int> code = exit_code_of(*remote->second, run.info().id);
            if (!code) ++(remote->second->given_up ? unheard_ : awaited_);
            return code;
        }
        if (is_over(state.phase)) return state.phase == RunPhase::done ? 0 : state.exit_code;
        ++awaited_;
        return std::nullopt;
    }
    std::string lost() override {
        if (awaited_ > 0 || unheard_ == 0) return "";
        return fmt::format("nothing more comes: {} {} not followed to the end", unheard_, unheard_ == 1 ? "run was" : "runs were");
    }

  private:
    using Clock = std::chrono::steady_clock;
    /// The runs of one profile.
    struct Remote {
        std::unique_ptr<RemoteFollower> follower;  ///< null: its profile cannot be read
        bool given_up = false;                     ///< which was said
    };

    static void give_up(Remote& remote, const std::string& why) {
        remote.given_up = true;
        say(stderr, "{}\n", why);
    }
    void open(Remote& remote, const std::string& profile, const std::vector<std::string>& ids) const {
        try {
            remote.follower = std::make_unique<RemoteFollower>(project_, read_profile(profile), ids);
        } catch (const Error& error) {
            give_up(remote, error.what());
        }
    }
    static void listen(Remote& remote) {
        if (remote.given_up) return;
        remote.follower->pump();
        if (const std::string& why = remote.follower->given_up(); !why.empty()) give_up(remote, why);
    }
    static std::optional<int> exit_code_of(const Remote& remote, const std::string& id) {
        if (!remote.follower) return std::nullopt;
        const auto& ended = remote.follower->mirror().ended();
        const auto end = ended.find(id);
        return end == ended.end() ? std::nullopt : std::optional(end->second.exit_code);
    }

    const Project& project_;
    std::map<std::string, Remote> remotes_;  ///< by profile
    std::map<std::string, Remote*> remote_of_;
    std::size_t awaited_ = 0, unheard_ = 0;  ///< at the last look: runs of which something will come, and of which nothing will
    std::vector<std::string> told_;          ///< at the last look
    Clock::time_point next_{};
};

/// Those that were named; without names all that are not over.
std::vector<RunDirectory> followed_runs(const Project& project, const ClusterOptions& options) {
    std::vector<RunDirectory> runs = find_runs(project, options.runs);
    if (!options.runs.empty()) return runs;
    project.each_run([&](const RunDirectory& run) {
        if (!run.info().is_imported() && !is_over(read_state(run).phase)) runs.push_back(run);
    });
    return runs;
}

int follow(const ClusterOptions& options) {
    const Project project = open_project(options.project);
    refresh_jobs(project);
    const std::vector<RunDirectory> runs = followed_runs(project, options);
    if (runs.empty()) {
        say(stderr, "nothing runs or waits in {}\n", project.folder().string());
        if (options.json) print_json(runs_json(runs));
        return 0;
    }
    const int code = follow_anywhere(project, runs);
    if (!options.json) return code;
    Json json = runs_json(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) json["runs"][i]["state"] = run_phase_name(read_state(runs[i]).phase);
    print_json(json);
    return code;
}

int feed(const ClusterOptions& options) {
    std::string request((std::istreambuf_iterator<char>(std::cin)), {});
    return feed_runs(open_project(options.project), parse_json(request, "request"));
}

int attend(const ClusterOptions& options) {
    if (options.begin) {
        fmt::print("{}\n", begin_attended_attempt(options.run));
        return 0;
    }
    if (options.code < 0) return attend_run(options.run, options.ranks);
    end_attended_attempt(options.run, options.attempt, options.code);
    return 0;
}

void add_profile_commands(Cli& cli) {
    auto options = std::make_shared<ClusterOptions>();
    CLI::App* profile = add_command_group(cli, "profile", "Ways to start runs elsewhere: list, check, template");
    CLI::App* list = add_command(cli, *profile, "list", "List the profiles of your configuration", "  faceter profile list",
                                 [options] { return list_profiles(*options); });
    CLI::App* check = add_command(cli, *profile, "check", "Check a profile and print it with every default filled in",
                                  "  faceter profile check gpu", [options] { return check_profile(*options); });
    check->add_option("PROFILE", options->name, "name of a profile: its file without .yaml")->required();
    CLI::App* print = add_command(cli, *profile, "template", "Print a profile to start from",
                                  "  mkdir -p ~/.config/faceter/profiles\n"
                                  "  faceter profile template slurm > ~/.config/faceter/profiles/gpu.yaml",
                                  [options] {
                                      fmt::print("{}", profile_template(options->name));
                                      return 0;
                                  });
    print->add_option("KIND", options->name, "slurm or ssh")->required();
    for (CLI::App* command : {list, check}) command->add_flag("--json", options->json, "print as JSON");
}

}  // namespace

int follow_anywhere(const Project& project, const std::vector<RunDirectory>& runs) {
    install_stop_handlers();
    ClusterSource source(project, runs);
    const int code = follow_runs(runs, source);
    take_in(project);
    return code;
}

void refresh_jobs(const Project& project) {
    for (const std::string& warning : refresh_slurm_jobs(project)) say(stderr, "warning: {}\n", warning);
}

int print_submitted(const Project& project, const Profile& profile, const std::vector<RunDirectory>& runs, bool json) {
    if (json) print_json(runs_json(runs));
    for (const RunDirectory& run : runs) {
        if (json) break;
        const auto launch = read_launch(run);
        say(stdout, "{}{}\n", run.info().shown_name(), launch && !launch->job.empty() ? "  job " + launch->job : "");
    }
    const std::string where = profile.kind == "ssh" ? "started on " + profile.settings["host"].get<std::string>() : "submitted";
    say(stderr, "{}; see: faceter follow --project {}\n", where, typed(project.folder().string()));
    return 0;
}

void add_cluster_commands(Cli& cli) {
    add_profile_commands(cli);
    auto options = std::make_shared<ClusterOptions>();
    CLI::App* followed = add_command(cli, cli.app, "follow", "Follow runs until they are over, wherever they run",
                                     "  faceter follow --project p\n  faceter follow MoTE-s2 --project p\n"
                                     "Ctrl-C ends the following only; the runs go on.",
                                     [options] { return follow(*options); });
    followed->add_option("RUN", options->runs, "name of a run, the beginning of one, or a variant; default: all that are not over");
    add_project_option(*followed, options->project);
    followed->add_flag("--json", options->json, "print as JSON, when they are over");

    CLI::App* fed = add_command(cli, cli.app, "feed", "", "", [options] { return feed(*options); });
    fed->group("");
    add_project_option(*fed, options->project);

    CLI::App* hidden = add_command(cli, cli.app, "attend", "", "", [options] { return attend(*options); });
    hidden->group("");
    hidden->add_option("RUNDIR", options->run)->required();
    hidden->add_option("--ranks", options->ranks)->check(CLI::Range(1, 1024));
    hidden->add_flag("--begin", options->begin);
    hidden->add_option("--end", options->code);
    hidden->add_option("--attempt", options->attempt);
}

}  // namespace faceter::cli
