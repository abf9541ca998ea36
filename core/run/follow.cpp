#include "run/follow.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include "common/cancel.h"
#include "common/error.h"
#include "common/progress.h"
#include "common/strings.h"
#include "run/state.h"

namespace faceter {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(200);

std::string label(const RunInfo& info) {
    std::string text = info.variant;
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
    if (state.steps_per_s > 0) text += fmt::format("  {} left", format_duration(static_cast<double>(state.total_steps - state.step) / state.steps_per_s));
    return text;
}

std::string outcome_text(const RunState& state, int code) {
    if (code == 0) return "done in " + format_duration(state.active_s);
    const std::string cause = state.cause.empty() ? "" : ": " + state.cause;
    if (code == static_cast<int>(ExitCode::stopped)) return "stopped" + cause;
    return fmt::format("failed (exit code {}){}", code, cause);
}

class Display {
  public:
    Display() : terminal_(is_terminal(stderr)) {}
    ~Display() { clear(); }
    void line(const std::string& text) {
        clear();
        fmt::print(stderr, "{}\n", text);
        std::fflush(stderr);
    }
    /// Redrawn in place; only on a terminal.
    void progress(std::string text) {
        if (!terminal_) return;
        const auto columns = static_cast<std::size_t>(terminal_columns(stderr));
        if (text.size() >= columns) text.resize(columns - 1);
        fmt::print(stderr, "\r\033[K{}", text);
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

class Follow {
  public:
    explicit Follow(const Queue& queue) : queue_(queue) {
        for (const fs::path& run : queue.runs) followed_.push_back({RunFollower(RunDirectory(run)), std::nullopt, 0});
        for (Followed& one : followed_) one.first_attempt = static_cast<int>(one.follower.run().attempts().size());
    }

    int wait() {
        for (;;) {
            if (stop_requested() != StopRequest::none && !stopping_) stop_all();
            const bool supervised = queue_.supervised();   // before looking at what is done, so that nothing is missed at the end
            if (update() == 0) break;
            if (!supervised) {
                display_.line(fmt::format("the supervisor of these runs is gone (see {}); go on with faceter resume", (queue_.folder / "log").string()));
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
        int first_attempt = 0;   ///< attempts before this queue began: what they say is history
    };

    std::string place(const Followed& one) const {
        return fmt::format("[{}/{}] {}", &one - followed_.data() + 1, followed_.size(), label(one.follower.run().info()));
    }

    /// How many are not over yet.
    std::size_t update() {
        std::size_t open = 0;
        std::string progress;
        for (Followed& one : followed_) {
            if (one.code) continue;
            const auto code = queue_.exit_code(one.follower.run().folder());
            for (const JournalEvent& event : one.follower.update()) report(one, event);
            const RunState state = one.follower.state();
            if (code) {
                one.code = code;
                display_.line(place(one) + "  " + outcome_text(state, *code));
                continue;
            }
            ++open;
            if (state.attempts > one.first_attempt && progress.empty()) progress = place(one) + "  " + progress_text(state);
        }
        if (!progress.empty()) display_.progress(stopping_ ? progress + "  (stopping)" : progress);
        return open;
    }

    void report(const Followed& one, const JournalEvent& event) {
        if (event.type != "warning" || one.follower.state().attempts <= one.first_attempt) return;
        const auto message = event.fields.find("message");
        if (message != event.fields.end() && message->is_string()) display_.line(fmt::format("{}  warning: {}", place(one), message->get<std::string>()));
    }

    void stop_all() {
        stopping_ = true;
        display_.line("stopping: waiting for a checkpoint (Ctrl-C again leaves the runs to their supervisor, which stops them all the same)");
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

    const Queue& queue_;
    std::vector<Followed> followed_;
    Display display_;
    bool stopping_ = false;
};

}  // namespace

int follow_queue(const Queue& queue) { return Follow(queue).wait(); }

}  // namespace faceter
