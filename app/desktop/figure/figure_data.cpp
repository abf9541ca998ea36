#include "figure/figure_data.h"

#include <algorithm>
#include <cmath>

#include "common/strings.h"
#include "figure/escape.h"
#include "figure/figure_plot.h"
#include "figure/marks.h"

namespace faceter::desktop {
namespace {

using Row = std::vector<FigureData::Cell>;

bool inView(const FigurePlot& plot, double x) { return plot.xAxis->range().contains(x); }

std::string nameOf(const Axis& axis, const std::string& otherwise) { return axis.label.empty() ? otherwise : axis.label; }

FigureData ofPoints(const FigurePlot& plot) {
    const Figure& figure = plot.figure();
    const auto any = [&](auto&& has) { return std::any_of(figure.series.begin(), figure.series.end(), has); };
    const bool intervals = any([](const Series&s) { return !s.low.empty(); }),
               labels = any([](const Series&s) { return !s.labels.empty(); });
    FigureData data;
    data.header = {"series", nameOf(figure.x, "x"), nameOf(figure.y, "y")};
    if (intervals) data.header.insert(data.header.end(), {"low", "high"});
    if (labels) data.header.push_back("label");
    for (int s = 0; s < plot.seriesCount(); ++s) {
        const Series& one = figure.series[static_cast<std::size_t>(s)];
        for (std::size_t i = 0; plot.isSeriesVisible(s) && i < one.y.size(); ++i) {
            if (!inView(plot, one.x[i])) continue;
            Row row{one.name, one.x[i], one.y[i]};
            if (intervals) row.insert(row.end(), {one.low.empty() ? NAN : one.low[i], one.high.empty() ? NAN : one.high[i]});
            if (labels) row.emplace_back(one.labels.empty() ? std::string() : one.labels[i]);
            data.rows.push_back(std::move(row));
        }
    }
    return data;
}

FigureData ofBars(const FigurePlot& plot) {
    const Figure& figure = plot.figure();
    FigureData data{{nameOf(figure.x, "category"), "series", nameOf(figure.y, "value"), "low", "high"}, {}};
    for (std::size_t i = 0; i < figure.x.categories.size(); ++i)
        for (int s = 0; s < plot.seriesCount(); ++s) {
            const Series& one = figure.series[static_cast<std::size_t>(s)];
            if (!plot.isSeriesVisible(s) || !inView(plot, static_cast<double>(i))) continue;
            data.rows.push_back(
                {figure.x.categories[i], one.name, one.y[i], one.low.empty() ? NAN : one.low[i], one.high.empty() ? NAN : one.high[i]});
        }
    return data;
}

FigureData ofBoxes(const FigurePlot& plot) {
    FigureData data{{"series", nameOf(plot.figure().y, "value")}, {}};
    for (int s = 0; s < plot.seriesCount(); ++s) {
        const Series& one = plot.figure().series[static_cast<std::size_t>(s)];
        if (plot.isSeriesVisible(s) && inView(plot, s))
            for (const double y : one.y) data.rows.push_back({one.name, y});
    }
    return data;
}

FigureData ofHeatMap(const FigurePlot& plot) {
    const HeatMap& map = plot.figure().heat_map;
    FigureData data{{nameOf(plot.figure().y, "row"), nameOf(plot.figure().x, "column"), map.label.empty() ? "value" : map.label}, {}};
    for (std::size_t r = 0; r < map.rows.size(); ++r)
        for (std::size_t c = 0; c < map.columns.size(); ++c)
            if (inView(plot, static_cast<double>(c)) && plot.yAxis->range().contains(static_cast<double>(r)))
                data.rows.push_back({map.rows[r], map.columns[c], map.values[r * map.columns.size() + c]});
    return data;
}

template <typename Escape>
QString delimited(const FigureData& data, char separator, const char* lineEnd, Escape escape) {
    std::string out;
    const auto add = [&](std::size_t column, const std::string& text) {
        if (column > 0) out += separator;
        out += text;
    };
    for (std::size_t i = 0; i < data.header.size(); ++i) add(i, escape(data.header[i]));
    out += lineEnd;
    for (const Row& row : data.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const auto* number = std::get_if<double>(&row[i]);
            add(i, number ? (std::isnan(*number) ? std::string() : format_double(*number)) : escape(std::get<std::string>(row[i])));
        }
        out += lineEnd;
    }
    return QString::fromStdString(out);
}

}  // namespace

QString FigureData::csv() const {
    return delimited(*this, ',', "\r\n", [](const std::string& s) { return escape_csv(s); });
}

QString FigureData::tsv() const {
    return delimited(*this, '\t', "\n", [](const std::string& s) { return escape_tsv(s); });
}

FigureData figureData(const FigurePlot& plot) {
    if (!plot.hasValues()) return {};
    switch (plot.figure().kind) {
        case FigureKind::bars:
            return ofBars(plot);
        case FigureKind::box:
            return ofBoxes(plot);
        case FigureKind::heat_map:
            return ofHeatMap(plot);
        default:
            break;
    }
    return ofPoints(plot);
}

}  // namespace faceter::desktop
