#include <cmath>

#include "figure/heat_map_marks.h"
#include "figure/marks.h"
#include "view_support.h"

namespace faceter::desktop {

using namespace faceter::testing;

class TestFigureKinds : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_kind_hands_its_points_to_the_plot_and_draws_them_data() {
        QTest::addColumn<int>("index");
        const auto figures = sample_figures();
        for (std::size_t i = 0; i < figures.size(); ++i)
            QTest::newRow((std::to_string(i) + " " + figures[i].name).c_str()) << static_cast<int>(i);
    }
    void every_kind_hands_its_points_to_the_plot_and_draws_them() {
        QFETCH(int, index);
        const Figure figure = sample_figures()[static_cast<std::size_t>(index)];
        auto view = shown(figure);
        const auto data = view->grabData();
        if (!view->hasValues()) {
            QCOMPARE(view->plot()->emptyText(), QString("no values"));
            return;
        }
        QCOMPARE(data.size(), figure.kind == FigureKind::heat_map ? 1 : static_cast<qsizetype>(figure.series.size()));
        for (const PlottedSeries& series : data) {
            QVERIFY(!series.points.isEmpty());
            if (figure.kind != FigureKind::heat_map) QVERIFY2(pixelsLike(*view, series.colour, 120) > 3, qPrintable(series.name));
        }
    }

    void points_of_lines_are_the_figures() {
        const Figure figure = sample_lines();
        const auto data = shown(figure)->grabData();
        for (std::size_t s = 0; s < figure.series.size(); ++s) {
            QCOMPARE(data[static_cast<qsizetype>(s)].name.toStdString(), figure.series[s].name);
            for (std::size_t i = 0; i < figure.series[s].y.size(); ++i)
                QCOMPARE(data[static_cast<qsizetype>(s)].points[static_cast<qsizetype>(i)],
                         QPointF(figure.series[s].x[i], figure.series[s].y[i]));
        }
    }

    void a_point_alone_at_the_end_of_an_axis_is_whole() {
        Figure figure = sample_lines();
        figure.series.resize(2);
        for (Series& series : figure.series) series.low.clear(), series.high.clear(), series.raw.clear();
        figure.series[0].x = {1, 2, 3, 4}, figure.series[0].y = {1, 2, 3, 4};
        figure.series[1].x = {1}, figure.series[1].y = {3};  // as a router with one gate
        auto view = shown(figure);
        const QImage image = picture(*view);
        const QColor colour = view->grabData()[1].colour;
        const QPoint at(static_cast<int>(view->plot()->xAxis->coordToPixel(1)), static_cast<int>(view->plot()->yAxis->coordToPixel(3)));
        int left = 0, right = 0;
        for (int y = at.y() - 3; y <= at.y() + 3; ++y)
            for (int x = at.x() - 3; x <= at.x() + 3; ++x) {
                const QColor seen = image.pixelColor(x, y);
                const bool isLike = std::abs(seen.red() - colour.red()) + std::abs(seen.blue() - colour.blue()) < 60;
                (x < at.x() ? left : right) += isLike;
            }
        QVERIFY2(left > 0 && right > 0, qPrintable(QString("%1 left, %2 right").arg(left).arg(right)));
    }

    void cells_of_a_heat_map_have_the_colours_of_their_values() {
        const Figure figure = sample_heat_map(4, 9, true);
        auto view = shown(figure);
        const QImage image = picture(*view);
        const HeatColours colours(figure.heat_map, ThemeColours::light());
        for (int r = 0; r < 4; ++r)
            for (int c = 0; c < 9; ++c) {
                const QPoint corner(static_cast<int>(view->plot()->xAxis->coordToPixel(c - 0.4)),
                                    static_cast<int>(view->plot()->yAxis->coordToPixel(r - 0.4)));
                const QColor wanted = colours.of(figure.heat_map.values[static_cast<std::size_t>(r * 9 + c)]),
                             seen = image.pixelColor(corner);
                QVERIFY2(std::abs(wanted.red() - seen.red()) < 4 && std::abs(wanted.blue() - seen.blue()) < 4,
                         qPrintable(QString("%1,%2: %3 %4").arg(r).arg(c).arg(wanted.name(), seen.name())));
            }
    }

    void a_diverging_map_is_the_surface_at_its_centre_and_equal_on_both_sides() {
        HeatMap map;
        map.rows = {"a"};
        map.columns = {"b", "c"};
        map.values = {-0.1, 0.4};
        map.centre = 0;
        for (const ThemeColours& theme : {ThemeColours::light(), ThemeColours::night()}) {
            const HeatColours colours(map, theme);
            QCOMPARE(colours.of(0).name(), theme.surface.name());  // a dark page is not lit up by what is near nothing
            QCOMPARE(colours.of(0.4).name(), theme.series(1).name());
            QCOMPARE(colours.of(-0.4).name(), theme.series(0).name());
        }
        const HeatColours colours(map, ThemeColours::light());
        QCOMPARE(colours.low(), -0.4);
        QCOMPARE(colours.high(), 0.4);
    }

    void an_interval_that_goes_below_a_logarithmic_axis_reaches_its_end() {
        Figure figure;
        figure.kind = FigureKind::lines;
        figure.y.log = true;
        figure.y.min = 0.01, figure.y.max = 10;
        Series& one = figure.series.emplace_back();
        one.x = {1, 2, 3}, one.y = {1, 1, 1};
        auto bare = shown(figure);
        one.low = {-1, 0, -1}, one.high = {2, 2, 2};
        auto view = shown(figure);
        const QPoint at(static_cast<int>(view->plot()->xAxis->coordToPixel(1.7)),
                        static_cast<int>(view->plot()->yAxis->coordToPixel(0.047)));
        QVERIFY(picture(*view).pixelColor(at) != picture(*bare).pixelColor(at));
    }

    void few_lines_are_named_at_their_ends_many_in_a_legend() {
        for (const int count : {2, 7}) {
            auto view = shown(sample_lines(count));
            const QRect area = view->plot()->axisRect()->rect();
            int found = 0;
            for (int y = 0; y < view->plot()->height(); ++y)
                found += view->plot()->seriesLabelAt({area.right() + 10.0, static_cast<double>(y)}) >= 0;
            QCOMPARE(found > 0, count == 2);
            int anywhere = 0;
            for (int y = 0; y < view->plot()->height(); y += 2)
                for (int x = 0; x < view->plot()->width(); x += 4)
                    anywhere += view->plot()->seriesLabelAt({static_cast<double>(x), static_cast<double>(y)}) == count - 1;
            QVERIFY(anywhere > 0);
        }
    }

    void names_in_a_larger_text_have_rows_as_high_as_they_are() {
        QFont user;
        user.setPixelSize(29);
        Theme::instance().setUserFont(user);
        auto view = shown(sample_lines(5), {800, 600});
        user.setPixelSize(12);
        Theme::instance().setUserFont(user);
        const PlotStyle& style = view->plot()->plotStyle();
        QSet<int> rows;
        for (int y = 0; y < view->plot()->height(); ++y)
            for (int x = 0; x < view->plot()->width(); x += 4)
                if (view->plot()->seriesLabelAt({static_cast<double>(x), static_cast<double>(y)}) == 1) rows << y;
        const double needed = QFontMetricsF(style.font).height() - 1;
        QVERIFY2(rows.size() >= needed, qPrintable(QString("%1 of %2 px").arg(rows.size()).arg(needed)));
        QVERIFY(style.titleFont().pixelSize() > style.font.pixelSize());
        QVERIFY(style.smallFont().pixelSize() < style.font.pixelSize());
    }

    void a_wide_interval_behind_a_name_is_whole_in_the_legend() {
        Figure figure = sample_bars(3);
        figure.series[0].name = "a mixture  -12.34 [-143.82, 133.43]";
        auto view = shown(figure, {440, 260});
        QSet<int> columns;
        for (int y = 0; y < view->plot()->height(); y += 2)
            for (int x = 0; x < view->plot()->width(); ++x)
                if (view->plot()->seriesLabelAt({static_cast<double>(x), static_cast<double>(y)}) == 0) columns << x;
        const double whole = QFontMetricsF(view->plot()->plotStyle().font).horizontalAdvance(QString::fromStdString(figure.series[0].name));
        QVERIFY2(columns.size() >= whole + 20, qPrintable(QString("%1 of %2 px").arg(columns.size()).arg(whole + 20)));  // 20: the swatch
    }

    void bars_of_one_colour_are_told_apart_by_their_hatching() {
        Figure figure = sample_bars(3);
        for (std::size_t s = 0; s < 3; ++s) {
            figure.series[s].colour = static_cast<int>(8 * s);  // blue each time
            figure.series[s].low.clear();
            figure.series[s].high.clear();
            figure.series[s].y.assign(figure.series[s].y.size(), 2);
        }
        auto view = shown(figure, {900, 400});
        const QImage image = view->plot()->grab().toImage();
        std::vector<int> other(3, 0);  // pixels of a bar that are not as its middle
        for (int i = 0; i < view->plot()->plottableCount(); ++i) {
            const auto* bars = dynamic_cast<const BarMarks*>(view->plot()->plottable(i));
            if (!bars) continue;
            const double scale = image.devicePixelRatio();
            const QRectF bar = bars->bar(0);
            const QRect inside = QRectF(bar.topLeft() * scale, bar.size() * scale).toRect().adjusted(3, 3, -3, -3);
            for (int y = inside.top(); y < inside.bottom(); ++y)
                for (int x = inside.left(); x < inside.right(); ++x)
                    other[static_cast<std::size_t>(bars->series())] += image.pixel(x, y) != image.pixel(inside.center());
        }
        for (const int hatched : {1, 2})
            QVERIFY(other[static_cast<std::size_t>(hatched)] > 10 * other[0]);  // lines of the grid shine through
        QVERIFY(other[1] != other[2]);
    }

    void means_that_differ_are_not_written_alike() {
        Figure figure = sample_densities(2);
        figure.series[0].mean = 0.84121;
        for (const auto& [second, value] : {std::pair(0.91, "0.84"), std::pair(0.84384, "0.841"), std::pair(0.84124, "0.8412")}) {
            figure.series[1].mean = second;
            auto view = shown(figure, {640, 400});
            QSet<int> columns;
            for (int y = 0; y < view->plot()->height(); ++y)
                for (int x = 0; x < view->plot()->width(); ++x)
                    if (view->plot()->seriesLabelAt({static_cast<double>(x), static_cast<double>(y)}) == 0) columns << x;
            const QString text = QString::fromStdString(figure.series[0].name) + QLatin1Char(' ') + QLatin1String(value);
            const double wanted = QFontMetricsF(view->plot()->plotStyle().font).horizontalAdvance(text) + 8;  // 8: beside the text
            QVERIFY2(std::abs(static_cast<double>(columns.size()) - wanted) <= 3,
                     qPrintable(QString("%1: %2, not %3 px").arg(value).arg(columns.size()).arg(wanted)));
        }
    }

    void many_names_over_a_narrow_plot_leave_it_most_of_its_room() {
        auto view = shown(sample_lines(6), {230, 200});
        const QRect area = view->plot()->axisRect()->rect();
        QVERIFY2(area.width() > view->plot()->width() / 2, qPrintable(QString("%1 of %2 px").arg(area.width()).arg(view->plot()->width())));
    }

    void a_narrow_axis_has_two_numbers_at_least() {
        Figure figure = sample_scatter(1, false);
        figure.series[0].x.clear();
        for (std::size_t i = 0; i < figure.series[0].y.size(); ++i)
            figure.series[0].x.push_back(-0.7 + 1.4 * static_cast<double>(i) / static_cast<double>(figure.series[0].y.size() - 1));
        auto view = shown(figure, {240, 320});
        const QCPAxis* axis = view->plot()->xAxis;
        QVERIFY2(axis->tickVector().size() >= 2, qPrintable(axis->tickVectorLabels().join(QLatin1Char(' '))));
    }

    void a_long_title_of_the_value_axis_is_not_longer_than_the_plot() {
        Figure figure = sample_lines(2);
        figure.y.label = "the mean of all scores over data sets and seeds that were there";
        auto view = shown(figure, {400, 190});
        const FigurePlot* plot = view->plot();
        for (const QString& line : plot->yAxis->label().split(u'\n'))
            QVERIFY2(QFontMetricsF(plot->plotStyle().font).horizontalAdvance(line) < plot->height(), qPrintable(line));
        QVERIFY(!plot->yAxis->label().isEmpty());
    }

    /// Three clouds in a small card of page Results: the legend stands above what would be a strip beside it, the title in two lines.
    void a_narrow_plot_keeps_its_width_and_its_title() {
        Figure figure;
        figure.kind = FigureKind::scatter;
        figure.name = "clouds";
        figure.x.label = "first principal component (19 % of the variance)";
        figure.y.label = "second (13 %)";
        for (const char* name : {"classification", "retrieval.query", "retrieval.document"}) {
            Series& series = figure.series.emplace_back();
            series.name = name;
            for (int i = 0; i < 144; ++i) series.x.push_back(i % 12), series.y.push_back(i / 12);
        }
        auto view = shown(figure, {260, 320});
        const FigurePlot* plot = view->plot();
        const QRect area = plot->axisRect()->rect();
        QVERIFY2(area.width() > plot->width() / 2, qPrintable(QString("%1 of %2 px").arg(area.width()).arg(plot->width())));
        int named = 0;
        for (int y = 0; y < area.top(); ++y) named += plot->seriesLabelAt({area.left() + 40.0, static_cast<double>(y)}) == 2;
        QVERIFY(named > 0);
        const QStringList lines = plot->xAxis->label().split(u'\n');
        QCOMPARE(lines.size(), 2);
        for (const QString& line : lines)
            QVERIFY2(QFontMetricsF(plot->plotStyle().font).horizontalAdvance(line) < plot->width(), qPrintable(line));
        QCOMPARE(lines.join(QLatin1Char(' ')), QString::fromStdString(figure.x.label));
    }

    void numbers_on_an_axis_do_not_overlap_at_any_width() {
        for (int width = 180; width < 900; width += 60) {
            auto view = shown(sample_log_axes(), {width, 300});
            const QCPAxis* axis = view->plot()->xAxis;
            const QFontMetricsF metrics(axis->tickLabelFont());
            double end = -1e9;
            for (qsizetype i = 0; i < axis->tickVector().size(); ++i) {
                const double x = axis->coordToPixel(axis->tickVector()[i]),
                             half = metrics.horizontalAdvance(axis->tickVectorLabels()[i]) / 2;
                QVERIFY2(x - half > end, qPrintable(QString("width %1").arg(width)));
                end = x + half;
            }
        }
    }

    void lines_over_whole_numbers_have_no_places_between_them() {
        Figure figure = sample_lines(1);
        figure.series[0] = {};
        figure.series[0].x = {6, 7, 8};
        figure.series[0].y = {1, 2, 3};
        for (const bool log : {false, true}) {
            figure.x.log = log;
            auto view = shown(figure, {700, 300});
            QCOMPARE(view->plot()->xAxis->tickVectorLabels(), (QVector<QString>{"6", "7", "8"}));
            view->setXRange(QCPRange(6.6, 7.2));
            view->plot()->replot(QCustomPlot::rpImmediateRefresh);
            QCOMPARE(view->plot()->xAxis->tickVectorLabels(), QVector<QString>{"7"});
        }
        figure.series[0].x = {6, 7, 8.5};
        figure.x.log = false;
        QVERIFY(shown(figure, {700, 300})->plot()->xAxis->tickVectorLabels().contains("6.5"));
    }

    void a_low_plot_has_two_numbers_on_its_value_axis() {
        int low = 0;
        for (int height = 150; height <= 240; height += 10)
            for (int span = 30; span < 100; span += 4) {
                Figure figure = sample_lines(1);
                figure.series[0] = {};
                figure.series[0].x = {1, 2};
                figure.series[0].y = {3.06, 3.06 + span / 100.0};
                auto view = shown(figure, {400, height});
                if (const int axis = view->plot()->axisRect()->height(); axis < 80 || axis > 110) continue;
                ++low;
                QVERIFY2(view->plot()->yAxis->tickVector().size() >= 2, qPrintable(QString("%1 px, span %2").arg(height).arg(span)));
            }
        QVERIFY(low > 0);
    }

    void long_names_of_categories_are_turned_or_cut_and_the_tooltip_has_them_whole() {
        Figure figure = sample_bars(1);
        for (std::string& name : figure.x.categories) name += std::string(200, 'x');
        auto view = shown(figure);
        QVERIFY(view->plot()->xAxis->tickLabelRotation() != 0);
        QVERIFY(view->plot()->axisRect()->height() > 100);
        const QPoint at(static_cast<int>(view->plot()->xAxis->coordToPixel(1)), centreOf(*view).y());
        QVERIFY(view->textAt(view->plot()->mapToParent(at)).contains(QString::fromStdString(figure.x.categories[1])));
    }

    void turned_names_are_whole_at_the_left_edge() {
        Figure figure = sample_bars(1);
        figure.x.categories[0] = "a name of some length in front";
        auto view = shown(figure, {420, 300});
        const QCPAxis* x = view->plot()->xAxis;
        QVERIFY(x->tickLabelRotation() != 0);
        const double across = QFontMetricsF(x->tickLabelFont()).horizontalAdvance(x->tickVectorLabels()[0]) * std::cos(35 * M_PI / 180);
        QVERIFY(x->coordToPixel(x->tickVector()[0]) - across > 0);
    }

    /// Points all over, so far from one another that the legend would stand on two or three of them.
    void a_legend_stands_on_no_point() {
        Figure figure = sample_scatter(3, false);
        for (std::size_t s = 0; s < figure.series.size(); ++s) {
            Series& series = figure.series[s];
            for (auto* values : {&series.x, &series.y, &series.low, &series.high}) values->clear();
            series.labels.clear();
            for (int i = 0; i < 63; ++i)
                if (i % 3 == static_cast<int>(s)) series.x.push_back(i % 9), series.y.push_back(i / 9);
        }
        auto view = shown(figure, {640, 400});
        const FigurePlot* plot = view->plot();
        for (const Series& series : figure.series)
            for (std::size_t i = 0; i < series.x.size(); ++i) {
                const QPointF place(plot->xAxis->coordToPixel(series.x[i]), plot->yAxis->coordToPixel(series.y[i]));
                QVERIFY2(plot->seriesLabelAt(place) < 0, qPrintable(QString("point %1, %2").arg(series.x[i]).arg(series.y[i])));
            }
        int named = 0;
        for (int y = 0; y < plot->height(); ++y)
            for (int x = 0; x < plot->width(); x += 4) named += plot->seriesLabelAt({static_cast<double>(x), static_cast<double>(y)}) == 2;
        QVERIFY(named > 0);
    }

    /// The names of the figure before were turned already, those of this one are not cut yet: they took all of the height.
    void the_title_of_an_axis_is_whole_when_the_figure_is_set_again() {
        Figure figure = sample_heat_map(12, 12);
        figure.y.label = "block and expert";
        const std::string name = "a task with a very long name that goes on and on and on and on and on, ";
        for (std::string& column : figure.heat_map.columns) column = name + column;
        auto view = shown(figure, {510, 320});
        view->setFigure(figure);
        view->plot()->replot(QCustomPlot::rpImmediateRefresh);
        QCOMPARE(view->plot()->yAxis->label().simplified(), QStringLiteral("block and expert"));
    }

    void the_number_over_a_bar_of_a_hundred_per_cent_has_its_room() {
        Figure figure = sample_bars(1);
        figure.y.min = 0, figure.y.max = 100;
        for (double& y : figure.series[0].y) y = 40;
        QCOMPARE(shown(figure)->yRange().upper, 100.0);
        figure.series[0].y.front() = 100;
        QVERIFY(shown(figure)->yRange().upper >= 105);
    }

    void a_logarithmic_axis_has_round_places_at_any_zoom() {
        auto view = shown(sample_log_axes());
        for (int i = 0; i < 12; ++i) {
            for (const QCPAxis* axis : {view->plot()->xAxis, view->plot()->yAxis})
                QVERIFY2(axis->tickVector().size() >= 2 && axis->tickVector().size() < 16,
                         qPrintable(QString::number(axis->tickVector().size())));
            QTest::keyClick(view.get(), Qt::Key_Plus);
            view->plot()->replot(QCustomPlot::rpImmediateRefresh);
        }
    }

    void reference_marks_are_within_the_range_and_drawn() {
        auto view = shown(sample_lines());
        const QImage before = picture(*view);
        view->setReferenceMarks({{Qt::Horizontal, 0.95, "published"}, {Qt::Vertical, 5000, "warm-up ends"}});
        QVERIFY(view->yRange().contains(0.95));
        QVERIFY(picture(*view) != before);
    }

    void the_accessible_description_names_kind_axes_and_series() {
        auto view = shown(sample_bars(2));
        QCOMPARE(view->accessibleName(), QString("Gain over EM by task"));
        for (const char* piece : {"Bar chart", "MoTE", "IC", "gain (points)"}) QVERIFY(view->accessibleDescription().contains(piece));
    }
};

FACETER_TEST(TestFigureKinds)

}  // namespace faceter::desktop

#include "test_figure_kinds.moc"
