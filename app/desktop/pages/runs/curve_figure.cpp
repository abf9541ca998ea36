#include "pages/runs/curve_figure.h"

#include <algorithm>

namespace faceter::desktop {
namespace {

constexpr int columns = 240;  // of a card 800 px wide: one every 3 px
constexpr std::size_t most_tasks = 4;

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> drawnOf(const std::string& choice, const std::vector<TaskLoss>& tasks) {
    if (choice != loss_by_task) return {choice};
    std::vector<std::string> drawn;
    for (std::size_t i = 0; i < std::min(most_tasks, tasks.size()); ++i) drawn.push_back(tasks[i].series.front());
    return drawn;
}

}  // namespace

std::string defaultSeries(const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (name.starts_with("score/")) return name;
    for (const char* loss : {loss_by_task, "loss"})
        if (contains(names, loss)) return loss;
    return names.empty() ? "loss" : names.front();
}

CurveAnswer readCurves(Store& store, const std::vector<CurveGroup>& groups, const std::string& wanted) {
    CurveAnswer answer;
    answer.names = curveNames(store, groups);
    const std::vector<TaskLoss> tasks = lossByTask(answer.names);
    answer.numTasks = tasks.size();
    if (tasks.size() > 1) answer.names.insert(answer.names.begin(), loss_by_task);
    answer.series = contains(answer.names, wanted) ? wanted : defaultSeries(answer.names);
    answer.drawn = drawnOf(answer.series, tasks);
    CurveRequest request;
    request.series = answer.drawn;
    request.groups = groups;
    request.columns = columns;
    answer.figure = readCurve(store, request).figure;
    return answer;
}

}  // namespace faceter::desktop
