#include "pages/runs/curve_figure.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "pages/runs/runs_layout.h"

namespace faceter::desktop {
namespace {

constexpr int columns = 240;  // of a card 800 px wide: one every 3 px

struct Range {
    double from = 0, to = 0;
    bool any = false;
    void take(const SeriesRange& range) {
        if (range.count == 0) return;
        from = any ? std::min(from, range.from) : range.from;
        to = any ? std::max(to, range.to) : range.to;
        any = true;
    }
};

std::vector<std::string> namesOf(Store& store, const std::vector<SeedGroup>& groups) {
    std::set<std::string> names;
    for (const SeedGroup& group : groups)
        for (const std::string& run : group.runs)
            names.merge([&] {
                const std::vector<std::string> some = store.series_names(run);
                return std::set<std::string>(some.begin(), some.end());
            }());
    return {names.begin(), names.end()};
}

Series curveOf(Store& store, const SeedGroup& group, const std::string& name) {
    Range range;
    for (const std::string& run : group.runs) range.take(store.series_range(run, name, SeriesX::step));
    std::vector<std::vector<SeriesBucket>> seeds;
    if (range.any)
        for (const std::string& run : group.runs)
            seeds.push_back(store.series_sample(run, name, SeriesX::step, range.from, range.to, columns));
    const std::string seedsText = group.runs.size() > 1 ? " (n = " + std::to_string(group.runs.size()) + ")" : "";
    Series series = meanCurve(group.label + seedsText, seeds, range.from, range.to);
    series.colour = group.colour;
    return series;
}

}  // namespace

std::string defaultSeries(const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (name.starts_with("score/")) return name;
    return std::find(names.begin(), names.end(), "loss") != names.end() || names.empty() ? "loss" : names.front();
}

Series meanCurve(const std::string& name, const std::vector<std::vector<SeriesBucket>>& seeds, double from, double to) {
    Series series;
    series.name = name;
    const std::size_t count = seeds.empty() ? 0 : seeds.front().size();
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
        values.clear();
        double first = 0, last = 0;
        for (const std::vector<SeriesBucket>& seed : seeds) {
            if (i >= seed.size() || seed[i].count == 0) continue;
            first = values.empty() ? static_cast<double>(seed[i].first_step) : std::min(first, static_cast<double>(seed[i].first_step));
            last = std::max(last, static_cast<double>(seed[i].last_step));
            values.push_back(seed[i].mean);
        }
        if (values.empty()) continue;
        const Aggregate point = aggregate(values);
        series.x.push_back(std::clamp((first + last) / 2, from, to));
        series.y.push_back(point.mean);
        const double spread = std::isnan(point.spread) ? 0 : point.spread;
        series.low.push_back(point.mean - spread);
        series.high.push_back(point.mean + spread);
    }
    if (seeds.size() < 2) series.low.clear(), series.high.clear();
    return series;
}

CurveAnswer readCurves(Store& store, const std::vector<SeedGroup>& groups, const std::string& wanted) {
    CurveAnswer answer;
    answer.names = namesOf(store, groups);
    const bool known = std::find(answer.names.begin(), answer.names.end(), wanted) != answer.names.end();
    answer.series = known ? wanted : defaultSeries(answer.names);
    answer.figure.kind = FigureKind::lines;
    answer.figure.name = "runs_" + answer.series;
    answer.figure.x.label = "step";
    answer.figure.y.label = answer.series;
    for (const SeedGroup& group : groups)
        if (Series series = curveOf(store, group, answer.series); !series.x.empty()) answer.figure.series.push_back(std::move(series));
    return answer;
}

}  // namespace faceter::desktop
