#include "launch/follow.h"

#include <pthread.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <optional>
#include <thread>

#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "record/state.h"

namespace faceter {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(200);

std::string label(const RunInfo& info) {
    std::string text = info.shown_name();
    if (!info.point.empty()) text += " " + info.point;
    return info.is_baseline() ? text : fmt::format("{} seed {}", text, info.seed);
}

/// "train 120/400 steps  3.1/s  loss 1.234  1 min 20 s left"
std::string progress_text(const RunState& state) {
    std::string text = state.doing.empty() ? "starting" : state.doing;
    if (state.total_steps <= 0 || state.step >= state.total_steps) return text;
    text += fmt::format("  {}/{} steps", state.step, state.total_steps);
    if (state.steps_per_s > 0) text += fmt::format("  {:.{}f}/s", state.steps_per_s, state.steps_per_s < 10 ? 2 : 0);
    if (std::isfinite(state.loss)) text += fmt::format("  loss {:.4f}", state.loss);
    if (state.steps_per_s > 0)
        text += fmt::format(
            "  {} left", format_duration((static_cast<double>(state.total_steps) - static_cast<double>(state.step)) / state.steps_per_s));
    return text;
}

std::string outcome_text(const RunState& state, int code) {
    if (code == 0) return "done in " + format_duration(state.active_s);
    const std::string cause = state.cause.empty() ? "" : ": " + state.cause;
    if (code == static_cast<int>(ExitCode::stopped)) return "stopped" + cause;
    if (state.cause.starts_with(fmt::format("exit code {}", code))) return "failed" + cause;
    return fmt::format("failed (exit code {}){}", code, cause);
}

class Display {
  public:
    Display() : terminal_(is_terminal(stderr)) {}
    ~Display() { clear(); }
    void line(const std::string& text) {
        clear();
        say(stderr, "{}\n", text);
        std::fflush(stderr);
    }
    /// Redrawn in place; only on a terminal.
    void progress(std::string text) {
        if (!terminal_) return;
        text = printable(text);
        const auto columns = static_cast<std::size_t>(terminal_columns(stderr));
        if (text.size() >= columns) text.resize(columns - 1);
        put(stderr, "\r\033[K" + text);
        std::fflush(stderr);
        drawn_ = true;
    }

  private:
    void clear() {
        if (drawn_) std::fputs("\r\033[K", stderr);
        drawn_ = false;
    }
    bool terminal_, drawn_ = false;
};

/// While it lives Ctrl-C waits for let_through(): a second one ends the process, and may not before the first was heeded.
class HeldInterrupts {
  public:
    HeldInterrupts() {
        sigemptyset(&held_);
        sigaddset(&held_, SIGINT);
        ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
    }
    ~HeldInterrupts() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    HeldInterrupts(const HeldInterrupts&) = delete;
    HeldInterrupts& operator=(const HeldInterrupts&) = delete;
    void let_through() const {
        ::pthread_sigmask(SIG_UNBLOCK, &held_, nullptr);
        ::pthread_sigmask(SIG_BLOCK, &held_, nullptr);
    }

  private:
    sigset_t held_{}, before_{};
};

class Follow {
  public:
    Follow(const std::vector<RunDirectory>& runs, FollowSource& source) : source_(source) {
        for (const RunDirectory& run : runs) followed_.push_back({RunFollower(run), std::nullopt, source.attempts_before(run), ""});
    }

    int wait() {
        std::optional<HeldInterrupts> interrupts;
        if (source_.interrupt_stops_runs()) interrupts.emplace();
        for (;;) {
            if (interrupts && (stopping_ || stop_requested() == StopRequest::none)) interrupts->let_through();
            if (stop_requested() != StopRequest::none && !stopping_) {
                if (!source_.interrupt_stops_runs()) return leave();
                stop_all();
            }
            source_.refresh();
            if (update() == 0) break;
            if (const std::string why = source_.lost(); !why.empty()) {
                display_.line(why);
                break;
            }
            std::this_thread::sleep_for(poll_interval);
        }
        return exit_code();
    }

  private:
    struct Followed {
        RunFollower follower;
        std::optional<int> code;
        int first_attempt = 0;  ///< FollowSource::attempts_before
        std::string said;       ///< why it waits
    };

    std::string place(const Followed& one) const {
        return fmt::format("[{}/{}] {}", &one - followed_.data() + 1, followed_.size(), label(one.follower.run().info()));
    }

    /// How many are not over yet.
    std::size_t update() {
        std::size_t open = 0;
        std::string progress;
        for (Followed& one : followed_) {
            if (one.code || is_gone(one)) continue;
            const auto tell = [&](const JournalEvent& event) { report(one, event); };
            one.follower.update(tell);
            const RunState state = one.follower.state();
            const auto code = source_.exit_code(one.follower.run(), state);
            if (code) {
                one.follower.update(tell);  // what came between the two looks
                one.code = code;
                display_.line(place(one) + "  " + outcome_text(one.follower.state(), *code));
                continue;
            }
            ++open;
            if (state.phase == RunPhase::queued && state.cause != one.said) display_.line(place(one) + "  " + (one.said = state.cause));
            if (state.phase != RunPhase::queued && state.attempts > one.first_attempt && progress.empty())
                progress = place(one) + "  " + progress_text(state);
        }
        if (!progress.empty()) display_.progress(stopping_ ? progress + "  (stopping)" : progress);
        return open;
    }

    /// Nothing more will be heard of it: of what nobody finds here no state says that it is over.
    bool is_gone(Followed& one) {
        const RunDirectory& run = one.follower.run();
        std::error_code error;
        if (fs::exists(run.folder() / "run.json", error) || error) return false;
        one.code = static_cast<int>(ExitCode::failed);
        display_.line(fmt::format("{}  is no longer there: {} was moved or removed", place(one), run.folder().string()));
        return true;
    }

    void report(const Followed& one, const JournalEvent& event) {
        if (event.type != "warning" || one.follower.state().attempts <= one.first_attempt) return;
        const auto message = event.fields.find("message");
        if (message != event.fields.end() && message->is_string())
            display_.line(fmt::format("{}  warning: {}", place(one), message->get<std::string>()));
    }

    int leave() {
        display_.line("the runs go on by themselves; 'faceter follow' shows them again");
        return 0;
    }

    void stop_all() {
        stopping_ = true;
        display_.line(
            "stopping: waiting for a checkpoint (Ctrl-C again leaves the runs to their supervisor, which stops them all the same)");
        for (Followed& one : followed_)
            if (!one.code) one.follower.run().request("stop");
    }

    int exit_code() const {
        bool stopped = false;
        for (const Followed& one : followed_) {
            const int code = one.code.value_or(static_cast<int>(ExitCode::failed));
            if (code != 0 && code != static_cast<int>(ExitCode::stopped)) return code;
            stopped |= code != 0;
        }
        return stopped ? static_cast<int>(ExitCode::stopped) : 0;
    }

    FollowSource& source_;
    std::vector<Followed> followed_;
    Display display_;
    bool stopping_ = false;
};

class QueueSource : public FollowSource {
  public:
    explicit QueueSource(const Queue& queue) : queue_(queue) {}
    void refresh() override { supervised_ = queue_.supervised(); }  // before looking at what is done, so that nothing is missed at the end
    std::optional<int> exit_code(const RunDirectory& run, const RunState&) override { return queue_.exit_code(run.folder()); }
    std::string lost() override {
        if (supervised_) return "";
        return fmt::format("the supervisor of these runs is gone (see {}); go on with faceter resume", (queue_.folder / "log").string());
    }
    int attempts_before(const RunDirectory& run) override { return static_cast<int>(run.attempts().size()); }
    bool interrupt_stops_runs() const override { return true; }

  private:
    const Queue& queue_;
    bool supervised_ = true;
};

}  // namespace

int follow_runs(const std::vector<RunDirectory>& runs, FollowSource& source) { return Follow(runs, source).wait(); }

int follow_queue(const Queue& queue) {
    QueueSource source(queue);
    std::vector<RunDirectory> runs;
    for (const fs::path& run : queue.runs) runs.emplace_back(run);
    return follow_runs(runs, source);
}

}  // namespace faceter
