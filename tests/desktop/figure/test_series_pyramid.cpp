#include <cmath>
#include <random>

#include "figure/marks.h"
#include "view_support.h"

namespace faceter::desktop {

using namespace faceter::testing;

namespace {

SeriesSample sampleOf(const SeriesPyramid& source, double low, double high, int columns, bool logX = false) {
    return source.sample(low, high, columns, logX);
}

}  // namespace

class TestSeriesPyramid : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void columns_have_the_extremes_first_and_last_of_their_points() {
        std::mt19937 random(3);
        std::normal_distribution<double> draw;
        std::vector<double> x, y;
        for (int i = 0; i < 12345; ++i) {
            x.push_back(i);
            y.push_back(draw(random));
        }
        const SeriesPyramid source(x, y);
        for (const auto& [low, high] : {std::pair{0.0, 12344.0}, std::pair{100.5, 9000.0}, std::pair{4000.0, 6000.0}}) {
            const SeriesSample sample = sampleOf(source, low, high, 97);
            std::size_t at = static_cast<std::size_t>(std::ceil(low)) - (low > 0 ? 1 : 0);
            for (const SeriesColumn& c : sample.columns) {
                QCOMPARE(c.xFirst, x[at]);
                double least = y[at], most = y[at];
                QCOMPARE(c.first, y[at]);
                for (; at < x.size() && x[at] <= c.xLast; ++at) {
                    least = std::min(least, y[at]);
                    most = std::max(most, y[at]);
                }
                QCOMPARE(c.min, least);
                QCOMPARE(c.max, most);
                QCOMPARE(c.last, y[at - 1]);
            }
            QVERIFY(sample.columns.size() <= 99);
            QVERIFY(sample.columns.back().xLast >= high);
        }
    }

    void few_points_come_one_by_one() {
        const SeriesPyramid source({0, 1, 2, 3}, {5, 6, 7, 8});
        const SeriesSample sample = sampleOf(source, 0.5, 2.5, 100);
        QCOMPARE(sample.columns.size(), std::size_t{4});  // those next to the ends too, so that the line leaves the view
        QCOMPARE(sample.columns[1].first, 6.0);
    }

    void what_is_not_finite_is_left_out_and_x_is_sorted() {
        const SeriesPyramid source({3, 1, NAN, 2, 4}, {30, 10, 5, 20, INFINITY});
        QCOMPARE(source.size(), std::size_t{3});
        const auto extent = source.range();
        QVERIFY(extent && extent->xMin == 1 && extent->xMax == 3 && extent->yMax == 30);
        QVERIFY(!SeriesPyramid({}, {}).range());
        QCOMPARE(sampleOf(SeriesPyramid({}, {}), 0, 1, 10).columns.size(), std::size_t{0});
    }

    void a_gap_stays_one() {
        Figure figure;
        Series& one = figure.series.emplace_back();
        for (int i = 0; i < 50000; ++i) {
            one.x.push_back(i);
            one.y.push_back(i < 20000 || i >= 30000 ? 1 : NAN);
        }
        std::vector<double> after;
        for (const SeriesColumn& column : sampleOf(SeriesPyramid(one.x, one.y), 0, 50000, 500).columns)
            if (column.followsGap) after.push_back(column.xFirst);
        QCOMPARE(after, std::vector<double>{30000});
        auto view = shown(figure);
        const QImage image = picture(*view);
        const auto colourAt = [&](double x) {
            return image.pixelColor(static_cast<int>(view->plot()->xAxis->coordToPixel(x)),
                                    static_cast<int>(view->plot()->yAxis->coordToPixel(1)));
        };
        QCOMPARE(colourAt(10000), colourAt(40000));
        QVERIFY(colourAt(25000) != colourAt(10000));
    }

    void columns_are_equal_in_log_x_where_asked() {
        std::vector<double> x, y;
        for (int i = 1; i <= 100000; ++i) {
            x.push_back(i);
            y.push_back(i);
        }
        const SeriesSample sample = sampleOf(SeriesPyramid(x, y), 1, 100000, 50, true);
        QVERIFY(sample.columns.size() > 30);
        QVERIFY(sample.columns[5].xLast < 10);  // linear columns would end at 12,000
    }

    void a_line_of_many_points_goes_through_a_pyramid_and_keeps_its_spikes() {
        Figure figure;
        Series one;
        for (int i = 0; i < 200000; ++i) {
            one.x.push_back(i);
            one.y.push_back(i == 123456 ? 10 : 0);
        }
        figure.series = {one};
        auto view = shown(figure);
        const auto points = view->grabData()[0].points;
        QVERIFY(points.size() > 100 && points.size() < 10000);
        QCOMPARE(view->plot()->homeY().contains(10), true);
        const auto* marks = dynamic_cast<const SampledMarks*>(view->plot()->marks()[0]);
        QVERIFY(marks);
        QVERIFY(
            std::any_of(marks->sample().columns.begin(), marks->sample().columns.end(), [](const SeriesColumn& c) { return c.max == 10; }));
        view->setXRange({123400, 123500});
        (void)picture(*view);
        QVERIFY(marks->sample().columns.size() < 1000);
        QVERIFY(std::any_of(marks->sample().columns.begin(), marks->sample().columns.end(),
                            [](const SeriesColumn& c) { return c.first == 10 && c.xFirst == c.xLast; }));
    }
};

FACETER_TEST(TestSeriesPyramid)

}  // namespace faceter::desktop

#include "test_series_pyramid.moc"
