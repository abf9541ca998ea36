#include "pages/experts/experts_data.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "common/strings.h"
#include "project/runs_snapshot.h"

namespace faceter::desktop {
namespace {

constexpr std::string_view load_prefix = "expert_load/block ", entropy_prefix = "router_entropy/block ", loss_prefix = "loss/";
constexpr std::size_t smoothed_steps = 20;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
const std::set<std::string> documents{"expert_load", "router_entropy", "mote_moved", "mote_between", "mote_experts"};

std::string text(const char* source) { return QCoreApplication::translate("ExpertsData", source).toStdString(); }
std::string text(const char* source, const QString& value) {
    return QCoreApplication::translate("ExpertsData", source).arg(value).toStdString();
}

/// Puts the series' points where their steps stand.
std::vector<double> alignedTo(const std::vector<std::int64_t>& steps, const std::vector<SeriesPoint>& points) {
    std::vector<double> values(steps.size(), unknown);
    for (const SeriesPoint& point : points) {
        const auto place = std::lower_bound(steps.begin(), steps.end(), point.step);
        if (place != steps.end() && *place == point.step) values[static_cast<std::size_t>(place - steps.begin())] = point.value;
    }
    return values;
}

/// Which task a step was of, where it was of one.
void readTasks(Store& store, const std::string& run, const std::vector<std::string>& names, ExpertHistory& history) {
    constexpr int none = -2;
    history.task.assign(history.steps.size(), none);
    for (const std::string& name : names) {
        if (!name.starts_with(loss_prefix)) continue;
        const int task = static_cast<int>(history.tasks.size());
        history.tasks.push_back(name.substr(loss_prefix.size()));
        const std::vector<double> values = alignedTo(history.steps, store.series(run, name));
        for (std::size_t i = 0; i < values.size(); ++i)
            if (std::isfinite(values[i])) history.task[i] = history.task[i] == none ? task : ExpertHistory::several;
    }
    for (int& task : history.task) task = task == none ? ExpertHistory::several : task;
}

/// "expert_load/block 3/expert 1" -> 3, 1.
std::optional<std::pair<int, int>> placeOf(const std::string& name) {
    const std::size_t slash = name.find("/expert ", load_prefix.size());
    if (!name.starts_with(load_prefix) || slash == std::string::npos) return {};
    const auto block = parse_int(std::string_view(name).substr(load_prefix.size(), slash - load_prefix.size())),
               expert = parse_int(std::string_view(name).substr(slash + 8));
    constexpr int most = 4096;
    if (!block || !expert || *block < 0 || *expert < 0 || *block >= most || *expert >= most) return {};
    return std::pair(static_cast<int>(*block), static_cast<int>(*expert));
}

ExpertHistory readHistory(Store& store, const std::string& run) {
    ExpertHistory history;
    const std::vector<std::string> names = seriesOfFirstStage(store, run);
    std::map<int, std::map<int, std::string>> found;
    for (const std::string& name : names)
        if (const auto place = placeOf(name)) found[place->first][place->second] = name;
    if (found.empty()) return history;
    for (const SeriesPoint& point : store.series(run, found.begin()->second.begin()->second)) history.steps.push_back(point.step);
    for (const auto& [block, experts] : found) {
        history.numExperts = std::max(history.numExperts, static_cast<std::size_t>(experts.rbegin()->first) + 1);
        ExpertHistory::Block one{block, {}, alignedTo(history.steps, store.series(run, fmt::format("{}{}", entropy_prefix, block)))};
        for (const auto& [expert, name] : experts) {
            one.load.resize(static_cast<std::size_t>(expert) + 1, std::vector<double>(history.steps.size(), unknown));
            one.load.back() = alignedTo(history.steps, store.series(run, name));
        }
        history.blocks.push_back(std::move(one));
    }
    for (ExpertHistory::Block& block : history.blocks)
        block.load.resize(history.numExperts, std::vector<double>(history.steps.size(), unknown));
    history.dropped = alignedTo(history.steps, store.series(run, "dropped_assignments"));
    readTasks(store, run, names, history);
    return history;
}

std::vector<std::string> routesOf(const Json& settings) {
    std::vector<std::string> routes;
    if (!settings.is_object() || !settings.contains("tasks")) return routes;
    for (const auto& [name, task] : settings["tasks"].items()) {
        if (!task.is_object()) continue;
        const Json instructions = task.value("instructions", Json::object());
        const bool both =
            instructions.contains("query") && instructions.contains("document") && instructions["query"] != instructions["document"];
        if (both)
            routes.insert(routes.end(), {name + ".query", name + ".document"});
        else
            routes.push_back(name);
    }
    return routes;
}

bool hasExperts(const ExpertsRun& run, const Json& settings) {
    if (!run.history.steps.empty() || !run.report.empty()) return true;
    static const std::set<std::string> methods{"mote", "token_routed_moe"};
    return settings.is_object() && settings.contains("variant") && settings["variant"].is_object() &&
           methods.contains(settings["variant"].value("method", ""));
}

std::string taskName(const ExpertHistory& history, int task) {
    return task == ExpertHistory::several ? text("all tasks") : history.tasks[static_cast<std::size_t>(task)];
}

/// Means over the window that ends at each place.
std::vector<double> smoothed(const std::vector<double>& values, const std::vector<std::size_t>& places) {
    std::vector<double> means;
    for (std::size_t i = 0; i < places.size(); ++i) means.push_back(ExpertHistory::recent(values, places, i, smoothed_steps));
    return means;
}

Series curve(const std::string& name, const std::vector<double>& values, const ExpertHistory& history,
             const std::vector<std::size_t>& places) {
    Series series;
    series.name = name;
    const std::vector<double> means = smoothed(values, places);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!std::isfinite(values[places[i]])) continue;
        series.x.push_back(static_cast<double>(history.steps[places[i]]));
        series.y.push_back(means[i]);
        series.raw.push_back(values[places[i]]);
    }
    return series;
}

Figure curves(const char* name, const std::string& title, const std::string& label) {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = name;
    figure.title = title;
    figure.x.label = text("Step");
    figure.y.label = label;
    return figure;
}

}  // namespace

std::vector<std::size_t> ExpertHistory::placesOf(int ofTask) const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (ofTask == several || task[i] == ofTask) places.push_back(i);
    return places;
}

bool ExpertHistory::hasDropped() const {
    return std::any_of(dropped.begin(), dropped.end(), [](double value) { return value > 0; });
}

double ExpertHistory::recent(const std::vector<double>& values, const std::vector<std::size_t>& places, std::size_t last,
                             std::size_t window) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = std::min(last + 1, places.size()); i-- > 0 && count < window;)
        if (std::isfinite(values[places[i]])) sum += values[places[i]], ++count;
    return count > 0 ? sum / static_cast<double>(count) : unknown;
}

ExpertsDataPtr loadExperts(Store& store, const std::filesystem::path& project, const std::vector<TrainedRun>& requests) {
    auto runs = std::make_shared<std::vector<ExpertsRun>>();
    for (const TrainedRun& request : requests) {
        ExpertsRun run{request,
                       (project / "runs" / request.run).string(),
                       {},
                       readHistory(store, request.run),
                       loadReport(store, request.run, documents)};
        const Json settings = store.settings(request.run);
        run.tasks = routesOf(settings);
        if (hasExperts(run, settings)) runs->push_back(std::move(run));
    }
    return runs;
}

Figure loadFigure(const ExpertHistory& history, int task, std::size_t last) {
    const std::vector<std::size_t> places = history.placesOf(task);
    Figure figure;
    figure.kind = FigureKind::heat_map;
    figure.name = "expert_load_at_step";
    const std::int64_t step = places.empty() ? 0 : history.steps[places[std::min(last, places.size() - 1)]];
    figure.title = text("Share of tokens by expert, step %1", QString::number(step)) + ", " + taskName(history, task);
    figure.x.label = text("Expert");
    figure.y.label = text("Block");
    figure.heat_map.label = text("Share of assignments");
    figure.heat_map.centre = 1.0 / static_cast<double>(std::max<std::size_t>(1, history.numExperts));
    for (std::size_t e = 0; e < history.numExperts; ++e) figure.heat_map.columns.push_back(std::to_string(e));
    for (const ExpertHistory::Block& block : history.blocks) {
        figure.heat_map.rows.push_back(text("block %1", QString::number(block.block)));
        for (const std::vector<double>& load : block.load)
            figure.heat_map.values.push_back(ExpertHistory::recent(load, places, last, smoothed_steps));
    }
    figure.notes = {text("The mean of the last %1 steps; ", QString::number(smoothed_steps)) +
                    text("an even share is %1.", QString::number(*figure.heat_map.centre, 'f', 3))};
    return figure;
}

Figure loadCurves(const ExpertHistory& history, std::size_t block, int task) {
    const std::vector<std::size_t> places = history.placesOf(task);
    const ExpertHistory::Block& own = history.blocks[block];
    Figure figure =
        curves("expert_load_curves", text("Load of the experts of block %1", QString::number(own.block)), text("Share of assignments"));
    for (std::size_t e = 0; e < own.load.size(); ++e)
        figure.series.push_back(curve(text("expert %1", QString::number(e)), own.load[e], history, places));
    return figure;
}

Figure entropyCurves(const ExpertHistory& history, int task) {
    const std::vector<std::size_t> places = history.placesOf(task);
    Figure figure = curves("router_entropy_curves", text("Entropy of the routers"), text("Entropy"));
    figure.y.unit = "nats";
    for (const ExpertHistory::Block& block : history.blocks)
        figure.series.push_back(curve(text("block %1", QString::number(block.block)), block.entropy, history, places));
    figure.notes = {text("A router without a preference has %1 nats.",
                         QString::number(std::log(static_cast<double>(std::max<std::size_t>(1, history.numExperts))), 'f', 3))};
    return figure;
}

Figure droppedCurve(const ExpertHistory& history, int task) {
    Figure figure = curves("dropped_assignments", text("Dropped assignments"), text("Assignments a step"));
    figure.series = {curve(text("all blocks"), history.dropped, history, history.placesOf(task))};
    return figure;
}

}  // namespace faceter::desktop
