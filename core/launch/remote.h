#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/command.h"
#include "experiment/chosen_runs.h"
#include "launch/feed.h"
#include "launch/profile.h"

namespace faceter {

/// Runs on another machine, through the system's ssh: `ssh -- host sh -s` with a script on standard input in which every value is
/// single-quoted. Over there the runs belong to that machine's own supervisor or SLURM; here lies a mirror of their record, which `faceter
/// follow` keeps up to date.

std::vector<std::string> ssh_command(const Profile& profile);
/// Goes to the project's folder and calls faceter there with these arguments and that input.
std::string remote_script(const Profile& profile, const std::vector<std::string>& arguments, std::string_view input = {});
/// Copies an experiment file there and starts it; the copy is removed when its runs are made, which keep its text.
std::string remote_submission(const Profile& profile, const Experiment& experiment, const ExperimentOptions& options,
                              const ChosenRuns& chosen = {});

/// Starts an experiment there and makes the mirrors. Returns the runs' ids. Errors (failed, or what faceter said there): the host cannot be
/// reached.
std::vector<std::string> submit_through_ssh(const Project& project, const Profile& profile, const Experiment& experiment,
                                            const ExperimentOptions& options, const ChosenRuns& chosen = {});
/// `faceter stop` or `resume` for runs there. Returns what it said.
std::string call_through_ssh(const Profile& profile, const std::vector<std::string>& arguments);

/// Takes frames into the mirrors of runs: PROJECT/runs/<id> without checkpoints. What comes is untrusted: only files of the runs that were
/// asked for, and only those that is_fed_file, are written, a growing one only at its end. A run that is here and did not come through this
/// profile is never touched (data error).
class Mirror {
  public:
    Mirror(const Project& project, const Profile& profile, const std::vector<std::string>& ids);
    std::string request(bool once) const;
    void take(const FeedFrame& frame);
    struct End {
        int exit_code = 0;
        std::string cause;
    };
    /// Of runs that are over and wholly here.
    const std::map<std::string, End>& ended() const { return ended_; }
    bool all_ended() const { return ended_.size() == folders_.size(); }

  private:
    void check_mirror(const fs::path& folder) const;
    void check_named(const std::string& id, const std::string& bytes) const;
    void take_file(const std::string& id, const FeedFrame& frame);
    void finish_making(const std::string& id);
    void take_end(const std::string& id, const Json& head);

    fs::path runs_folder_;
    std::string profile_, remote_folder_;
    std::map<std::string, fs::path> folders_;  ///< a mirror that is being made has a name with a dot
    std::map<std::string, End> ended_;
};

/// Keeps mirrors up to date over one connection, and makes a new one when it is lost.
class RemoteFollower {
  public:
    RemoteFollower(const Project& project, const Profile& profile, const std::vector<std::string>& ids)
        : profile_(profile), mirror_(project, profile, ids) {}
    /// Takes in what has come, without waiting. Prints a line where the connection is lost.
    void pump();
    /// Once, to the end of what is there. Throws what ssh says where it fails.
    void catch_up();
    const Mirror& mirror() const { return mirror_; }
    /// Why it has given up; empty while it has not.
    const std::string& given_up() const { return given_up_; }
    /// Something has come from there.
    bool has_heard() const { return heard_; }

  private:
    using Clock = std::chrono::steady_clock;
    void connect(bool once);
    /// False at the end of the connection.
    bool read_some(int wait_ms);
    void lost();

    Profile profile_;
    Mirror mirror_;
    std::unique_ptr<Command> connection_;
    FrameReader frames_;
    Clock::time_point next_try_{};
    int failures_ = 0;
    bool heard_ = false;
    std::string given_up_;
};

}  // namespace faceter
