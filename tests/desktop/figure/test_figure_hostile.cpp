#include <cmath>
#include <limits>

#include "figure/figure_hover.h"
#include "view_support.h"

namespace faceter::desktop {

using namespace faceter::testing;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Figure lineOf(std::vector<double> x, std::vector<double> y) {
    Figure f;
    f.series = {{.name = "a", .x = std::move(x), .y = std::move(y)}};
    return f;
}

/// Draws, points at, zooms and exports: none of it may crash.
void use(const Figure& figure) {
    auto view = shown(figure);
    for (int x = 0; x < view->width(); x += 37)
        for (int y = 0; y < view->height(); y += 37) (void)view->textAt({x, y});
    for (const int key : {Qt::Key_Plus, Qt::Key_Plus, Qt::Key_Left, Qt::Key_Up, Qt::Key_Minus, Qt::Key_0}) {
        QTest::keyClick(view.get(), static_cast<Qt::Key>(key));
        view->plot()->replot(QCustomPlot::rpImmediateRefresh);
    }
    (void)figureCsv(*view->plot());
    QVERIFY(!figureImage(*view->plot()).isNull());
    view->resize(view->minimumSizeHint());
    view->plot()->replot(QCustomPlot::rpImmediateRefresh);
}

}  // namespace

class TestFigureHostile : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void values_that_are_not_finite_leave_gaps() {
        const Figure figure = lineOf({0, 1, 2, 3, 4, 5}, {1, NAN, 3, inf, -inf, 2});
        auto view = shown(figure);
        QVERIFY(view->hasValues());
        QVERIFY(view->yRange().upper < 10);
        use(figure);
    }

    void nothing_finite_says_no_values_and_draws_no_frame() {
        for (const Figure& figure : {Figure{}, lineOf({}, {}), lineOf({1, 2}, {NAN, inf}), [] {
                                         Figure f;
                                         f.kind = FigureKind::heat_map;
                                         return f;
                                     }()}) {
            auto view = shown(figure);
            QVERIFY(!view->hasValues());
            QCOMPARE(view->plot()->emptyText(), QString("no values"));
            QVERIFY(!view->plot()->xAxis->visible());
            const QImage image = picture(*view);
            int marks = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) marks += image.pixelColor(x, y) != Theme::instance().colours().surface;
            QVERIFY(marks > 20);    // the words
            QVERIFY(marks < 3000);  // and nothing else
            use(figure);
        }
    }

    void one_point_is_seen() {
        auto view = shown(lineOf({3}, {0.5}));
        QVERIFY(pixelsLike(*view, view->grabData()[0].colour) > 4);
        use(lineOf({3}, {0.5}));
        use(lineOf({0}, {0}));
    }

    void values_at_the_ends_of_double_do_not_crash() {
        use(lineOf({0, 1, 2}, {-1e308, 1e308, 0}));
        use(lineOf({0, 1, 2}, {1e-308, 2e-308, 3e-308}));
        use(lineOf({-1e308, 0, 1e308}, {1, 2, 3}));
        use(lineOf({1e15, 1e15 + 0.25}, {1, 1 + 1e-15}));
    }

    void ten_thousand_categories_are_drawn_and_their_names_do_not_overlap() {
        Figure f;
        f.kind = FigureKind::bars;
        f.series = {{.name = "a"}};
        for (int i = 0; i < 10000; ++i) {
            f.x.categories.push_back("category " + std::to_string(i));
            f.series[0].y.push_back(i % 17);
        }
        auto view = shown(f);
        const auto places = view->plot()->xAxis->tickVector();
        QVERIFY(places.size() > 2);
        QVERIFY(view->plot()->xAxis->coordToPixel(places[1]) - view->plot()->xAxis->coordToPixel(places[0]) >= 14);
        use(f);
    }

    void names_may_be_empty_long_or_full_of_markup() {
        const std::string markup = "<b>bold</b><img src=x> &amp; %1 \n\x1b[31m \xe2\x80\xae";
        for (const std::string& name : {std::string(), std::string(5000, 'W'), markup}) {
            Figure f = sample_bars(2);
            f.title = f.x.label = f.y.unit = name;
            f.notes = {name, name};
            f.series[0].name = name;
            f.x.categories[0] = name;
            use(f);
            Figure scatter = sample_scatter(2);
            scatter.series[0].labels.assign(scatter.series[0].labels.size(), name);
            use(scatter);
            Figure map = sample_heat_map();
            map.heat_map.rows[0] = map.heat_map.columns[0] = map.heat_map.label = name;
            use(map);
            Figure lines = sample_lines(3);
            lines.series[0].name = name;
            use(lines);
            QVERIFY(shown(lines)->plot()->axisRect()->width() > 200);  // a long name does not eat the plot
        }
    }

    void markup_is_shown_as_it_is_written() {
        Figure f = sample_lines(2);
        f.series[0].name = "<b>bold</b>";
        f.x.label = "<i>x</i>";
        auto view = shown(f);
        const Hover hover = hoverAt(*view->plot(), centreOf(*view));
        QVERIFY(hover.text().contains("<b>bold</b>"));
        QVERIFY(hover.html().contains("&lt;b&gt;bold&lt;/b&gt;"));
        QVERIFY(!hover.html().contains("<i>"));
    }

    void many_series_find_a_place_for_their_names() {
        for (const int count : {9, 40, 300}) {
            auto view = shown(sample_lines(count, 20));
            QVERIFY(view->plot()->axisRect()->width() > 250);
            use(sample_lines(count, 20));
        }
    }

    void a_figure_that_does_not_validate_is_shown_as_its_error() {
        Figure f = lineOf({1, 2, 3}, {1, 2});
        f.name = "broken";
        auto view = shown(f);
        QVERIFY(!view->hasValues());
        QVERIFY2(view->plot()->emptyText().contains("expected as many"), qPrintable(view->plot()->emptyText()));
        use(f);
        Figure log = lineOf({1, 2}, {0, -1});
        log.y.log = true;
        use(log);
    }

    void a_range_of_constant_values_is_not_empty() {
        for (const double value : {0.0, 5.0, -3.0, 1e12}) {
            auto view = shown(lineOf({0, 1, 2}, {value, value, value}));
            QVERIFY(view->yRange().size() > 0 && view->yRange().contains(value));
        }
    }
};

FACETER_TEST(TestFigureHostile)

}  // namespace faceter::desktop

#include "test_figure_hostile.moc"
