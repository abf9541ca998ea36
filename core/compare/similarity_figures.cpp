#include "compare/similarity_figures.h"

#include <algorithm>

#include "common/error.h"
#include "stats/density.h"
#include "stats/descriptive.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr std::size_t density_points = 200;
constexpr double no_spread = 1e-9;

const SimilarityPair* find_pair(const SimilaritySet& set, const SimilarityPair& wanted) {
    const auto found = std::find_if(set.pairs.begin(), set.pairs.end(), [&](const SimilarityPair& pair) {
        return (pair.a == wanted.a && pair.b == wanted.b) || (pair.a == wanted.b && pair.b == wanted.a);
    });
    return found == set.pairs.end() ? nullptr : &*found;
}

Series density_series(const SimilarityGroup& group, const SimilarityPair& pair) {
    Series series;
    series.name = group.name;
    series.colour = group.colour;
    series.mean = pair.mean;
    if (!(standard_deviation(pair.values) > no_spread)) return series;
    const GaussianDensity density(pair.values);
    const std::vector<double> whole = density.grid();
    series.x = linear_grid(std::max(whole.front(), -1.0), std::min(whole.back(), 1.0), density_points);
    series.y = density(series.x);
    return series;
}

/// Where all values are one: a line as high as the figure, whose height says nothing.
void stand_up(Figure& figure) {
    double top = 0;
    for (const Series& series : figure.series)
        for (const double y : series.y) top = std::max(top, y);
    for (Series& series : figure.series) {
        if (!series.x.empty()) continue;
        series.x = {*series.mean, *series.mean};
        series.y = {0, top > 0 ? top : 1};
        figure.notes.push_back(
            fmt::format("{}: every text has similarity {:.4f}; a line stands for its density.", series.name, *series.mean));
    }
}

void share_range(std::vector<Figure>& figures) {
    double low = 1, high = -1;
    for (const Figure& figure : figures)
        for (const Series& series : figure.series)
            if (!series.x.empty()) low = std::min(low, series.x.front()), high = std::max(high, series.x.back());
    if (low > high) return;
    const double room = std::max(0.02 * (high - low), 0.005);
    for (Figure& figure : figures) figure.x.min = low - room, figure.x.max = high + room;
}

}  // namespace

std::vector<Figure> similarity_densities(std::span<const SimilarityGroup> groups) {
    std::vector<Figure> figures;
    if (groups.empty()) return figures;
    const std::vector<std::string> tasks = similarity_tasks(groups.front().set);
    for (const SimilarityPair& pair : groups.front().set.pairs) {
        Figure figure;
        figure.kind = FigureKind::densities;
        figure.name = fmt::format("inter_task_similarity_{}_{}", pair.a, pair.b);
        figure.title = short_task_name(pair.a, tasks) + " · " + short_task_name(pair.b, tasks);
        figure.x.label = "cosine similarity of the same text under both tasks";
        figure.y.label = "density";
        for (const SimilarityGroup& group : groups)
            if (const SimilarityPair* own = find_pair(group.set, pair)) figure.series.push_back(density_series(group, *own));
        stand_up(figure);
        figures.push_back(std::move(figure));
    }
    share_range(figures);
    return figures;
}

std::vector<std::string> similarity_tasks(const SimilaritySet& set) {
    std::vector<std::string> tasks;
    for (const SimilarityPair& pair : set.pairs)
        for (const std::string& name : {pair.a, pair.b})
            if (std::find(tasks.begin(), tasks.end(), name) == tasks.end()) tasks.push_back(name);
    return tasks;
}

std::string short_task_name(const std::string& name, std::span<const std::string> all) {
    const auto last = [](const std::string& text) { return text.substr(text.rfind('.') + 1); };  // npos + 1 is 0
    const std::string wanted = last(name);
    if (wanted.empty() || std::count_if(all.begin(), all.end(), [&](const std::string& other) { return last(other) == wanted; }) != 1)
        return name;
    return wanted;
}

Figure similarity_matrix(const SimilarityGroup& group) {
    Figure figure;
    figure.kind = FigureKind::heat_map;
    figure.name = "inter_task_similarity_matrix";
    figure.title = group.name;
    HeatMap& map = figure.heat_map;
    const std::vector<std::string> tasks = similarity_tasks(group.set);
    for (const std::string& task : tasks) map.rows.push_back(short_task_name(task, tasks));
    map.columns = map.rows;
    map.label = "mean cosine similarity";
    const std::size_t n = tasks.size();
    map.values.assign(n * n, not_a_number);
    for (std::size_t i = 0; i < n; ++i) {
        map.values[i * n + i] = 1;
        for (std::size_t j = 0; j < n; ++j)
            if (const SimilarityPair* pair = find_pair(group.set, {tasks[i], tasks[j], {}, 0})) map.values[i * n + j] = pair->mean;
    }
    figure.notes.push_back(fmt::format("Mean over {} texts; MoTE, Figure 1.", group.set.num_texts()));
    return figure;
}

}  // namespace faceter
