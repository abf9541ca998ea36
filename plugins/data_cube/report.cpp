#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stats/density.h"
#include "stats/descriptive.h"

namespace faceter::data_cube {
namespace {

constexpr std::size_t most_bars = 40, most_map = 120;

std::vector<double> finite(const std::vector<TaskFit>& tasks, bool after) {
    std::vector<double> values;
    for (const TaskFit& task : tasks) {
        const TaskDifficulty& of = after ? task.after : task.before;
        for (std::size_t i = 0; i < of.phi.size(); ++i)
            if (!(of.marks[i] & (no_negative | not_finite))) values.push_back(of.phi[i]);
    }
    return values;
}

void add_density(Figure& figure, const char* name, const std::vector<double>& values) {
    if (values.size() < 2 || !(standard_deviation(values) > 1e-9)) return;
    const GaussianDensity density(values);
    Series series;
    series.name = name;
    series.x = density.grid();
    series.y = density(series.x);
    series.mean = mean(values);
    figure.series.push_back(std::move(series));
}

std::string band_line(const std::vector<TaskFit>& tasks, bool after) {
    std::map<std::string, int> count;
    for (const TaskFit& task : tasks) ++count[band_of(after ? task.ratio_after : task.ratio_before)];
    return fmt::format("{}: {} tasks severe (> 80%), {} moderate (50 to 80%), {} mild (< 50%), {} that could not be judged.",
                       after ? "After" : "Before", count["severe"], count["moderate"], count["mild"], count["-"]);
}

Cell percent(double ratio) { return Cell::of(100 * ratio); }

Cell of_count(std::size_t count) { return Cell::of(static_cast<double>(count)); }

}  // namespace

std::string band_of(double ratio) {
    if (std::isnan(ratio)) return "-";
    return ratio > 0.8 ? "severe" : ratio >= 0.5 ? "moderate" : "mild";
}

Table underfitting_table(const std::vector<TaskFit>& tasks, double margin, const std::string& run) {
    Table table;
    table.name = "data_cube_underfitting";
    table.caption = fmt::format("Underfitting of the training tasks, {}: share of examples with sim(q, s+) - sim(q, s-) < {}", run, margin);
    table.add_column("task", ColumnKind::text);
    table.add_column("examples", ColumnKind::count);
    table.add_column("before", ColumnKind::number, 1, Better::lower).unit = "%";
    table.add_column("after", ColumnKind::number, 1, Better::lower).unit = "%";
    table.add_column("change", ColumnKind::delta, 1).unit = "points";
    table.add_column("band before", ColumnKind::text);
    table.add_column("band after", ColumnKind::text);
    for (const TaskFit& task : tasks)
        table.add_row({Cell::of(task.name), of_count(task.after.phi.size()), percent(task.ratio_before), percent(task.ratio_after),
                       percent(task.ratio_after - task.ratio_before), Cell::of(band_of(task.ratio_before)),
                       Cell::of(band_of(task.ratio_after))});
    table.footnotes = {band_line(tasks, false), band_line(tasks, true),
                       "Before is the untrained start model. Both embed the same examples; those without any negative, and those whose "
                       "embeddings are not finite, are left out."};
    return table;
}

Figure underfitting_figure(const std::vector<TaskFit>& tasks, double margin, const std::string& run) {
    Figure figure;
    figure.name = "data_cube_underfitting";
    figure.title = fmt::format("Underfitting before and after training, {}", run);
    figure.notes = {band_line(tasks, false), band_line(tasks, true),
                    fmt::format("Share of examples with sim(q, s+) - sim(q, s-) < {}; Data-CUBE, Figure 2.", margin)};
    std::vector<TaskFit> judged;
    std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(judged),
                 [](const TaskFit& t) { return !std::isnan(t.ratio_before) && !std::isnan(t.ratio_after); });
    std::stable_sort(judged.begin(), judged.end(), [](const TaskFit& a, const TaskFit& b) { return a.ratio_before > b.ratio_before; });
    if (judged.size() > most_bars) {
        figure.kind = FigureKind::scatter;
        figure.x = {.label = "underfitting before", .unit = "%", .min = 0, .max = 100};
        figure.y = {.label = "underfitting after", .unit = "%", .min = 0, .max = 100};
        Series& points = figure.series.emplace_back();
        points.name = "task";
        for (const TaskFit& task : judged) {
            points.x.push_back(100 * task.ratio_before);
            points.y.push_back(100 * task.ratio_after);
            points.labels.push_back(task.name);
        }
        return figure;
    }
    figure.kind = FigureKind::bars;
    figure.x.label = "task";
    figure.y = {.label = "underfitting examples", .unit = "%", .min = 0, .max = 100};
    Series before, after;
    before.name = "before";
    after.name = "after";
    for (const TaskFit& task : judged) {
        figure.x.categories.push_back(task.name);
        before.y.push_back(100 * task.ratio_before);
        after.y.push_back(100 * task.ratio_after);
    }
    figure.series = {before, after};
    return figure;
}

Figure difficulty_figure(const std::vector<TaskFit>& tasks, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::densities;
    figure.name = "data_cube_difficulty";
    figure.title = fmt::format("Difficulty of the training examples, {}", run);
    figure.x.label = "sim(q, s+) - sim(q, s-)";
    figure.y.label = "density";
    add_density(figure, "before", finite(tasks, false));
    add_density(figure, "after", finite(tasks, true));
    figure.notes.push_back("Small is difficult. Examples of all tasks together; Gaussian kernel, Scott's bandwidth.");
    return figure;
}

Json underfitting_json(const std::vector<TaskFit>& tasks) {
    const auto number = [](double value) { return std::isnan(value) ? Json() : Json(value); };
    Json all = Json::array();
    for (const TaskFit& task : tasks)
        all.push_back({{"task", task.name},
                       {"examples", task.after.phi.size()},
                       {"before", number(task.ratio_before)},
                       {"after", number(task.ratio_after)},
                       {"band_before", band_of(task.ratio_before)},
                       {"band_after", band_of(task.ratio_after)}});
    return all;
}

Table plan_table(const PlanRecord& record, const Plan& plan, const std::string& run) {
    Table table;
    table.name = "data_cube_plan";
    table.caption = fmt::format("Plan {} of {}: tasks in the order of the tour", plan.hash().substr(0, 12), run);
    table.add_column("task", ColumnKind::text);
    for (const char* name : {"examples", "batches", "short", "merged", "dropped", "masked", "masked batches", "no negative given",
                             "no negative at all", "not finite", "negative = positive"})
        table.add_column(name, ColumnKind::count);
    table.add_column("delta", ColumnKind::number, 4);
    table.add_column("similarity to next", ColumnKind::number, 4);
    const Tour& tour = plan.tour();
    std::size_t batches = 0, short_batches = 0, merged = 0, dropped = 0, masked = 0, masked_batches = 0;
    for (std::size_t k = 0; k < tour.size(); ++k) {
        const std::uint32_t t = tour[k];
        const TaskCounts& c = plan.counts()[t];
        std::vector<Cell> cells{Cell::of(plan.tasks()[t].name)};
        for (const std::size_t count : {c.examples, c.batches, c.short_batches, c.merged, c.dropped, c.masked, c.masked_batches,
                                        c.drawn_negatives, c.no_negative, c.not_finite, c.negative_is_positive})
            cells.push_back(of_count(count));
        cells.push_back(Cell::of(c.delta));
        cells.push_back(Cell::of(record.similarities.at(t, tour[(k + 1) % tour.size()])));
        table.add_row(std::move(cells));
        batches += c.batches, short_batches += c.short_batches, merged += c.merged, dropped += c.dropped, masked += c.masked;
        masked_batches += c.masked_batches;
    }
    table.footnotes.push_back(
        fmt::format("{} batches an epoch, {} of them shorter than a whole one; {} last batches merged with the one before; {} examples "
                    "dropped; {} masked.",
                    batches, short_batches, merged, dropped, masked));
    if (masked_batches > 0)
        table.footnotes.push_back(fmt::format(
            "{} further batches are left out, whose examples are all masked: there is nothing in them to learn from.", masked_batches));
    for (const auto& note : json_or<std::vector<std::string>>(record.details, "notes", {}, "plan")) table.footnotes.push_back(note);
    return table;
}

RandomOrders random_orders(const Similarities& similarities, std::int64_t count, std::uint64_t seed) {
    RandomOrders random;
    for (std::int64_t k = 0; k < count; ++k)
        random.totals.push_back(
            tour_total(similarities, random_tour(similarities.num_tasks(), seed, 1'000'000 + static_cast<std::uint64_t>(k))));
    random.mean = mean(random.totals);
    random.deviation = standard_deviation(random.totals);
    return random;
}

Table tour_table(const PlanRecord& record, const RandomOrders& random, const std::string& run) {
    Table table;
    table.name = "data_cube_tour";
    table.caption = fmt::format("Sum of neighbouring similarities of the tour of {} over {} tasks", run, record.tasks.size());
    table.add_column("order", ColumnKind::text);
    table.add_column("sum", ColumnKind::number, 4, Better::higher);
    table.add_column("mean of neighbours", ColumnKind::number, 4, Better::higher);
    const auto n = static_cast<double>(std::max<std::size_t>(1, record.tasks.size()));
    const auto add = [&](const std::string& name, double total) { table.add_row({Cell::of(name), Cell::of(total), Cell::of(total / n)}); };
    add("the plan's tour", record.tour.total);
    add("greedy nearest neighbour", tour_total(record.similarities, greedy_tour(record.similarities)));
    add("2-opt from a random order", tour_total(record.similarities, two_opt(record.similarities, random_tour(record.tasks.size(), 1, 0))));
    if (record.tasks.size() <= 12) add("optimum", tour_total(record.similarities, exact_tour(record.similarities)));
    table.add_row({Cell::of("random orders, mean"),
                   Cell::of(random.mean, random.deviation, static_cast<std::int64_t>(random.totals.size())), Cell::of(random.mean / n)});
    table.mark_best();
    if (random.deviation > 0)
        table.footnotes.push_back(fmt::format("The tour lies {:.1f} standard deviations above the mean of {} random orders.",
                                              (record.tour.total - random.mean) / random.deviation, random.totals.size()));
    return table;
}

Figure tour_figure(const PlanRecord& record, const RandomOrders& random, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "data_cube_tour";
    figure.title = fmt::format("The tour against random orders, {}", run);
    figure.x.label = "sum of neighbouring similarities";
    figure.y.label = "density";
    if (random.deviation > 1e-9) {
        const GaussianDensity density(random.totals);
        Series& orders = figure.series.emplace_back();
        orders.name = "random orders";
        orders.x = density.grid();
        orders.y = density(orders.x);
        Series line;
        line.name = "the tour";
        line.x = {record.tour.total, record.tour.total};
        line.y = {0, *std::max_element(orders.y.begin(), orders.y.end())};
        figure.series.push_back(std::move(line));
    }
    figure.notes.push_back(fmt::format("{} random orders; {} tasks.", random.totals.size(), record.tasks.size()));
    return figure;
}

Figure energy_figure(const PlanRecord& record, const RandomOrders& random, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "data_cube_energy";
    figure.title = fmt::format("Simulated annealing, {}", run);
    figure.x = {.label = "swaps tried"};
    figure.y.label = "sum of neighbouring similarities";
    Series chain;
    chain.name = fmt::format("chain {}", record.tour.chain + 1);
    for (const TourPoint& point : record.tour.trace) {
        chain.x.push_back(static_cast<double>(point.step));
        chain.y.push_back(point.total);
    }
    if (chain.x.empty()) {
        figure.notes.push_back("The tour was not annealed, so there is no trace.");
        return figure;
    }
    Series mean_order;
    mean_order.name = "mean of random orders";
    mean_order.dashed = true;
    mean_order.x = {chain.x.front(), chain.x.back()};
    mean_order.y = {random.mean, random.mean};
    figure.series = {std::move(chain), std::move(mean_order)};
    figure.notes.push_back(fmt::format("First temperature {:.4g}, last {:.4g}; the best of the chains is shown.",
                                       record.tour.trace.front().temperature, record.tour.trace.back().temperature));
    return figure;
}

Figure similarity_figure(const PlanRecord& record, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::heat_map;
    figure.name = "data_cube_similarity";
    figure.title = fmt::format("Similarity of tasks in the order of the tour, {}", run);
    figure.heat_map.label = "cosine similarity";
    const std::size_t shown = std::min(most_map, record.tour.tour.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const std::uint32_t a = record.tour.tour[i];
        figure.heat_map.rows.push_back(record.tasks[a].name);
        figure.heat_map.columns.push_back(record.tasks[a].name);
        for (std::size_t j = 0; j < shown; ++j)
            figure.heat_map.values.push_back(i == j ? 1.0 : record.similarities.at(a, record.tour.tour[j]));
    }
    if (shown < record.tour.tour.size()) figure.notes.push_back(fmt::format("The first {} of {} tasks.", shown, record.tour.tour.size()));
    return figure;
}

}  // namespace faceter::data_cube
