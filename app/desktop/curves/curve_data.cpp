#include "curves/curve_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace faceter::desktop {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

bool isBytes(const std::string& series) { return series.find("_bytes") != std::string::npos; }

/// What a value is multiplied by to be shown: memory in GiB.
double shownScale(const std::string& series) { return isBytes(series) ? 1 / gib : 1; }

/// A line before it is drawn: one entry a column that has points.
struct Line {
    std::vector<double> x, y, low, high, count;
    void add(double at, double value, double lowest, double highest, double points) {
        x.push_back(at);
        y.push_back(value);
        low.push_back(lowest);
        high.push_back(highest);
        count.push_back(points);
    }
};

struct Window {
    double from = 0, to = 0;
    int columns = 0;
    /// x of a column's points; where it holds one step only, that step exactly.
    double at(std::size_t column, const SeriesBucket& bucket, SeriesX x) const {
        if (x == SeriesX::step && bucket.first_step == bucket.last_step) return static_cast<double>(bucket.first_step);
        return from + (to - from) * (static_cast<double>(column) + 0.5) / columns;
    }
};

/// Time counts from the start of each run, so that runs of different days lie over each other.
double originOf(Store& store, const std::string& run, const CurveRequest& request) {
    return request.x == SeriesX::time ? store.series_range(run, request.series, request.x).from : 0.0;
}

std::pair<double, double> wholeRange(Store& store, const CurveRequest& request) {
    double from = std::numeric_limits<double>::infinity(), to = -from;
    for (const CurveGroup& group : request.groups)
        for (const std::string& run : group.runs) {
            const SeriesRange range = store.series_range(run, request.series, request.x);
            if (range.count == 0) continue;
            const double origin = request.x == SeriesX::time ? range.from : 0.0;
            from = std::min(from, range.from - origin);
            to = std::max(to, range.to - origin);
        }
    return {from, to};
}

std::vector<SeriesBucket> bucketsOf(Store& store, const std::string& run, const CurveRequest& request, const Window& window) {
    const double origin = originOf(store, run, request), scale = shownScale(request.series);
    std::vector<SeriesBucket> buckets =
        store.series_sample(run, request.series, request.x, window.from + origin, window.to + origin, window.columns);
    for (SeriesBucket& bucket : buckets)
        for (double* value : {&bucket.first, &bucket.min, &bucket.max, &bucket.last, &bucket.mean}) *value *= scale;
    return buckets;
}

bool drawable(double value, bool log) { return std::isfinite(value) && (!log || value > 0); }

Line lineOf(const std::vector<SeriesBucket>& buckets, const Window& window, const CurveRequest& request) {
    Line line;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const SeriesBucket& bucket = buckets[i];
        const double at = window.at(i, bucket, request.x);
        if (bucket.count == 0 || !drawable(bucket.mean, request.logY) || !drawable(at, request.logX)) continue;
        const double low = drawable(bucket.min, request.logY) ? bucket.min : bucket.mean;
        line.add(at, bucket.mean, low, drawable(bucket.max, request.logY) ? bucket.max : bucket.mean, static_cast<double>(bucket.count));
    }
    return line;
}

/// One seed's value in each column: the mean of its points there; between columns that hold some, on the straight line from one to the
/// next (over tokens and time, seeds have their points in different columns); NaN before its first and after its last point.
std::vector<double> valuesOf(const std::vector<SeriesBucket>& buckets) {
    std::vector<double> values(buckets.size(), std::numeric_limits<double>::quiet_NaN());
    std::size_t before = buckets.size();  // none
    for (std::size_t column = 0; column < buckets.size(); ++column) {
        if (buckets[column].count == 0 || !std::isfinite(buckets[column].mean)) continue;
        values[column] = buckets[column].mean;
        for (std::size_t i = before + 1; before < buckets.size() && i < column; ++i)
            values[i] = std::lerp(values[before], values[column], static_cast<double>(i - before) / static_cast<double>(column - before));
        before = column;
    }
    return values;
}

/// Of the seeds that have a value in a column.
struct SeedMean {
    double mean = 0, deviation = 0;  ///< n - 1
    int n = 0;
};

SeedMean meanAt(const std::vector<std::vector<double>>& seeds, std::size_t column) {
    SeedMean result;
    double squares = 0;
    for (const std::vector<double>& values : seeds)
        if (std::isfinite(values[column])) result.mean += values[column], ++result.n;
    if (result.n == 0) return result;
    result.mean /= result.n;
    for (const std::vector<double>& values : seeds)
        if (std::isfinite(values[column])) squares += (values[column] - result.mean) * (values[column] - result.mean);
    if (result.n > 1) result.deviation = std::sqrt(squares / (result.n - 1));
    return result;
}

/// Mean over the seeds in each column where one of them has points, and one standard deviation below and above it.
Line meanOf(const std::vector<std::vector<SeriesBucket>>& seeds, const Window& window, const CurveRequest& request) {
    Line line;
    std::vector<std::vector<double>> values;
    for (const auto& buckets : seeds) values.push_back(valuesOf(buckets));
    for (std::size_t column = 0; column < seeds.front().size(); ++column) {
        double points = 0, at = 0;
        for (const auto& buckets : seeds) {
            if (buckets[column].count == 0) continue;
            at = window.at(column, buckets[column], request.x);
            points += static_cast<double>(buckets[column].count);
        }
        const SeedMean seed = meanAt(values, column);
        if (points == 0 || seed.n == 0 || !drawable(seed.mean, request.logY) || !drawable(at, request.logX)) continue;
        const double low = drawable(seed.mean - seed.deviation, request.logY) ? seed.mean - seed.deviation : seed.mean;
        line.add(at, seed.mean, low, seed.mean + seed.deviation, points / seed.n);
    }
    return line;
}

void addLine(Figure& figure, Line line, const std::string& name, int colour, double smoothing) {
    if (line.x.empty()) return;
    Series series;
    series.name = name;
    series.x = std::move(line.x);
    series.colour = colour;
    if (line.low != line.y || line.high != line.y) {
        series.low = std::move(line.low);
        series.high = std::move(line.high);
    }
    if (smoothing > 0) {
        series.raw = line.y;
        line.y = smoothed(line.y, line.count, smoothing);
    }
    series.y = std::move(line.y);
    figure.series.push_back(std::move(series));
}

void addGroup(Store& store, const CurveGroup& group, const CurveRequest& request, const Window& window, Figure& figure) {
    std::vector<std::vector<SeriesBucket>> seeds;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < group.runs.size(); ++i) {
        std::vector<SeriesBucket> buckets = bucketsOf(store, group.runs[i], request, window);
        if (std::none_of(buckets.begin(), buckets.end(), [](const SeriesBucket& bucket) { return bucket.count > 0; })) continue;
        seeds.push_back(std::move(buckets));
        names.push_back(i < group.names.size() ? group.names[i] : group.runs[i]);
    }
    if (seeds.empty()) return;
    if (request.overSeeds && seeds.size() > 1)
        return addLine(figure, meanOf(seeds, window, request), fmt::format("{} (n = {})", group.label, seeds.size()), group.colour,
                       request.smoothing);
    for (std::size_t i = 0; i < seeds.size(); ++i)
        addLine(figure, lineOf(seeds[i], window, request), seeds.size() == 1 ? group.label : names[i], group.colour, request.smoothing);
}

Axis axisOf(const CurveRequest& request) {
    Axis axis;
    switch (request.x) {
        case SeriesX::step:
            axis.label = "step";
            break;
        case SeriesX::examples:
            axis.label = "examples seen";
            break;
        case SeriesX::tokens:
            axis.label = "tokens seen";
            break;
        case SeriesX::time:
            axis.label = "time", axis.unit = "s";
            break;
    }
    axis.log = request.logX;
    return axis;
}

}  // namespace

std::vector<double> smoothed(const std::vector<double>& values, const std::vector<double>& counts, double smoothing) {
    std::vector<double> out;
    out.reserve(values.size());
    double sum = 0, weight = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double keep = std::pow(smoothing, counts[i]);
        sum = keep * sum + (1 - keep) * values[i];
        weight = keep * weight + (1 - keep);
        out.push_back(weight > 0 ? sum / weight : values[i]);
    }
    return out;
}

std::pair<std::string, std::string> seriesLabel(const std::string& name) {
    static const std::map<std::string, std::pair<std::string, std::string>> known = {
        {"lr", {"learning rate", ""}},
        {"grad_norm", {"gradient norm", ""}},
        {"tokens_per_s", {"throughput", "tokens/s"}},
        {"pairs_per_s", {"throughput", "pairs/s"}},
        {"masked_negatives", {"false negatives masked", "a batch"}},
        {"tokens", {"tokens", "a step"}},
        {"pairs", {"pairs", "a step"}},
        {"memory_bytes", {"memory", "GiB"}},
        {"system/memory_gib", {"memory", "GiB"}},
        {"system/cpu_percent", {"processor", "%"}},
        {"system/gpu_percent", {"GPU", "%"}},
        {"system/gpu_memory_gib", {"GPU memory", "GiB"}},
        {"system/gpu_power_w", {"GPU power", "W"}}};
    if (const auto found = known.find(name); found != known.end()) return found->second;
    if (name.rfind("loss/", 0) == 0) return {"loss, " + name.substr(5), ""};
    if (name.rfind("score/", 0) == 0) return {"validation, " + name.substr(6), "%"};
    return {name, isBytes(name) ? "GiB" : ""};
}

std::vector<std::string> curveNames(Store& store, const std::vector<CurveGroup>& groups) {
    std::set<std::string> names;
    for (const CurveGroup& group : groups)
        for (const std::string& run : group.runs)
            for (std::string& name : store.series_names(run)) names.insert(std::move(name));
    return {names.begin(), names.end()};
}

CurveResult readCurve(Store& store, const CurveRequest& request) {
    CurveResult result;
    const auto [label, unit] = seriesLabel(request.series);
    Figure& figure = result.figure;
    figure.kind = FigureKind::lines;
    figure.name = request.series;
    figure.title = label;
    figure.x = axisOf(request);
    figure.y.label = label;
    figure.y.unit = unit;
    figure.y.log = request.logY;
    std::tie(result.from, result.to) = wholeRange(store, request);
    if (!(result.from <= result.to)) return result;
    if (result.from < result.to) {  // what a reset goes back to
        if (!request.logX || result.from > 0) figure.x.min = result.from;
        figure.x.max = result.to;
    }
    Window window{result.from, result.to, std::max(request.columns, 2)};
    const bool zoomed = request.from < request.to;
    if (zoomed) {  // a quarter more on each side, so that a pan shows something before the answer comes, and the average has its start
        const double margin = (request.to - request.from) / 4;
        window.from = std::max(result.from, request.from - margin);
        window.to = std::min(result.to, request.to + margin);
    }
    if (window.to <= window.from) window.to = window.from + 1;
    // Both ends belong to the range: the last point must not fall out of the last column.
    window.to += (window.to - window.from) * 1e-9;
    for (const CurveGroup& group : request.groups) addGroup(store, group, request, window, figure);
    result.empty = figure.series.empty();
    return result;
}

}  // namespace faceter::desktop
