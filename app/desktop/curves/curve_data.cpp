#include "curves/curve_data.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace faceter::desktop {
namespace {

constexpr double least_share = 0.02, margin_share = 0.05;  // of a clipped axis: what is left out at each end, and air
constexpr int palette_size = 8;

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

/// Columns of equal width.
struct Columns {
    double from = 0, to = 0;
    int count = 0;
};

/// All columns of a panel, from left to right.
struct Window {
    std::vector<Columns> parts;
    double centre(std::size_t column) const {
        auto part = parts.begin();
        for (; column >= static_cast<std::size_t>(part->count) && part + 1 != parts.end(); ++part)
            column -= static_cast<std::size_t>(part->count);
        return part->from + (part->to - part->from) * (static_cast<double>(column) + 0.5) / part->count;
    }
    /// x of a column's points; where it holds one step only, that step exactly.
    double at(std::size_t column, const SeriesBucket& bucket, SeriesX x) const {
        if (x == SeriesX::step && bucket.first_step == bucket.last_step) return static_cast<double>(bucket.first_step);
        return centre(column);
    }
};

/// On a logarithmic axis a decade has as many columns as another: of equal width over all, the first one would hold what fills the left
/// third of the axis.
Window windowOf(double from, double to, int columns, bool log) {
    if (!log || to <= 0) return {{{from, to, columns}}};
    Window window;
    if (from <= 0) from = to / columns / 10;  // the axis has no zero: time counts from there
    const double decades = std::log10(to / from);
    for (auto exponent = static_cast<int>(std::floor(std::log10(from))); from < to; ++exponent) {
        const double end = std::min(to, std::pow(10.0, exponent + 1));
        if (end <= from) continue;
        window.parts.push_back({from, end, std::max(1, static_cast<int>(columns * std::log10(end / from) / decades))});
        from = end;
    }
    return window;
}

/// Time counts from the first step of each run, so that runs of different days lie over each other, and a series that begins later stands
/// where it began.
double originOf(Store& store, const std::string& run, const CurveRequest& request) {
    if (request.x != SeriesX::time) return 0;
    double origin = std::numeric_limits<double>::infinity();
    std::vector<std::string> looked = request.series;
    looked.emplace_back("loss");
    for (const std::string& series : looked)
        if (const SeriesRange range = store.series_range(run, series, request.x); range.count > 0) origin = std::min(origin, range.from);
    return std::isfinite(origin) ? origin : 0;
}

std::pair<double, double> wholeRange(Store& store, const CurveRequest& request) {
    double from = std::numeric_limits<double>::infinity(), to = -from;
    for (const CurveGroup& group : request.groups)
        for (const std::string& run : group.runs) {
            const double origin = originOf(store, run, request);
            for (const std::string& series : request.series) {
                const SeriesRange range = store.series_range(run, series, request.x);
                if (range.count == 0) continue;
                from = std::min(from, range.from - origin);
                to = std::max(to, range.to - origin);
            }
        }
    return {from, to};
}

std::vector<SeriesBucket> bucketsOf(Store& store, const std::string& run, const std::string& series, const CurveRequest& request,
                                    const Window& window) {
    const double origin = originOf(store, run, request), scale = shownScale(series);
    std::vector<SeriesBucket> buckets;
    for (const Columns& part : window.parts) {
        const double from = part.from + origin, end = part.to + origin;
        const double to = &part == &window.parts.back() ? end : std::nextafter(end, from);  // where parts meet, a point is the later one's
        const std::vector<SeriesBucket> sampled = store.series_sample(run, series, request.x, from, to, part.count);
        buckets.insert(buckets.end(), sampled.begin(), sampled.end());
    }
    for (SeriesBucket& bucket : buckets)
        for (double* value : {&bucket.first, &bucket.min, &bucket.max, &bucket.last, &bucket.mean}) *value *= scale;
    return buckets;
}

bool drawable(double value, bool log) { return std::isfinite(value) && (!log || value > 0); }

/// Where groups have a band over seeds, one run has none: its extremes would look like a spread.
Line lineOf(const std::vector<SeriesBucket>& buckets, const Window& window, const CurveRequest& request) {
    Line line;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const SeriesBucket& bucket = buckets[i];
        const double at = window.at(i, bucket, request.x);
        if (bucket.count == 0 || !drawable(bucket.mean, request.logY) || !drawable(at, request.logX)) continue;
        const auto end = [&](double value) { return !request.overSeeds && std::isfinite(value) ? value : bucket.mean; };
        line.add(at, bucket.mean, end(bucket.min), end(bucket.max), static_cast<double>(bucket.count));
    }
    return line;
}

/// One seed's value in each column: the mean of its points there; between columns that hold some, on the straight line from one to the
/// next (over tokens and time, seeds have their points in different columns); NaN before its first and after its last point.
std::vector<double> valuesOf(const std::vector<SeriesBucket>& buckets, const Window& window) {
    std::vector<double> values(buckets.size(), std::numeric_limits<double>::quiet_NaN());
    std::size_t before = buckets.size();  // none
    for (std::size_t column = 0; column < buckets.size(); ++column) {
        if (buckets[column].count == 0 || !std::isfinite(buckets[column].mean)) continue;
        values[column] = buckets[column].mean;
        for (std::size_t i = before + 1; before < buckets.size() && i < column; ++i)
            values[i] = std::lerp(values[before], values[column],
                                  (window.centre(i) - window.centre(before)) / (window.centre(column) - window.centre(before)));
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
    for (const auto& buckets : seeds) values.push_back(valuesOf(buckets, window));
    for (std::size_t column = 0; column < seeds.front().size(); ++column) {
        double points = 0, at = 0;
        for (const auto& buckets : seeds) {
            if (buckets[column].count == 0) continue;
            at = window.at(column, buckets[column], request.x);
            points += static_cast<double>(buckets[column].count);
        }
        const SeedMean seed = meanAt(values, column);
        if (points == 0 || seed.n == 0 || !drawable(seed.mean, request.logY) || !drawable(at, request.logX)) continue;
        line.add(at, seed.mean, seed.mean - seed.deviation, seed.mean + seed.deviation, points / seed.n);
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

/// A series of a group as a panel of several draws it: named and coloured by what tells it from the others.
struct Drawn {
    std::string series, name;  ///< name: of the series; empty: it needs none
    int colour = 0;
    std::string of(const std::string& group) const { return name.empty() ? group : group.empty() ? name : group + " · " + name; }
};

/// With one group series have colours of their own; with several a group keeps its colour, and series differ by their dashes.
Drawn drawnAs(const CurveRequest& request, const CurveGroup& group, std::size_t place) {
    Drawn drawn{request.series[place], {}, group.colour};
    if (request.series.size() == 1) return drawn;
    drawn.name = seriesLabel(drawn.series).first;
    drawn.colour = request.groups.size() == 1 ? static_cast<int>(place) : group.colour + palette_size * static_cast<int>(place);
    return drawn;
}

void addGroup(Store& store, const CurveGroup& group, const Drawn& drawn, const CurveRequest& request, const Window& window,
              Figure& figure) {
    std::vector<std::vector<SeriesBucket>> seeds;
    std::vector<std::string> names;
    std::set<std::uint64_t> counted;
    for (std::size_t i = 0; i < group.runs.size(); ++i) {
        if (request.overSeeds && i < group.seeds.size()) {
            if (counted.contains(group.seeds[i])) continue;
            if (store.series_range(group.runs[i], drawn.series, request.x).count > 0) counted.insert(group.seeds[i]);
        }
        std::vector<SeriesBucket> buckets = bucketsOf(store, group.runs[i], drawn.series, request, window);
        if (std::none_of(buckets.begin(), buckets.end(), [](const SeriesBucket& bucket) { return bucket.count > 0; })) continue;
        seeds.push_back(std::move(buckets));
        names.push_back(i < group.names.size() ? group.names[i] : group.runs[i]);
    }
    if (seeds.empty()) return;
    if (request.overSeeds && seeds.size() > 1)
        return addLine(figure, meanOf(seeds, window, request), drawn.of(fmt::format("{} (n = {})", group.label, seeds.size())),
                       drawn.colour, request.smoothing);
    for (std::size_t i = 0; i < seeds.size(); ++i)
        addLine(figure, lineOf(seeds[i], window, request), drawn.of(seeds.size() == 1 ? group.label : names[i]), drawn.colour,
                request.smoothing);
}

/// Ends of the value axis that a few points far away do not move.
void clipOutliers(Figure& figure) {
    std::vector<double> values;
    for (const Series& series : figure.series)
        for (const double value : series.y)
            if (drawable(value, figure.y.log)) values.push_back(figure.y.log ? std::log10(value) : value);
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) { return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))]; };
    const double low = at(least_share), high = at(1 - least_share), margin = margin_share * (high - low);
    if (!(low < high)) return;
    const auto shown = [&](double end) { return figure.y.log ? std::pow(10.0, end) : end; };
    if (!figure.y.min) figure.y.min = shown(low - margin);
    if (!figure.y.max) figure.y.max = shown(high + margin);
}

std::string axisName(const char* source) { return QCoreApplication::translate("CurveData", source).toStdString(); }

Axis axisOf(const CurveRequest& request) {
    Axis axis;
    switch (request.x) {
        case SeriesX::step:
            axis.label = axisName("step");
            break;
        case SeriesX::examples:
            axis.label = axisName("examples seen");
            break;
        case SeriesX::tokens:
            axis.label = axisName("tokens seen");
            break;
        case SeriesX::time:
            axis.label = axisName("time"), axis.unit = "s";
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

std::vector<std::string> curveNames(Store& store, const std::vector<CurveGroup>& groups) {
    std::set<std::string> names;
    for (const CurveGroup& group : groups)
        for (const std::string& run : group.runs)
            for (std::string& name : store.series_names(run)) names.insert(std::move(name));
    return {names.begin(), names.end()};
}

CurveResult readCurve(Store& store, const CurveRequest& request) {
    CurveResult result;
    const auto [label, unit] = sharedLabel(request.series);
    Figure& figure = result.figure;
    figure.kind = FigureKind::lines;
    figure.name = request.series.size() == 1 ? request.series.front() : label;
    figure.title = label;
    figure.x = axisOf(request);
    figure.y.label = label;
    figure.y.unit = unit;
    figure.y.log = request.logY;
    if (request.low && drawable(*request.low, request.logY)) figure.y.min = request.low;
    if (request.high && drawable(*request.high, request.logY)) figure.y.max = request.high;
    std::tie(result.from, result.to) = wholeRange(store, request);
    if (!(result.from <= result.to)) return result;
    if (result.from < result.to) {  // what a reset goes back to
        if (!request.logX || result.from > 0) figure.x.min = result.from;
        figure.x.max = result.to;
    }
    double from = result.from, to = result.to;
    const bool zoomed = request.from < request.to;
    if (zoomed) {  // a quarter more on each side, so that a pan shows something before the answer comes, and the average has its start
        const double margin = (request.to - request.from) / 4;
        from = std::max(result.from, request.from - margin);
        to = std::min(result.to, request.to + margin);
    }
    if (to <= from) to = from + 1;
    // Both ends belong to the range: the last point must not fall out of the last column.
    to += (to - from) * 1e-9;
    const Window window = windowOf(from, to, std::max(request.columns, 2), request.logX);
    for (const CurveGroup& group : request.groups)
        for (std::size_t i = 0; i < request.series.size(); ++i) addGroup(store, group, drawnAs(request, group, i), request, window, figure);
    if (request.clipped) clipOutliers(figure);
    result.empty = figure.series.empty();
    return result;
}

}  // namespace faceter::desktop
