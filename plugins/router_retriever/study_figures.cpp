#include "study_figures.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/random.h"
#include "common/strings.h"
#include "stats/descriptive.h"
#include "stats/multiple_testing.h"
#include "stats/paired.h"

namespace faceter {
namespace {

constexpr double tie = 1e-9;

std::vector<std::vector<int>> choices(const StudyData& data, const std::vector<int>& candidates, const RouterSettings& settings) {
    const auto router = make_query_router(data.library(), candidates, settings);
    std::vector<std::vector<int>> all;
    for (const StudySet& set : data.sets) all.push_back(router->choose(set.base));
    return all;
}

RouterSettings pilot_settings(const StudyData& data) {
    RouterSettings settings = data.router->settings();
    settings.kind = "pilot";
    return settings;
}

std::vector<std::string> names_of(const StudyData& data, const std::vector<int>& experts) {
    std::vector<std::string> names;
    for (const int expert : experts) names.push_back(data.library().name_of(expert));
    return names;
}

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

std::vector<double> row_means(const StudySet& set, const std::vector<int>& experts) {
    const at::Tensor means = set.scores.mean(0);
    std::vector<double> all;
    for (const int expert : experts) all.push_back(means[expert].item<double>());
    return all;
}

std::vector<int> every_expert(const StudyData& data) {
    std::vector<int> all(data.library().gates.size() + 1);
    std::iota(all.begin(), all.end(), 0);
    return all;
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

/// Best score of the candidates for a query.
double best_score(const StudySet& set, std::size_t query, const std::vector<int>& candidates) {
    double best = -1;
    for (const int expert : candidates) best = std::max(best, set.scores[static_cast<std::int64_t>(query)][expert].item<double>());
    return best;
}

std::vector<double> pooled(const StudyMethod& method) {
    std::vector<double> all;
    for (const auto& scores : method.scores) all.insert(all.end(), scores.begin(), scores.end());
    return all;
}

double mean_of(const std::vector<double>& values) { return values.empty() ? not_a_number : faceter::mean(values); }

}  // namespace

std::vector<double> StudyMethod::means() const {
    std::vector<double> all;
    for (const auto& set : scores) all.push_back(faceter::mean(set));
    return all;
}
double StudyMethod::mean() const { return faceter::mean(means()); }

StudyMethod routed(const StudyData& data, const std::string& name, const std::vector<int>& candidates, const RouterSettings& settings) {
    StudyMethod method{name, {}};
    const auto chosen = choices(data, candidates, settings);
    for (std::size_t s = 0; s < data.sets.size(); ++s) method.scores.push_back(chosen_scores(data.sets[s], chosen[s]));
    return method;
}

StudyMethod through(const StudyData& data, const std::string& name, int expert) {
    StudyMethod method{name, {}};
    for (const StudySet& set : data.sets) method.scores.push_back(chosen_scores(set, std::vector<int>(set.queries.size(), expert)));
    return method;
}

StudyMethod oracle(const StudyData& data, const std::vector<int>& candidates) {
    StudyMethod method{"Oracle (by query)", {}};
    for (const StudySet& set : data.sets) method.scores.push_back(chosen_scores(set, oracle_choice(set, candidates)));
    return method;
}

StudyMethod best_individuals(const StudyData& data, const std::vector<int>& candidates) {
    StudyMethod method{"Best Individual (oracle by data set)", {}};
    for (const StudySet& set : data.sets)
        method.scores.push_back(chosen_scores(set, std::vector<int>(set.queries.size(), best_individual(set, candidates))));
    return method;
}

Table score_table(const StudyData& data, const std::vector<StudyMethod>& methods, std::vector<std::string> notes) {
    Table table;
    table.name = "router_scores";
    table.caption = fmt::format("nDCG@10 in percent by way of choosing a gate: {}", data.run);
    table.add_column("method", ColumnKind::text);
    for (const StudySet& set : data.sets)
        table.add_column(set.name, ColumnKind::number, 1).group = data.has_gate(set) ? "with a gate of their own" : "without one";
    for (const char* mean : {"with own gate", "without", "all sets"})
        table.add_column(mean, ColumnKind::number, 1).group = "means over data sets";
    for (const StudyMethod& method : methods) {
        std::vector<Cell> cells = {Cell::of(method.name)};
        std::vector<double> with, without;
        const auto means = method.means();
        for (std::size_t s = 0; s < means.size(); ++s) {
            cells.push_back(Cell::of(means[s]));
            (data.has_gate(data.sets[s]) ? with : without).push_back(means[s]);
        }
        for (const double value : {mean_of(with), mean_of(without), method.mean()}) cells.push_back(Cell::of(value));
        table.add_row(std::move(cells)).rule_above = method.name == "no gate" || method.name.starts_with("Best Individual");
    }
    notes.insert(
        notes.begin(),
        "Best Individual takes the gate with the best mean of each data set, Oracle the best one of each query; both look at the answers.");
    table.footnotes = std::move(notes);
    return table;
}

Table test_table(const StudyData& data, const std::vector<StudyMethod>& methods) {
    Table table;
    table.name = "router_tests";
    table.caption = fmt::format("{} against the others, query by query: {}", methods.front().name, data.run);
    table.add_column("against", ColumnKind::text);
    table.add_column("difference", ColumnKind::delta, 2);
    table.add_column("from", ColumnKind::delta, 2).group = "95% interval";
    table.add_column("to", ColumnKind::delta, 2).group = "95% interval";
    table.add_column("paired t", ColumnKind::p_value).group = "p";
    table.add_column("Wilcoxon", ColumnKind::p_value).group = "p";
    table.add_column("Holm (t)", ColumnKind::p_value).group = "p";
    table.add_column("queries", ColumnKind::count);
    const std::vector<double> own = pooled(methods.front());
    std::vector<PairedTResult> tests;
    std::vector<double> p;
    for (std::size_t m = 1; m < methods.size(); ++m) {
        tests.push_back(paired_t(own, pooled(methods[m])));
        p.push_back(tests.back().p);
    }
    const auto adjusted = holm(p);
    for (std::size_t m = 1; m < methods.size(); ++m) {
        const PairedTResult& t = tests[m - 1];
        const double w = wilcoxon(paired_differences(own, pooled(methods[m]))).p;
        table.add_row({Cell::of(methods[m].name), Cell::of(t.mean_difference), Cell::of(t.interval.low), Cell::of(t.interval.high),
                       Cell::of(t.p), Cell::of(w), Cell::of(adjusted[m - 1]), Cell::of(static_cast<double>(t.n))});
    }
    table.footnotes = {
        "Differences in points of nDCG@10, over all queries of all data sets (larger sets count more than in the means); two-sided."};
    return table;
}

Table matrix_table(const StudyData& data) {
    Table table;
    table.name = "router_matrix";
    table.caption = fmt::format("nDCG@10 in percent of each gate on each data set: {}", data.run);
    table.add_column("gate", ColumnKind::text);
    table.add_column("kind", ColumnKind::text);
    for (const StudySet& set : data.sets) table.add_column(set.name, ColumnKind::number, 1, Better::higher);
    for (const int expert : every_expert(data)) {
        std::vector<Cell> cells = {Cell::of(data.library().name_of(expert)),
                                   Cell::of(expert == 0 ? "none" : data.library().gates[static_cast<std::size_t>(expert) - 1].kind)};
        for (const StudySet& set : data.sets) cells.push_back(Cell::of(row_means(set, {expert}).front()));
        table.add_row(std::move(cells));
    }
    table.mark_best();
    return table;
}

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
    return figure;
}

Figure routed_gate_figure(const StudyData& data) {
    std::vector<std::vector<double>> rows;
    for (const auto& chosen : choices(data, data.candidates(), data.router->settings())) rows.push_back(shares(chosen, data.candidates()));
    return heat_map(data, "router_routed_gate", "Gate that the router chooses", data.candidates(), rows, "Share of queries");
}

Table agreement_table(const StudyData& data) {
    Table table;
    table.name = "router_agreement";
    table.caption = fmt::format("Agreement of the router with the oracle: {}", data.run);
    table.add_column("data set", ColumnKind::text);
    table.add_column("queries", ColumnKind::count);
    table.add_column("choice matters", ColumnKind::number, 3);
    table.add_column("as good as the best gate", ColumnKind::number, 3);
    table.add_column("where it matters", ColumnKind::number, 3);
    table.add_column("own gate chosen", ColumnKind::number, 3);
    table.add_column("lost to the oracle", ColumnKind::number, 2).unit = "points";
    const auto chosen = choices(data, data.candidates(), data.router->settings());
    for (std::size_t s = 0; s < data.sets.size(); ++s) {
        const StudySet& set = data.sets[s];
        const auto scores = chosen_scores(set, chosen[s]), best = chosen_scores(set, oracle_choice(set, data.candidates()));
        double matters = 0, agree = 0, agree_there = 0;
        for (std::size_t q = 0; q < scores.size(); ++q) {
            double worst = best[q];
            for (const int expert : data.candidates())
                worst = std::min(worst, set.scores[static_cast<std::int64_t>(q)][expert].item<double>());
            const bool open = worst < best[q] - tie, good = scores[q] >= best[q] - tie;
            matters += open;
            agree += good;
            agree_there += open && good;
        }
        const auto n = static_cast<double>(scores.size());
        const int own = data.library().own_gate(set.domain, data.candidates());
        table.add_row({Cell::of(set.name), Cell::of(n), Cell::of(matters / n), Cell::of(agree / n),
                       matters > 0 ? Cell::of(agree_there / matters) : Cell(),
                       own > 0 ? Cell::of(shares(chosen[s], {own}).front()) : Cell(), Cell::of(mean(best) - mean(scores))});
    }
    table.footnotes = {"The choice matters where gates differ in the query's nDCG@10."};
    return table;
}

namespace {

/// Means of the router on each set with and without some gate.
void add_with_without(Table& table, const StudyData& data, const std::string& gate, const std::vector<int>& without, const StudySet& set) {
    StudyData one{data.router, {set}, data.run};
    const double with_mean = routed(one, "", data.candidates(), pilot_settings(data)).mean(),
                 without_mean = routed(one, "", without, pilot_settings(data)).mean();
    const double base = row_means(set, {0}).front();
    table.add_row({Cell::of(set.name), Cell::of(gate), Cell::of(with_mean), Cell::of(without_mean), Cell::of(with_mean - without_mean),
                   Cell::of(base), Cell::of(oracle(one, without).mean())});
}

Table with_without_table(const char* name, const std::string& caption) {
    Table table;
    table.name = name;
    table.caption = caption;
    table.add_column("data set", ColumnKind::text);
    table.add_column("gate", ColumnKind::text);
    table.add_column("with it", ColumnKind::number, 1);
    table.add_column("without it", ColumnKind::number, 1);
    table.add_column("it adds", ColumnKind::delta, 2);
    table.add_column("no gate at all", ColumnKind::number, 1);
    table.add_column("oracle without it", ColumnKind::number, 1);
    return table;
}

std::vector<int> without(std::vector<int> candidates, int expert) {
    std::erase(candidates, expert);
    return candidates;
}

}  // namespace

Table own_gate_table(const StudyData& data) {
    Table table = with_without_table("router_own_gate",
                                     fmt::format("Pilot routing with and without a data set's own gate, nDCG@10 in percent: {}", data.run));
    for (const StudySet& set : data.sets)
        if (const int own = data.library().own_gate(set.domain, data.candidates()); own > 0 && data.candidates().size() > 1)
            add_with_without(table, data, data.library().name_of(own), without(data.candidates(), own), set);
    return table;
}

Table second_gate_table(const StudyData& data, const std::vector<std::string>& gates) {
    Table table = with_without_table("router_second_gate",
                                     fmt::format("Pilot routing with and without a second gate, nDCG@10 in percent: {}", data.run));
    for (const std::string& gate : gates) {
        const int expert = data.library().expert_named(gate);
        for (const StudySet& set : data.sets) add_with_without(table, data, gate, without(data.candidates(), expert), set);
    }
    return table;
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
    const auto& gates = data.library().gates;
    for (std::size_t i = 0; i < gates.size(); ++i) {
        if (!gates[i].kind.starts_with("multi_task")) continue;
        const auto part = parse_int(std::string_view(gates[i].name).substr(gates[i].name.rfind(' ') + 1));
        series.x.push_back(gates[i].kind == "multi_task" ? static_cast<double>(data.library().candidates(false).size())
                                                         : static_cast<double>(part.value_or(0)));
        series.y.push_back(through(data, "", static_cast<int>(i) + 1).mean());
    }
    if (series.x.size() > 1) {  // the whole one stands before its parts
        std::rotate(series.x.begin(), series.x.begin() + 1, series.x.end());
        std::rotate(series.y.begin(), series.y.begin() + 1, series.y.end());
    }
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
        std::vector<std::pair<double, int>> sizes = {{static_cast<double>(gates[static_cast<std::size_t>(expert) - 1].examples), expert}};
        for (std::size_t i = 0; i < gates.size(); ++i)
            if (gates[i].kind == "sized" && gates[i].domain == domain)
                sizes.emplace_back(static_cast<double>(gates[i].examples), static_cast<int>(i) + 1);
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

Table error_table(const StudyData& data) {
    Table table;
    table.name = "router_errors";
    table.caption =
        fmt::format("Queries that another gate would have served better, by the domain of the chosen gate's nearest pilot: {}", data.run);
    table.add_column("data set", ColumnKind::text);
    table.add_column("errors", ColumnKind::count);
    for (const Domain& domain : data.library().domains) table.add_column(domain.name, ColumnKind::count).group = "nearest pilot is of";
    const RouterSettings settings = pilot_settings(data);
    const PilotLibrary pilots = build_pilots(data.library(), data.candidates(), settings);
    const auto chosen = choices(data, data.candidates(), settings);
    for (std::size_t s = 0; s < data.sets.size(); ++s) {
        const StudySet& set = data.sets[s];
        const at::Tensor similar = similarities_to(set.base, pilots.pilots, settings.cosine);
        std::vector<double> counts(data.library().domains.size(), 0);
        double errors = 0;
        for (std::size_t q = 0; q < set.queries.size(); ++q) {
            const double score = set.scores[static_cast<std::int64_t>(q)][chosen[s][q]].item<double>();
            if (score >= best_score(set, q, data.candidates()) - tie) continue;
            ++errors;
            std::size_t nearest = pilots.pilots.size();
            for (std::size_t p = 0; p < pilots.pilots.size(); ++p)
                if (pilots.pilots[p].expert == chosen[s][q] &&
                    (nearest == pilots.pilots.size() ||
                     similar[static_cast<std::int64_t>(q)][static_cast<std::int64_t>(p)].item<double>() >
                         similar[static_cast<std::int64_t>(q)][static_cast<std::int64_t>(nearest)].item<double>()))
                    nearest = p;
            if (nearest < pilots.pilots.size()) ++counts[pilots.pilots[nearest].domain];
        }
        std::vector<Cell> cells = {Cell::of(set.name), Cell::of(errors)};
        for (const double count : counts) cells.push_back(Cell::of(count));
        table.add_row(std::move(cells));
    }
    return table;
}

Table example_table(const StudyData& data, std::size_t count) {
    struct Won {
        double gain;
        std::size_t set, query;
        int own, best;
    };
    std::vector<Won> all;
    for (std::size_t s = 0; s < data.sets.size(); ++s) {
        const StudySet& set = data.sets[s];
        const int own = data.library().own_gate(set.domain, data.candidates());
        if (own < 0) continue;
        const auto best = oracle_choice(set, data.candidates());
        const auto own_scores = chosen_scores(set, std::vector<int>(set.queries.size(), own)), best_scores = chosen_scores(set, best);
        for (std::size_t q = 0; q < best.size(); ++q)
            if (best_scores[q] > own_scores[q] + tie) all.push_back({best_scores[q] - own_scores[q], s, q, own, best[q]});
    }
    std::stable_sort(all.begin(), all.end(), [](const Won& a, const Won& b) { return a.gain > b.gain; });
    Table table;
    table.name = "router_other_domains";
    table.caption = fmt::format("Queries that a gate of another domain serves better than their own: {}", data.run);
    table.add_column("data set", ColumnKind::text);
    table.add_column("query", ColumnKind::text);
    table.add_column("best gate", ColumnKind::text);
    table.add_column("own gate", ColumnKind::number, 1).group = "nDCG@10";
    table.add_column("best", ColumnKind::number, 1).group = "nDCG@10";
    for (std::size_t i = 0; i < std::min(count, all.size()); ++i) {
        const StudySet& set = data.sets[all[i].set];
        const double own = set.scores[static_cast<std::int64_t>(all[i].query)][all[i].own].item<double>();
        table.add_row({Cell::of(set.name), Cell::of(faceter::quoted(set.queries[all[i].query], 80)),
                       Cell::of(data.library().name_of(all[i].best)), Cell::of(own), Cell::of(own + all[i].gain)});
    }
    table.footnotes = {fmt::format("{} such queries in all.", all.size())};
    return table;
}

Table gate_table(const StudyData& data, const EmbeddingModel& model) {
    Table table;
    table.name = "router_gates";
    table.caption = fmt::format("Gates: {}", data.run);
    table.add_column("gate", ColumnKind::text);
    table.add_column("kind", ColumnKind::text);
    table.add_column("domain", ColumnKind::text);
    table.add_column("training examples", ColumnKind::count);
    table.add_column("parameters", ColumnKind::count);
    table.add_column("of the base", ColumnKind::number, 2).unit = "%";
    std::int64_t base = 0;
    for (const Parameter& p : model.encoders.front()->parameters()) base += p.tensor.numel();
    const auto& adapters = model.encoders.front()->adapters();
    for (std::size_t i = 0; i < data.library().gates.size(); ++i) {
        const GateInfo& gate = data.library().gates[i];
        const auto parameters = static_cast<double>(adapters[i].num_parameters());
        table.add_row({Cell::of(gate.name), Cell::of(gate.kind), Cell::of(gate.domain),
                       gate.examples > 0 ? Cell::of(static_cast<double>(gate.examples)) : Cell(), Cell::of(parameters),
                       Cell::of(100 * parameters / static_cast<double>(base))});
    }
    return table;
}

}  // namespace faceter
