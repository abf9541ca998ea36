#include "launch/queue_order.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "common/error.h"
#include "common/strings.h"
#include "record/run_names.h"
#include "record/state.h"

namespace faceter {
namespace {

constexpr std::uint64_t most_order_bytes = 16 << 20;

fs::path order_file(const Queue& queue) { return queue.folder / "order"; }
fs::path paused_file(const Queue& queue) { return queue.folder / "paused"; }

std::vector<std::string> read_order(const Queue& queue) {
    std::error_code ignored;
    if (!fs::exists(order_file(queue), ignored)) return {};
    std::vector<std::string> runs;
    const std::string text = read_file(order_file(queue), most_order_bytes);
    for (const std::string_view line : split(text, '\n'))
        if (!trim(line).empty()) runs.emplace_back(trim(line));
    return runs;
}

/// Nothing of a run that was removed by hand, or cannot be read: the others of its queue go on.
std::optional<RunPhase> phase_of(const fs::path& run) {
    try {
        return read_state(RunDirectory(run)).phase;
    } catch (const Error&) {
        return std::nullopt;
    }
}

QueueState state_of(Queue queue) {
    QueueState state{std::move(queue), false, {}, {}};
    state.paused = is_paused(state.queue);
    std::vector<fs::path> waiting;
    for (const fs::path& run : state.queue.runs) {
        const auto phase = state.queue.exit_code(run) ? std::nullopt : phase_of(run);
        if (phase == RunPhase::queued)
            waiting.push_back(run);
        else if (phase && !is_over(*phase))
            state.running.push_back(run.filename().string());
    }
    for (const fs::path& run : in_queue_order(state.queue, std::move(waiting))) state.waiting.push_back(run.filename().string());
    return state;
}

}  // namespace

void set_paused(const Queue& queue, bool paused) {
    std::error_code error;
    if (paused) return write_file_atomic(paused_file(queue), "");
    fs::remove(paused_file(queue), error);
    if (error) throw failure("{}: cannot remove: {}", paused_file(queue).string(), error.message());
}

bool is_paused(const Queue& queue) {
    std::error_code ignored;
    return fs::exists(paused_file(queue), ignored);
}

void set_queue_order(const Queue& queue, const std::vector<std::string>& runs) {
    write_file_atomic(order_file(queue), join(runs, "\n") + "\n");
}

std::vector<fs::path> in_queue_order(const Queue& queue, std::vector<fs::path> waiting) {
    std::unordered_map<std::string, std::size_t> places;
    for (const std::string& run : read_order(queue)) places.emplace(run, places.size());
    const auto place = [&](const fs::path& run) {
        const auto found = places.find(run.filename().string());
        return found == places.end() ? places.size() : found->second;
    };
    std::stable_sort(waiting.begin(), waiting.end(), [&](const fs::path& a, const fs::path& b) { return place(a) < place(b); });
    return waiting;
}

std::vector<QueueState> live_queues(const Project& project) {
    std::vector<fs::path> folders;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(project.folder() / "queue", ignored))
        if (!fs::exists(entry.path() / "ended", ignored)) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    std::vector<QueueState> states;
    for (const fs::path& folder : folders) try {
            Queue queue = Queue::open(folder);
            if (queue.supervised()) states.push_back(state_of(std::move(queue)));
        } catch (const Error&) {  // being made, or gone meanwhile
        }
    return states;
}

std::size_t move_in_queue(const Project& project, const std::string& run, std::size_t place) {
    for (QueueState& state : live_queues(project)) {
        const auto found = std::find(state.waiting.begin(), state.waiting.end(), run);
        if (found == state.waiting.end()) continue;
        state.waiting.erase(found);
        place = std::min(place, state.waiting.size());
        state.waiting.insert(state.waiting.begin() + static_cast<std::ptrdiff_t>(place), run);
        set_queue_order(state.queue, state.waiting);
        return place;
    }
    const std::string name = name_of_run(project.folder(), run, "");
    throw usage_error("{} waits in no queue of this machine; only a run that has not started can be moved (faceter queue list shows them)",
                      name.empty() ? run : name);
}

}  // namespace faceter
