#include "figure/svg.h"

#include <QtCore/QRegularExpression>
#include <QtCore/QXmlStreamReader>
#include <algorithm>
#include <array>
#include <cmath>

#include "figure/colours.h"
#include "figure/heat_map_range.h"
#include "figure/svg_plot.h"
#include "figure/ticks.h"
#include "support/test.h"

using namespace faceter;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Series points(std::string name, std::vector<double> y) {
    Series series;
    series.name = std::move(name);
    for (std::size_t i = 0; i < y.size(); ++i) series.x.push_back(static_cast<double>(i) + 1);
    series.y = std::move(y);
    return series;
}

Figure figure_of(FigureKind kind) {
    Figure figure;
    figure.kind = kind;
    figure.name = "f";
    figure.title = "Title";
    figure.x.label = "step";
    figure.y = {.label = "loss", .unit = "nats"};
    figure.series = {points("a", {1, 2, 4}), points("b", {3, missing, 2}), points("c", {2, 2, inf})};
    figure.series[0].low = {0.5, 1.5, 3};
    figure.series[0].high = {1.5, 2.5, missing};
    figure.series[1].mean = 2.0;
    if (kind == FigureKind::bars) figure.x.categories = {"one", "two", "three"};
    if (kind == FigureKind::heat_map)
        figure.heat_map = {.rows = {"r1", "r2"}, .columns = {"c1", "c2", "c3"}, .values = {1, 2, 3, missing, inf, -4}, .label = "score"};
    return figure;
}

constexpr FigureKind kinds[] = {FigureKind::lines,   FigureKind::bars, FigureKind::densities,
                                FigureKind::scatter, FigureKind::box,  FigureKind::heat_map};

struct Parsed {
    bool well_formed = true;
    QString error;
    QStringList texts;
    std::map<std::string, int> elements;
};

Parsed parse(const std::string& svg) {
    Parsed parsed;
    QXmlStreamReader reader(QByteArray::fromStdString(svg));
    while (!reader.atEnd()) {
        reader.readNext();
        if (reader.isStartElement()) ++parsed.elements[reader.name().toString().toStdString()];
        if (reader.isCharacters() && !reader.isWhitespace()) parsed.texts << reader.text().toString();
    }
    parsed.well_formed = !reader.hasError();
    parsed.error = reader.errorString();
    return parsed;
}

/// Whether two colours are one but for the last digit of a number.
bool is_near(const std::string& hex, const Colour& colour) {
    const QString a = QString::fromStdString(hex), b = QString::fromStdString(colour.hex());
    for (const int at : {1, 3, 5})
        if (std::abs(a.mid(at, 2).toInt(nullptr, 16) - b.mid(at, 2).toInt(nullptr, 16)) > 1) return false;
    return a.size() == b.size();
}

/// The colour bar's parts from its low end: where each begins (pixels) and its colour.
std::vector<std::pair<double, std::string>> bar_of(const std::string& svg) {
    static const QRegularExpression part(QStringLiteral("<rect x=.[0-9.]+. y=.([0-9.]+). width=.14. height=.[0-9.]+. fill=.(#[0-9A-F]+)."));
    std::vector<std::pair<double, std::string>> parts;
    for (auto at = part.globalMatch(QString::fromStdString(svg)); at.hasNext();) {
        const QRegularExpressionMatch match = at.next();
        parts.emplace_back(match.captured(1).toDouble(), match.captured(2).toStdString());
    }
    return parts;
}

}  // namespace

class TestSvg : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_kind_is_a_well_formed_document_without_nan() {
        for (const FigureKind kind : kinds)
            for (const bool dark : {false, true}) {
                const std::string svg = figure_to_svg(figure_of(kind), {.dark = dark});
                const Parsed parsed = parse(svg);
                QVERIFY2(parsed.well_formed, qPrintable(parsed.error));
                QVERIFY2(svg.find("nan") == std::string::npos && svg.find("=\"inf") == std::string::npos &&
                             svg.find(",inf") == std::string::npos,
                         svg.c_str());
                QVERIFY(parsed.texts.contains("Title"));
            }
    }
    void hostile_names_stay_text() {
        const std::string hostile = "</text><script>alert('1')</script>&\"\x01\u202E";
        for (const FigureKind kind : kinds) {
            Figure figure = figure_of(kind);
            figure.title = figure.name = hostile;
            figure.notes = {hostile};
            figure.x.label = figure.y.label = figure.y.unit = hostile;
            for (Series& series : figure.series) series.name = hostile;
            for (std::string& category : figure.x.categories) category = hostile;
            for (std::string& row : figure.heat_map.rows) row = hostile;
            for (std::string& column : figure.heat_map.columns) column = hostile;
            const std::string svg = figure_to_svg(figure);
            const Parsed parsed = parse(svg);
            QVERIFY2(parsed.well_formed, qPrintable(parsed.error));
            QVERIFY(!parsed.elements.contains("script"));
            QVERIFY(svg.find("\u202E") == std::string::npos);
        }
    }
    void a_missing_value_leaves_a_gap_in_the_line() {
        Figure figure = figure_of(FigureKind::lines);
        figure.series = {points("a", {1, 2, missing, 3, 4})};
        QCOMPARE(parse(figure_to_svg(figure)).elements["polyline"], 2);
    }
    void three_series_or_fewer_are_named_at_their_lines_more_in_a_legend() {
        Figure figure = figure_of(FigureKind::lines);
        const auto with_three = parse(figure_to_svg(figure));
        QCOMPARE(with_three.texts.count("a"), 1);
        figure.series.push_back(points("d", {1, 1, 1}));
        const auto with_four = parse(figure_to_svg(figure));
        QCOMPARE(with_four.texts.count("d"), 1);
    }
    /// A sweep's report has dozens of groups; their legend once took all of the height, and the plot was drawn upside down.
    void many_long_names_and_notes_leave_the_plot_room() {
        for (const FigureKind kind : {FigureKind::lines, FigureKind::scatter}) {
            Figure figure = figure_of(kind);
            figure.series.clear();
            for (int i = 0; i < 60; ++i) figure.series.push_back(points(fmt::format("series of the learning rate {}", i), {1, 3}));
            figure.notes.assign(5, std::string(300, 'n'));
            const QString svg = QString::fromStdString(figure_to_svg(figure));
            const auto all = [&](const char* pattern) {
                QList<double> found;
                for (auto at = QRegularExpression(QString::fromLatin1(pattern)).globalMatch(svg); at.hasNext();)
                    found << at.next().captured(1).toDouble();
                std::sort(found.begin(), found.end());
                return found;
            };
            const auto names = all(" y=\"([0-9.]+)\"[^>]*>series of");
            const auto marks = all(kind == FigureKind::lines ? "points=\"[0-9.]+,([0-9.]+) " : " cy=\"([0-9.]+)\"");
            const auto notes = all(" y=\"([0-9.]+)\"[^>]*>nnn");
            QCOMPARE(names.size(), qsizetype{60});
            QVERIFY(names.back() < marks.front() && marks.back() < notes.front());
            const double height = all("<svg[^>]* height=\"([0-9.]+)\"").front();
            QVERIFY(notes.back() < height && std::abs(svg_height(figure) - height) < 0.01);
        }
        QVERIFY(figure_to_svg(figure_of(FigureKind::bars)).find(" height=\"400\"") != std::string::npos);
    }
    void means_are_written_over_densities() {
        const auto parsed = parse(figure_to_svg(figure_of(FigureKind::densities)));
        QVERIFY2(parsed.texts.contains("b 2"), qPrintable(parsed.texts.join("|")));
    }
    void a_heat_map_writes_its_values_and_leaves_missing_cells_empty() {
        Figure figure = figure_of(FigureKind::heat_map);
        const auto parsed = parse(figure_to_svg(figure));
        for (const char* value : {"1.00", "3.00", "-4.00"}) QVERIFY(parsed.texts.contains(value));
        figure.heat_map.centre = 0;
        QVERIFY(figure_to_svg(figure).find(diverging(0.75).hex()) != std::string::npos);  // 3 of a reach of 4
    }
    void the_colour_bar_runs_from_the_least_value_below_to_the_greatest_above() {
        const Figure sequential_map = figure_of(FigureKind::heat_map);
        const auto bar = bar_of(figure_to_svg(sequential_map));
        QCOMPARE(bar.size(), std::size_t{64});
        QVERIFY(bar.front().first > bar.back().first);  // pixels grow downwards
        for (std::size_t i = 0; i < bar.size(); ++i)
            QVERIFY2(is_near(bar[i].second, sequential((static_cast<double>(i) + 0.5) / 64)), bar[i].second.c_str());
        const Parsed parsed = parse(figure_to_svg(sequential_map));
        for (const char* tick : {"-4", "-2", "0", "2"}) QVERIFY2(parsed.texts.contains(tick), qPrintable(parsed.texts.join("|")));
        QVERIFY(parsed.texts.contains("score"));
        // What lies on the other side of the centre, and nothing has, is not on the bar: from -4 to 3 round 0 of a reach of 4.
        Figure figure = sequential_map;
        figure.heat_map.centre = 0;
        const auto diverging_bar = bar_of(figure_to_svg(figure));
        QCOMPARE(diverging_bar.size(), std::size_t{64});
        QVERIFY2(is_near(diverging_bar.front().second, diverging((-4 + 3.5 / 64) / 4)), diverging_bar.front().second.c_str());
        QVERIFY2(is_near(diverging_bar.back().second, diverging((3 - 3.5 / 64) / 4)), diverging_bar.back().second.c_str());
    }
    void maps_with_one_range_of_values_have_one_colour_for_a_value() {
        const auto colours_of = [](double least) {
            Figure figure = figure_of(FigureKind::heat_map);
            figure.heat_map = {.rows = {"r"}, .columns = {"a", "b", "c"}, .values = {least, 0.75, 1}, .label = "similarity"};
            figure.y.min = 0.5, figure.y.max = 1;
            const auto [colours, bar] = heat_map_ranges(figure.heat_map, figure.y);
            return std::pair(figure_to_svg(figure).find(sequential(0.5).hex()) != std::string::npos, std::array{colours.low, bar.low});
        };
        for (const double least : {0.5, 0.7}) {
            const auto [found, lows] = colours_of(least);
            QVERIFY2(found, qPrintable(QString::number(least)));  // 0.75 is in the middle of both
            QCOMPARE(lows, (std::array{0.5, 0.5}));
        }
        Figure beyond = figure_of(FigureKind::heat_map);  // a value that lies outside is in sight all the same
        beyond.y.min = 0;
        QCOMPARE(heat_map_ranges(beyond.heat_map, beyond.y).colours.low, -4.0);
    }
    void figures_without_data_say_so() {
        for (const FigureKind kind : {FigureKind::lines, FigureKind::bars, FigureKind::densities, FigureKind::scatter, FigureKind::box}) {
            Figure figure;
            figure.kind = kind;
            const auto parsed = parse(figure_to_svg(figure));
            QVERIFY(parsed.well_formed && parsed.texts.contains("no data"));
        }
        Figure empty_map;
        empty_map.kind = FigureKind::heat_map;
        QVERIFY(parse(figure_to_svg(empty_map)).well_formed);
    }
    void quartiles_and_whiskers_of_a_box() {
        const BoxShape box = box_shape({1, 2, 3, 4, 5, 100, missing});
        QCOMPARE(box.median, 3.5);
        QCOMPARE(box.low, 1.0);
        QCOMPARE(box.high, 5.0);
        QCOMPARE(box.outliers, std::vector<double>{100});
    }
    void ticks_are_round_and_inside() {
        const auto labels = [](const std::vector<Tick>& ticks) {
            QStringList list;
            for (const Tick& tick : ticks) list << QString::fromStdString(tick.label);
            return list.join(" ");
        };
        QCOMPARE(labels(linear_ticks(0, 1, 5)), QString("0.0 0.2 0.4 0.6 0.8 1.0"));
        QCOMPARE(labels(linear_ticks(-3, 7, 4)), QString("0 5"));
        QCOMPARE(labels(linear_ticks(0.501, 0.509, 4)), QString("0.502 0.504 0.506 0.508"));
        QCOMPARE(labels(log_ticks(0.1, 1000, 8)), QString("0.1 1 10 100 1000"));
        QCOMPARE(labels(log_ticks(1, 60, 8)), QString("1 2 5 10 20 50"));
        QCOMPARE(labels(whole_ticks(1, 4, 10)), QString("1 2 3 4"));  // gates: there is no half of one
        QCOMPARE(labels(whole_ticks(0.5, 1.5, 10)), QString("1"));
        QCOMPARE(labels(whole_ticks(-0.5, 0.4, 10)), QString("0"));
        QVERIFY(whole_ticks(0.1, 0.9, 5).empty() && whole_ticks(missing, missing, 5).empty());
        QVERIFY(linear_ticks(1, 1, 5).empty() && linear_ticks(missing, 1, 5).empty() && log_ticks(-1, 1, 5).empty());
        QVERIFY(linear_ticks(0, 1e300, 5).size() < 20 && linear_ticks(0, 1e-300, 5).size() < 20);
    }
    void a_short_log_axis_has_even_ticks() {
        const auto values = [](const Scale& scale) {
            std::vector<double> found;
            for (const Tick& tick : scale.ticks(5)) found.push_back(tick.value);
            return found;
        };
        const Range pixels{0, 100};
        QCOMPARE(values({{256, 384}, pixels, true}), (std::vector<double>{300, 350}));
        QCOMPARE(values({{512, 768}, pixels, true, true}), (std::vector<double>{600, 700}));
        QCOMPARE(values({{2, 4.5}, pixels, true}), (std::vector<double>{2, 2.5, 3, 3.5, 4, 4.5}));  // one round place says no scale
        QCOMPARE(values({{1, 60}, pixels, true}), (std::vector<double>{1, 10}));
        QVERIFY(values({{0, 1}, pixels, true}).empty());
    }
    void series_keep_their_contrast_on_both_surfaces() {
        for (const Theme& theme : {Theme::light(), Theme::night()})
            for (int place = 0; place < 24; ++place) {
                if (theme.dark) QVERIFY(contrast(theme.series(place), theme.surface) >= 3);
                QVERIFY(contrast(theme.series_text(place), theme.surface) >= 4.5);
            }
        QCOMPARE(Theme::light().series(0).hex(), std::string("#0072B2"));
        QVERIFY(palette_dash(0).empty() && !palette_dash(8).empty() && palette_dash(8) != palette_dash(16));
    }
    void hostile_numbers_do_no_harm() {
        Figure figure = figure_of(FigureKind::lines);
        figure.series = {points("a", {1e308, -1e308, 1e-320})};
        QVERIFY(parse(figure_to_svg(figure)).well_formed);
        figure.series = {points("a", {5, 5, 5})};
        QVERIFY(parse(figure_to_svg(figure)).well_formed);
        figure.y.log = true;
        QVERIFY(parse(figure_to_svg(figure)).well_formed);
    }
    /// Mean less deviation may be below zero where the mean is not.
    void a_band_below_zero_ends_at_a_logarithmic_axis() {
        Figure figure = figure_of(FigureKind::lines);
        figure.series = {points("a", {5, 0.5, 5})};
        figure.series[0].low = {4, -0.5, 0};
        figure.series[0].high = {6, 1.5, 10};
        figure.y.log = true;
        const std::string svg = figure_to_svg(figure);
        QVERIFY2(svg.find("nan") == std::string::npos, svg.c_str());
        const auto band = QRegularExpression(QStringLiteral("<polygon points=\"([^\"]*)\"")).match(QString::fromStdString(svg));
        QCOMPARE(band.captured(1).split(QLatin1Char(' ')).size(), qsizetype{6});
    }
};

FACETER_TEST(TestSvg)
#include "test_svg.moc"
