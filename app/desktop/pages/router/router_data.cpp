#include "pages/router/router_data.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>

#include "project/runs_snapshot.h"

namespace faceter::desktop {
namespace {

std::string text(const char* source) { return QCoreApplication::translate("RouterData", source).toStdString(); }

std::set<std::string> allNames() {
    std::set<std::string> names;
    for (const RouterDocuments* documents : {&gateDocuments(), &scoreDocuments(), &mapDocuments()}) {
        names.insert(documents->figures.begin(), documents->figures.end());
        names.insert(documents->tables.begin(), documents->tables.end());
    }
    return names;
}

bool hasRouter(const Json& settings) {
    return settings.is_object() && settings.contains("variant") && settings["variant"].is_object() &&
           settings["variant"].value("method", "") == "router_retriever";
}

std::vector<RouteAnswer::Value> valuesOf(const Json& answer) {
    std::vector<RouteAnswer::Value> values;
    for (const auto& [name, value] : answer.at("values").items())
        if (value.is_number()) values.push_back({name, value.get<double>()});  // a gate without pilots has none
    std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
    return values;
}

}  // namespace

const RouterDocuments& gateDocuments() {
    static const RouterDocuments documents{{"router_best_gate", "router_routed_gate", "router_matrix"},
                                           {"router_agreement", "router_own_gate", "router_errors", "router_gates"}};
    return documents;
}

const RouterDocuments& scoreDocuments() {
    static const RouterDocuments documents{
        {"router_gate_count", "router_clusters", "router_training_size", "router_training_size_elsewhere", "router_label_weight"},
        {"router_scores", "router_tests", "router_second_gate", "router_latency"}};
    return documents;
}

const RouterDocuments& mapDocuments() {
    static const RouterDocuments documents{{"router_query_map", "router_document_map"}, {"router_other_domains"}};
    return documents;
}

RouterDataPtr loadRouters(Store& store, const std::filesystem::path& project, const std::vector<TrainedRun>& requests) {
    static const std::set<std::string> names = allNames();
    auto runs = std::make_shared<std::vector<RouterRun>>();
    for (const TrainedRun& request : requests) {
        const Json settings = store.settings(request.run);
        RouterRun run{request, (project / "runs" / request.run).string(), {}, loadReport(store, request.run, names)};
        if (settings.is_object() && settings.contains("tasks"))
            for (const auto& [name, task] : settings["tasks"].items()) run.tasks.push_back(name);
        if (!run.report.empty() || hasRouter(settings)) runs->push_back(std::move(run));
    }
    return runs;
}

RouteAnswer RouteAnswer::from(const Json& answer) {
    RouteAnswer route;
    route.gate = answer.at("gate").get<std::string>();
    if (answer.at("next_gate").is_string()) route.nextGate = answer["next_gate"].get<std::string>();
    route.instruction = answer.at("instruction").get<std::string>();
    if (answer.contains("num_tokens")) {
        route.numTokens = answer["num_tokens"].get<std::int64_t>();
        route.keptTokens = answer.at("kept_tokens").get<std::int64_t>();
    }
    if (answer.at("values").is_object()) route.values = valuesOf(answer);
    if (!answer.contains("pilots")) return route;
    for (const Json& pilot : answer["pilots"])
        route.pilots.push_back({pilot.at("gate").get<std::string>(), pilot.at("domain").get<std::string>(),
                                pilot.at("instances").get<int>(), pilot.at("similarity").get<double>(), pilot.at("x").get<double>(),
                                pilot.at("y").get<double>()});
    std::stable_sort(route.pilots.begin(), route.pilots.end(), [](const Pilot& a, const Pilot& b) { return a.similarity > b.similarity; });
    route.x = answer.at("place").at("x").get<double>();
    route.y = answer.at("place").at("y").get<double>();
    return route;
}

/// Gates by name, so that each keeps its colour whatever the text.
Figure RouteAnswer::map() const {
    Figure figure;
    figure.kind = FigureKind::scatter;
    figure.name = "router_pilots";
    figure.title = text("Pilots and the text under the base encoder");
    figure.x.label = text("First component of the pilots");
    figure.y.label = text("Second component");
    std::map<std::string, Series> gates;
    for (const Pilot& pilot : pilots) {
        Series& series = gates[pilot.gate];
        series.name = pilot.gate;
        series.x.push_back(pilot.x);
        series.y.push_back(pilot.y);
        series.labels.push_back(pilot.domain);
    }
    for (auto& [name, series] : gates) figure.series.push_back(std::move(series));
    Series own;
    own.name = text("the text");
    own.x = {x};
    own.y = {y};
    own.labels = {text("the text")};
    figure.series.push_back(std::move(own));
    return figure;
}

Table RouteAnswer::valueTable() const {
    Table table;
    table.name = "router_values";
    table.caption = text("Gates for this text, the highest first");
    table.add_column(text("gate"), ColumnKind::text);
    table.add_column(text("value"), ColumnKind::number, 4);
    table.add_column(text("behind the first"), ColumnKind::delta, 4);
    table.add_column(text("pilots"), ColumnKind::count);
    for (const Value& value : values) {
        const auto own = std::count_if(pilots.begin(), pilots.end(), [&](const Pilot& pilot) { return pilot.gate == value.name; });
        table.add_row({Cell::of(value.name), Cell::of(value.value), Cell::of(value.value - values.front().value),
                       Cell::of(static_cast<double>(own))});
    }
    return table;
}

Table RouteAnswer::pilotTable() const {
    Table table;
    table.name = "router_nearest_pilots";
    table.caption = text("Pilots, the nearest first");
    table.add_column(text("gate"), ColumnKind::text);
    table.add_column(text("domain"), ColumnKind::text);
    table.add_column(text("similarity"), ColumnKind::number, 4);
    table.add_column(text("instances"), ColumnKind::count);
    for (const Pilot& pilot : pilots)
        table.add_row(
            {Cell::of(pilot.gate), Cell::of(pilot.domain), Cell::of(pilot.similarity), Cell::of(static_cast<double>(pilot.instances))});
    return table;
}

}  // namespace faceter::desktop
