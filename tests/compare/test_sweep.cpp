#include "compare/sweep.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/test.h"

using namespace faceter;

namespace {

SweepRun run(const std::string& point, std::map<std::string, std::string> settings, double score) {
    return {point, std::move(settings), score};
}

const SweepSetting& setting(const Sweep& sweep, const std::string& key) {
    for (const SweepSetting& one : sweep.settings)
        if (one.key == key) return one;
    throw std::runtime_error(key);
}

/// Two rates with three configurations each; the placement says nothing.
std::vector<SweepRun> six_points() {
    const double scores[] = {50, 52, 51, 60, 61, 62};
    const char* const placements[] = {"every", "other", "last"};
    std::vector<SweepRun> runs;
    for (int i = 0; i < 6; ++i)
        runs.push_back(run(fmt::format("p{}", i), {{"rate", i < 3 ? "1e-5" : "1e-3"}, {"placement", placements[i % 3]}}, scores[i]));
    return runs;
}

}  // namespace

class TestSweep : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// By hand for these six scores by rate: SSb = 150, SSw = 4, so omega squared is (150 - 1) / (154 + 1).
    void importance_is_omega_squared_of_each_setting() {
        const Sweep sweep = make_sweep(six_points());
        QCOMPARE(sweep.settings.front().key, std::string("rate"));
        QVERIFY(std::abs(setting(sweep, "rate").importance - 149.0 / 155.0) < 1e-12);
        QVERIFY(setting(sweep, "rate").is_number);
        QCOMPARE(setting(sweep, "placement").importance, 0.0);
        QVERIFY(!setting(sweep, "placement").is_number);
    }

    /// The same means: two seeds a configuration that differ much leave less explained than two that agree.
    void noise_between_seeds_lowers_importance() {
        const auto of = [](double noise) {
            std::vector<SweepRun> runs;
            for (const SweepRun& one : six_points())
                for (const double by : {-noise, noise}) runs.push_back(run(one.point, one.settings, one.score + by));
            return setting(make_sweep(runs), "rate").importance;
        };
        QVERIFY(of(0) > 0.95);
        QVERIFY(of(8) < 0.4);
    }

    void numbers_of_many_values_are_put_into_five_classes() {
        std::vector<SweepRun> runs;
        for (int i = 0; i < 50; ++i) runs.push_back(run(fmt::format("p{}", i), {{"rate", fmt::format("{}", i)}}, i));
        const double importance = make_sweep(runs).settings.front().importance;
        QVERIFY(importance > 0.9 && importance < 1);  // one class a value would explain everything, whatever the scores
    }

    void too_few_configurations_explain_nothing() {
        const Sweep sweep = make_sweep({run("a", {{"rate", "1"}}, 1), run("b", {{"rate", "2"}}, 2), run("c", {{"rate", "2"}}, 2)});
        QVERIFY(std::isnan(sweep.settings.front().importance));
        QVERIFY(sweep_importance_figure(sweep, "score").series.front().y.empty());
    }

    void two_configurations_explain_nothing_however_many_seeds_they_have() {
        std::vector<SweepRun> runs;
        for (int seed = 0; seed < 4; ++seed)
            for (const char* rate : {"1", "2"}) runs.push_back(run(rate, {{"rate", rate}, {"other", rate}}, seed));
        QVERIFY(std::isnan(make_sweep(runs).settings.front().importance));
    }

    void the_axis_goes_by_the_means_where_intervals_of_two_seeds_are_wide() {
        const Sweep sweep = make_sweep(
            {run("a", {{"rate", "1"}}, 50), run("a", {{"rate", "1"}}, 54), run("b", {{"rate", "2"}}, 60), run("b", {{"rate", "2"}}, 60.2)});
        const Figure figure = sweep_setting_figure(sweep, "rate", "score");
        figure.validate();
        const double means = sweep.points[0].score.mean - sweep.points[1].score.mean;
        QVERIFY(figure.y.min && figure.y.max && *figure.y.max - *figure.y.min <= 2 * means + 1e-9);
        QVERIFY(figure.series.front().low[1] < *figure.y.min);  // the interval itself stays whole, for exports
        QVERIFY(figure.notes.back().find("beyond the axis") != std::string::npos);
        const Sweep narrow = make_sweep({run("a", {{"rate", "1"}}, 50), run("a", {{"rate", "1"}}, 50.1), run("b", {{"rate", "2"}}, 60)});
        QVERIFY(!sweep_setting_figure(narrow, "rate", "score").y.min);
    }

    void every_bar_has_room_for_its_name_and_the_rest_is_counted() {
        std::vector<SweepRun> runs;
        for (int i = 0; i < 40; ++i) {
            std::map<std::string, std::string> settings;
            for (int key = 0; key < 15; ++key) settings[fmt::format("key{}", key)] = fmt::format("{}", i % (2 + key % 3));
            runs.push_back(run(fmt::format("p{}", i), settings, i));
        }
        const Figure figure = sweep_importance_figure(make_sweep(runs), "score");
        figure.validate();
        QCOMPARE(figure.x.categories.size(), std::size_t{12});
        QCOMPARE(figure.notes.back(), std::string("3 more settings explain less."));
    }

    void seeds_make_one_point_with_an_interval_and_the_best_stands_first() {
        const double missing = std::numeric_limits<double>::quiet_NaN();
        const Sweep sweep = make_sweep({run("a", {{"rate", "1"}}, 50), run("a", {{"rate", "1"}}, 54), run("b", {{"rate", "2"}}, 60),
                                        run("b", {{"rate", "2"}}, missing), run("c", {{"rate", "3"}}, missing)});
        QCOMPARE(sweep.points.size(), std::size_t{2});
        QCOMPARE(sweep.points[0].name, std::string("b"));
        QCOMPARE(sweep.points[1].score.n, std::size_t{2});
        const Table table = sweep_table(sweep, "mean score");
        table.validate();
        QCOMPARE(table.rows[1].cells[1].value, 52.0);
        QVERIFY(table.rows[1].cells[2].value < 50);  // t with one degree of freedom
        QVERIFY(table.rows[0].cells[2].kind == Cell::Kind::empty);
        const Figure figure = sweep_setting_figure(sweep, "rate", "mean score");
        figure.validate();
        QCOMPARE(figure.series.front().low.size(), std::size_t{2});
        QCOMPARE(figure.series.front().low[0], 60.0);
    }

    void values_stand_by_what_they_are_and_what_is_not_set_last() {
        const Sweep sweep = make_sweep({run("a", {{"rate", "0.01"}}, 1), run("b", {{"rate", "1e-04"}}, 2), run("c", {}, 3),
                                        run("d", {{"rate", "auto"}}, 3), run("e", {{"rate", "100"}}, 3), run("f", {{"rate", "20"}}, 3)});
        const Figure figure = sweep_setting_figure(sweep, "rate", "score");
        QCOMPARE(figure.x.categories, (std::vector<std::string>{"1e-04", "0.01", "20", "100", "auto", "not set"}));
    }

    void a_setting_that_runs_lack_is_a_value_of_its_own() {
        const Sweep sweep = make_sweep({run("a", {{"placement", "every"}}, 1), run("b", {}, 2)});
        const Figure figure = sweep_setting_figure(sweep, "placement", "score");
        figure.validate();
        QCOMPARE(figure.x.categories.size(), std::size_t{2});
        QVERIFY(std::find(figure.x.categories.begin(), figure.x.categories.end(), std::string(unset_value)) != figure.x.categories.end());
    }

    void an_empty_setting_is_not_set() {
        const Sweep sweep = make_sweep({run("a", {{"method", "{}"}, {"method.rank", "8"}}, 1), run("b", {{"method", "null"}}, 2),
                                        run("c", {{"method", "[]"}, {"method.rank", ""}}, 3), run("d", {}, 4)});
        QCOMPARE(sweep.settings.size(), std::size_t{1});
        QCOMPARE(sweep.settings.front().key, std::string("method.rank"));
        const Figure figure = sweep_setting_figure(sweep, "method.rank", "score");
        QCOMPARE(std::set<std::string>(figure.x.categories.begin(), figure.x.categories.end()), (std::set<std::string>{"8", "not set"}));
    }

    void wide_numbers_stand_on_a_log_axis() {
        QVERIFY(sweep_setting_figure(make_sweep(six_points()), "rate", "score").x.log);
        QVERIFY(!sweep_setting_figure(make_sweep({run("a", {{"rate", "1"}}, 1), run("b", {{"rate", "2"}}, 2)}), "rate", "score").x.log);
    }
};

FACETER_TEST(TestSweep)
#include "test_sweep.moc"
