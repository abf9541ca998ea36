#include "study_figures.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/random.h"
#include "common/strings.h"
#include "stats/descriptive.h"

namespace faceter {
namespace {

Figure heat_map(const StudyData& data, const char* name, const std::string& title, const std::vector<int>& experts,
                const std::vector<std::vector<double>>& rows, const char* label) {
    Figure figure;
    figure.kind = FigureKind::heat_map;
    figure.name = name;
    figure.title = fmt::format("{}: {}", title, data.run);
    figure.x.label = "Gate";
    figure.y.label = "Data set";
    figure.heat_map.columns = names_of(data, experts);
    figure.heat_map.label = label;
    for (std::size_t s = 0; s < rows.size(); ++s) {
        figure.heat_map.rows.push_back(data.sets[s].name);
        figure.heat_map.values.insert(figure.heat_map.values.end(), rows[s].begin(), rows[s].end());
    }
    return figure;
}

Figure line_figure(const StudyData& data, const char* name, const std::string& title, const char* x) {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = name;
    figure.title = fmt::format("{}: {}", title, data.run);
    figure.x.label = x;
    figure.y.label = "nDCG@10, mean over data sets";
    figure.y.unit = "%";
    return figure;
}

/// The map of the best gate and that of the chosen one stand side by side: one colour is one share in both.
Figure with_whole_scale(Figure figure) {
    figure.y.min = 0, figure.y.max = 1;
    return figure;
}

}  // namespace

Figure matrix_figure(const StudyData& data) {
    std::vector<std::vector<double>> rows;
    for (const StudySet& set : data.sets) {
        rows.push_back(row_means(set, data.candidates()));
        const double base = row_means(set, {0}).front();
        for (double& value : rows.back()) value -= base;
    }
    Figure figure = heat_map(data, "router_matrix", "Gain of each gate over no gate", data.candidates(), rows, "nDCG@10 gained");
    figure.heat_map.centre = 0;
    figure.heat_map.decimals = 1;
    figure.heat_map.unit = "points";
    return figure;
}

Figure best_gate_figure(const StudyData& data) {
    std::vector<std::vector<double>> rows;
    for (const StudySet& set : data.sets) rows.push_back(best_shares(set, data.candidates()));
    Figure figure = heat_map(data, "router_best_gate", "Gate with the best nDCG@10", data.candidates(), rows, "Share of queries");
    figure.notes = {"Gates that tie share a query."};
    return with_whole_scale(std::move(figure));
}

Figure routed_gate_figure(const StudyData& data) {
    std::vector<std::vector<double>> rows;
    for (const auto& chosen : choices(data, data.candidates(), data.router->settings())) rows.push_back(shares(chosen, data.candidates()));
    return with_whole_scale(
        heat_map(data, "router_routed_gate", "Gate that the router chooses", data.candidates(), rows, "Share of queries"));
}

namespace {

/// Means over sets with the first 1, 2 ... gates of an order.
struct CountCurves {
    std::vector<double> routed, best, oracle;
};

CountCurves count_curves(const StudyData& data, const std::vector<int>& order) {
    CountCurves curves;
    std::vector<int> gates;
    if (data.router->with_base()) gates.push_back(0);
    for (const int expert : order) {
        gates.push_back(expert);
        curves.routed.push_back(faceter::routed(data, "", gates, pilot_settings(data)).mean());
        curves.best.push_back(best_individuals(data, gates).mean());
        curves.oracle.push_back(faceter::oracle(data, gates).mean());
    }
    return curves;
}

Series counted(const std::string& name, const std::vector<double>& values, bool dashed = false) {
    Series series;
    series.name = name;
    series.dashed = dashed;
    for (std::size_t i = 0; i < values.size(); ++i) series.x.push_back(static_cast<double>(i) + 1);
    series.y = values;
    return series;
}

/// The mean over random orders, with their range.
Series shuffled(const StudyData& data, const std::vector<int>& gates, int orders) {
    std::vector<std::vector<double>> all;
    for (int o = 0; o < orders; ++o) {
        std::vector<int> order = gates;
        RandomStream(static_cast<std::uint64_t>(o) + 1, "gate order").shuffle(order);
        all.push_back(count_curves(data, order).routed);
    }
    Series series = counted(fmt::format("RouterRetriever, mean of {} random orders", orders), std::vector<double>(gates.size(), 0));
    for (std::size_t n = 0; n < gates.size(); ++n) {
        std::vector<double> values;
        for (const auto& curve : all) values.push_back(curve[n]);
        series.y[n] = mean(values);
        series.low.push_back(*std::min_element(values.begin(), values.end()));
        series.high.push_back(*std::max_element(values.begin(), values.end()));
    }
    return series;
}

Series multi_task_curve(const StudyData& data) {
    Series series;
    series.name = "Multi-Task on the first domains";
    series.dashed = true;
    std::map<double, double> by_domains;
    const auto& gates = data.library().gates;
    for (std::size_t i = 0; i < gates.size(); ++i) {
        if (!gates[i].kind.starts_with("multi_task")) continue;
        const auto part = parse_int(std::string_view(gates[i].name).substr(gates[i].name.rfind(' ') + 1));
        const double domains =
            gates[i].kind == "multi_task" ? static_cast<double>(data.trained_domains) : static_cast<double>(part.value_or(0));
        by_domains[domains] = through(data, "", static_cast<int>(i) + 1).mean();
    }
    for (const auto& [domains, score] : by_domains) series.x.push_back(domains), series.y.push_back(score);
    return series;
}

}  // namespace

Figure gate_count_figure(const StudyData& data, int orders) {
    Figure figure = line_figure(data, "router_gate_count", "Score against number of gates", "Gates");
    std::vector<int> gates = data.library().candidates(false);
    const CountCurves given = count_curves(data, gates);
    figure.series = {counted("RouterRetriever, given order", given.routed), counted("Best Individual", given.best, true),
                     counted("Oracle", given.oracle, true)};
    std::vector<int> reversed(gates.rbegin(), gates.rend());
    if (gates.size() > 1) figure.series.push_back(counted("RouterRetriever, reversed order", count_curves(data, reversed).routed));
    if (orders > 0 && gates.size() > 2) figure.series.push_back(shuffled(data, gates, orders));
    if (Series multi = multi_task_curve(data); !multi.x.empty()) figure.series.push_back(std::move(multi));
    figure.series.push_back(counted("no gate", std::vector<double>(gates.size(), through(data, "", 0).mean()), true));
    figure.notes = {fmt::format("Given order: {}.", join(names_of(data, gates), ", "))};
    return figure;
}

namespace {

/// The router's mean score against the values of one of its settings.
template <typename Value>
Series swept(const StudyData& data, std::vector<Value> values, Value RouterSettings::*setting) {
    std::sort(values.begin(), values.end());
    Series series;
    series.name = "RouterRetriever";
    for (const Value value : values) {
        RouterSettings settings = pilot_settings(data);
        settings.*setting = value;
        series.x.push_back(static_cast<double>(value));
        series.y.push_back(routed(data, "", data.candidates(), settings).mean());
    }
    return series;
}

}  // namespace

Figure clusters_figure(const StudyData& data, std::vector<int> clusters) {
    Figure figure = line_figure(data, "router_clusters", "Score against pilots of a domain and gate", "k of k-means");
    figure.series = {swept(data, std::move(clusters), &RouterSettings::clusters)};
    return figure;
}

Figure label_weight_figure(const StudyData& data, std::vector<double> weights) {
    Figure figure = line_figure(data, "router_label_weight", "Weight of the pilots' own domain against the gate they are filed under",
                                "Weight of the domain's label");
    figure.series = {swept(data, std::move(weights), &RouterSettings::label_weight)};
    return figure;
}

std::vector<std::pair<std::string, Figure>> training_size_figures(const StudyData& data) {
    const auto& gates = data.library().gates;
    Figure in_domain =
        line_figure(data, "router_training_size", "Gates on their own domain against training examples", "Training examples");
    Figure elsewhere =
        line_figure(data, "router_training_size_elsewhere", "Gates on other domains against training examples", "Training examples");
    for (const int expert : data.library().candidates(false)) {
        const std::string domain = gates[static_cast<std::size_t>(expert) - 1].domain;
        std::vector<std::pair<double, int>> sizes;
        for (std::size_t i = 0; i < gates.size(); ++i) {
            const bool own = static_cast<int>(i) + 1 == expert, sized = gates[i].kind == "sized" && gates[i].domain == domain;
            const bool known = gates[i].examples > 0;  // not of a gate that was given
            if (known && (own || sized)) sizes.emplace_back(static_cast<double>(gates[i].examples), static_cast<int>(i) + 1);
        }
        if (sizes.size() < 2) continue;
        std::sort(sizes.begin(), sizes.end());
        Series own, other;
        own.name = other.name = domain;
        for (const auto& [size, gate] : sizes) {
            std::vector<double> inside, outside;
            for (const StudySet& set : data.sets) (set.domain == domain ? inside : outside).push_back(row_means(set, {gate}).front());
            for (const auto& [series, scores] : {std::pair(&own, &inside), std::pair(&other, &outside)}) {
                if (scores->empty()) continue;
                series->x.push_back(size);
                series->y.push_back(mean(*scores));
            }
        }
        if (!own.x.empty()) in_domain.series.push_back(std::move(own));
        if (!other.x.empty()) elsewhere.series.push_back(std::move(other));
    }
    std::vector<std::pair<std::string, Figure>> figures;
    for (Figure* figure : {&in_domain, &elsewhere})
        if (!figure->series.empty()) figures.emplace_back(figure->name, std::move(*figure));
    return figures;
}

}  // namespace faceter
