#include "pages/curriculum/curriculum_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "common/error.h"
#include "common/strings.h"
#include "figure/escape.h"

namespace faceter::desktop {
namespace {

constexpr std::string_view prefix = "data_cube_", loss_prefix = "loss/";

/// Calls `read` for each document of the report with its name behind the prefix; what it throws is a problem of that document alone.
template <typename Read>
void readDocuments(Store& store, CurriculumRun& run, const char* kind, Read read) {
    for (const auto& [name, json] : store.documents(run.request.run, kind)) {
        if (!std::string_view(name).starts_with(prefix)) continue;
        const std::string where = fmt::format("{}: {} {}", run.request.run, kind, name);
        try {
            if (json.is_object() && json.contains("error")) throw data_error("{}", json_at<std::string>(json, "error", where));
            read(name.substr(prefix.size()), json, where);
        } catch (const std::exception& error) {
            run.problems.emplace_back(error.what());
        }
    }
}

std::size_t columnOf(const Table& table, std::string_view name) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (table.columns[i].name == name) return i;
    return table.columns.size();
}

/// The plan's table has its tasks in the tour's order.
std::vector<TourTask> tourOf(const Table& plan) {
    const std::size_t task = columnOf(plan, "task"), next = columnOf(plan, "similarity to next");
    std::vector<TourTask> tour;
    if (task == plan.columns.size()) return tour;
    for (const Row& row : plan.rows) {
        const bool known = next < row.cells.size() && row.cells[next].kind == Cell::Kind::number;
        tour.push_back({row.cells[task].text, known ? row.cells[next].value : std::numeric_limits<double>::quiet_NaN()});
    }
    return tour;
}

/// "plan 0123abcd · sum of neighbouring similarities 5.21, 4.2 standard deviations above random orders".
std::string summaryOf(const Json& report, const std::string& where) {
    if (!report.is_object() || !report.contains("plan")) return {};
    const Json& plan = report["plan"];
    const double total = json_at<double>(plan, "total", where), mean = json_at<double>(plan, "random_mean", where),
                 deviation = json_at<double>(plan, "random_std", where);
    std::string text =
        fmt::format("plan {} · sum of neighbouring similarities {:.3f}", json_at<std::string>(plan, "hash", where).substr(0, 12), total);
    if (deviation > 0) text += fmt::format(", {:.1f} standard deviations above random orders", (total - mean) / deviation);
    return text;
}

TrainedOrder orderOf(Store& store, const std::string& run) {
    TrainedOrder order;
    for (const std::string& name : seriesOfFirstStage(store, run)) {
        if (!std::string_view(name).starts_with(loss_prefix)) continue;
        const int task = static_cast<int>(order.tasks.size());
        order.tasks.push_back(name.substr(loss_prefix.size()));
        for (const SeriesPoint& point : store.series(run, name)) order.batches.push_back({point.step, task, point.value});
    }
    std::stable_sort(order.batches.begin(), order.batches.end(),
                     [](const TrainedBatch& a, const TrainedBatch& b) { return a.step < b.step; });
    return order;
}

bool trainsSeveralTasks(const Json& settings) {
    if (!settings.is_object() || !settings.contains("tasks") || !settings["tasks"].is_object()) return false;
    int trained = 0;
    for (const auto& [name, task] : settings["tasks"].items())
        trained += task.is_object() && task.contains("train") && task["train"].is_array() && !task["train"].empty();
    return trained > 1;
}

/// A curriculum keeps its plan in RUN/curriculum.
bool hasPlan(const std::filesystem::path& run) {
    std::error_code none;
    return std::filesystem::is_directory(run / "curriculum", none) && !std::filesystem::is_empty(run / "curriculum", none);
}

CurriculumRun loadRun(Store& store, const std::filesystem::path& project, const TrainedRun& request) {
    CurriculumRun run;
    run.request = request;
    readDocuments(store, run, "figure", [&](const std::string& name, const Json& json, const std::string& where) {
        Figure figure = Figure::from_json(json, where);
        figure.validate();
        run.figures.emplace(name, std::move(figure));
    });
    readDocuments(store, run, "table", [&](const std::string& name, const Json& json, const std::string& where) {
        Table table = Table::from_json(json, where);
        table.validate();
        run.tables.emplace(name, std::move(table));
    });
    readDocuments(store, run, "analysis", [&](const std::string&, const Json& json, const std::string& where) {
        if (const std::string summary = summaryOf(json, where); !summary.empty()) run.summary = summary;
    });
    if (const auto plan = run.tables.find("plan"); plan != run.tables.end()) run.tour = tourOf(plan->second);
    run.order = orderOf(store, request.run);
    run.isUnderWay = !request.isDone && trainsSeveralTasks(store.settings(request.run));
    run.isUnbegun = run.isUnderWay && store.series_names(request.run).empty();
    run.isByDataSet = request.isDone && run.order.tasks.size() == 1 && hasPlan(project / "runs" / request.run);
    if (run.isByDataSet) run.order = {};
    return run;
}

}  // namespace

std::vector<CurriculumRun> loadCurriculum(Store& store, const std::filesystem::path& project, const std::vector<TrainedRun>& requests) {
    std::vector<CurriculumRun> runs;
    for (const TrainedRun& request : requests)
        if (CurriculumRun run = loadRun(store, project, request);
            run.hasReport() || !run.problems.empty() || run.order.tasks.size() > 1 || run.isUnderWay || run.isByDataSet)
            runs.push_back(std::move(run));
    return runs;
}

TrainedOrder plannedOrder(const Json& answer) {
    TrainedOrder order;
    for (const Json& task : answer.at("tasks")) order.tasks.push_back(task.get<std::string>());
    std::int64_t step = 0;
    for (const Json& tasks : answer.at("steps")) {
        ++step;
        for (const Json& place : tasks) {
            const int task = place.get<int>();
            if (task < 0 || task >= static_cast<int>(order.tasks.size()))
                throw data_error("the live worker's answer has {} tasks, and step {} another one", order.tasks.size(), step);
            order.batches.push_back({step, task, std::numeric_limits<double>::quiet_NaN()});
        }
    }
    return order;
}

std::map<std::string, int> taskColours(const std::vector<CurriculumRun>& runs) {
    std::map<std::string, int> places;
    const auto add = [&](const std::string& task) { places.emplace(task, static_cast<int>(places.size())); };
    for (const CurriculumRun& run : runs)
        for (const TourTask& task : run.tour) add(task.name);
    std::set<std::string> others;
    for (const CurriculumRun& run : runs) others.insert(run.order.tasks.begin(), run.order.tasks.end());
    for (const std::string& task : others) add(task);
    return places;
}

std::string batchesCsv(const std::vector<CurriculumRun>& runs) {
    std::string csv = "run,step,task,loss\r\n";
    for (const CurriculumRun& run : runs)
        for (const TrainedBatch& batch : run.order.batches)
            csv += fmt::format("{},{},{},{}\r\n", escape_csv(run.request.run), batch.step,
                               escape_csv(run.order.tasks[static_cast<std::size_t>(batch.task)]),
                               std::isfinite(batch.loss) ? format_double(batch.loss) : "");
    return csv;
}

}  // namespace faceter::desktop
