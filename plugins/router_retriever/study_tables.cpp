#include "study_tables.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/strings.h"
#include "stats/descriptive.h"
#include "stats/multiple_testing.h"
#include "stats/paired.h"

namespace faceter {
namespace {

std::vector<int> every_expert(const StudyData& data) {
    std::vector<int> all(data.library().gates.size() + 1);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<double> pooled(const StudyMethod& method) {
    std::vector<double> all;
    for (const auto& scores : method.scores) all.insert(all.end(), scores.begin(), scores.end());
    return all;
}

double mean_of(const std::vector<double>& values) { return values.empty() ? not_a_number : faceter::mean(values); }

}  // namespace

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
    table.footnotes = {
        "Best Individual takes the gate with the best mean of each data set, Oracle the best one of each query; both look at the answers."};
    table.footnotes.insert(table.footnotes.end(), notes.begin(), notes.end());
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
            const bool open = worst < best[q] - equal_percent, good = scores[q] >= best[q] - equal_percent;
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
            if (score >= best_score(set, q, data.candidates()) - equal_percent) continue;
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
            if (best_scores[q] > own_scores[q] + equal_percent) all.push_back({best_scores[q] - own_scores[q], s, q, own, best[q]});
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
