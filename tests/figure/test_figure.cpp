#include "figure/figure.h"

#include "support/test.h"

using namespace faceter;

namespace {

Figure densities() {
    Figure figure;
    figure.kind = FigureKind::densities;
    figure.name = "similarity";
    figure.title = "Inter-task similarity";
    figure.x = {.label = "cosine similarity", .min = -1, .max = 1};
    figure.y.label = "density";
    Series series;
    series.name = "MoTE";
    series.x = {0.1, 0.2, 0.3};
    series.y = {1, 2, std::numeric_limits<double>::infinity()};
    series.mean = 0.21;
    series.colour = 3;
    figure.series = {series};
    figure.notes = {"128 texts."};
    return figure;
}

Figure heat_map() {
    Figure figure;
    figure.kind = FigureKind::heat_map;
    figure.name = "map";
    figure.heat_map = {.rows = {"a", "b"}, .columns = {"x"}, .values = {0.5, std::nan("")}, .label = "mean", .centre = 0};
    return figure;
}

}  // namespace

class TestFigure : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_figure_survives_json() {
        for (const Figure& figure : {densities(), heat_map()}) {
            const Json json = figure.to_json();
            const Figure back = Figure::from_json(parse_json(json.dump(), "f.json"), "f.json");
            QCOMPARE(back.to_json().dump(), json.dump());
        }
        QVERIFY(std::isnan(Figure::from_json(heat_map().to_json(), "f").heat_map.values[1]));
    }
    void every_kind_has_a_name_that_reads_back() {
        for (const auto kind : {FigureKind::lines, FigureKind::bars, FigureKind::densities, FigureKind::scatter, FigureKind::box}) {
            Figure figure;
            figure.kind = kind;
            QVERIFY(Figure::from_json(figure.to_json(), "f").kind == kind);
        }
    }
    void sizes_that_do_not_fit_are_named() {
        Figure figure = densities();
        figure.series[0].y.pop_back();
        EXPECT_ERROR(figure.validate(), "similarity", "MoTE", "3 x and 2 y");
        figure = densities();
        figure.series[0].low = {1, 2, 3};
        EXPECT_ERROR(figure.validate(), "3 low and 0 high");
        figure = densities();
        figure.series[0].labels = {"one"};
        EXPECT_ERROR(figure.validate(), "1 labels");
        figure = heat_map();
        figure.heat_map.values.clear();
        EXPECT_ERROR(figure.validate(), "0 values", "2 rows x 1 columns");
        figure = densities();
        figure.kind = FigureKind::bars;
        EXPECT_ERROR(figure.validate(), "3 bars", "expected 0");
    }
    void axes_must_make_sense() {
        Figure figure = densities();
        figure.x.min = 2;
        EXPECT_ERROR(figure.validate(), "2 to 1", "ascending");
        figure = densities();
        figure.x = {.log = true};
        figure.series[0].x[0] = 0;
        EXPECT_ERROR(figure.validate(), "logarithmic x axis", "value 0");
        figure = densities();
        figure.title = "\xC3";
        EXPECT_ERROR(figure.validate(), "UTF-8");
    }
    void a_broken_document_is_one_clear_error() {
        Json json = densities().to_json();
        EXPECT_ERROR(Figure::from_json(3, "f.json"), "f.json", "kind");
        Json kind = json;
        kind["kind"] = "line";
        EXPECT_ERROR(Figure::from_json(kind, "f.json"), "did you mean 'lines'");
        Json series = json;
        series["series"][0]["y"] = "many";
        EXPECT_ERROR(Figure::from_json(series, "f.json"), "f.json", "y", "array");
        Json axis = json;
        axis["x"] = 5;
        EXPECT_ERROR(Figure::from_json(axis, "f.json"), "f.json", "x", "object");
        Json no_map = heat_map().to_json();
        no_map.erase("heat_map");
        EXPECT_ERROR(Figure::from_json(no_map, "f.json"), "heat_map");
    }
};

FACETER_TEST(TestFigure)
#include "test_figure.moc"
