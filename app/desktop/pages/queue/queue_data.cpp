#include "pages/queue/queue_data.h"

#include <algorithm>
#include <map>

#include "actions/run_actions.h"
#include "common/error.h"
#include "launch/forecast.h"
#include "launch/queue_order.h"
#include "record/launch.h"

namespace faceter::desktop {
namespace {

constexpr std::size_t most_resumable = 50;

/// Where a run stands in a queue of this machine.
struct QueuePlace {
    std::string queue;
    int place = 0, devices = 1;
    bool paused = false, last = false;
};

double lastMemory(Store& store, const RunRow& run) {
    const std::vector<SeriesPoint> points =
        run.state.attempts > 0 ? store.series(run.info.id, "system/memory_gib") : std::vector<SeriesPoint>();
    return points.empty() ? 0 : points.back().value;
}

std::optional<QueueRow> rowOf(Store& store, const std::filesystem::path& project, RunRow run,
                              const std::map<std::string, QueuePlace>& places) {
    QueueRow row;
    const auto found = places.find(run.info.id);
    try {
        const RunDirectory directory(project / "runs" / run.info.id);
        if (const auto launch = read_launch(directory)) row.where = launch->profile;
        if (const auto forecast = read_forecast(directory)) row.forecast_gib = forecast->memory_gib, row.forecast_s = forecast->seconds;
    } catch (const Error&) {
        return std::nullopt;  // gone meanwhile
    }
    row.kind = isResumable(run)                      ? QueueRow::Kind::resumable
               : !row.where.empty()                  ? QueueRow::Kind::elsewhere
               : run.state.phase == RunPhase::queued ? QueueRow::Kind::waiting
                                                     : QueueRow::Kind::running;
    if (found != places.end()) {
        const QueuePlace& at = found->second;
        row.queue = at.queue, row.place = at.place, row.last = at.last, row.devices = at.devices, row.paused = at.paused;
    }
    if (row.kind != QueueRow::Kind::resumable) row.memory_gib = lastMemory(store, run);
    row.run = std::move(run);
    return row;
}

bool comesBefore(const QueueRow& a, const QueueRow& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.kind == QueueRow::Kind::waiting) return a.place < b.place;
    return a.kind == QueueRow::Kind::resumable && a.run.info.created > b.run.info.created;
}

}  // namespace

int QueueData::count(QueueRow::Kind kind) const {
    return static_cast<int>(std::count_if(rows.begin(), rows.end(), [&](const QueueRow& row) { return row.kind == kind; }));
}

QueueDataPtr loadQueue(Store& store, const std::filesystem::path& project, std::vector<RunRow> runs) {
    auto data = std::make_shared<QueueData>();
    std::map<std::string, QueuePlace> places;
    for (const QueueState& state : live_queues(Project(project, false))) {
        ++data->num_queues;
        data->num_paused += state.paused;
        const std::string queue = state.queue.folder.string();
        for (const std::string& run : state.running) places[run] = {queue, 0, state.queue.devices, state.paused, false};
        for (std::size_t i = 0; i < state.waiting.size(); ++i)
            places[state.waiting[i]] = {queue, static_cast<int>(i) + 1, state.queue.devices, state.paused, i + 1 == state.waiting.size()};
    }
    std::size_t resumable = 0;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {              // the newest first
        if (run->info.is_imported() && is_over(run->state.phase)) continue;  // cut short, and nothing here goes on with it
        if (isResumable(*run) && ++resumable > most_resumable) {
            ++data->num_left_out;
            continue;
        }
        if (auto row = rowOf(store, project, std::move(*run), places)) data->rows.push_back(std::move(*row));
    }
    std::stable_sort(data->rows.begin(), data->rows.end(), comesBefore);
    return data;
}

}  // namespace faceter::desktop
