#include <cmath>
#include <limits>
#include <span>

#include "common/error.h"
#include "common/random.h"
#include "store/series_value.h"
#include "store/store.h"
#include "store/store_series.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A store with one run whose series are written straight into it.
struct Fixture {
    TemporaryDirectory project;
    std::string run;
    std::unique_ptr<Store> store;
    std::unique_ptr<Database> database;

    Fixture() {
        const RunDirectory made = sample_run(project.path());
        run = made.info().id;
        store = std::make_unique<Store>(project.path());
        store->ingest(made);
        database = std::make_unique<Database>(store->file());
    }
    void append(const std::string& name, int attempt, const std::vector<SeriesPoint>& points) {
        database->transaction([&] { SeriesWriter(*database).append(run, attempt, 0, name, points); });
    }
};

std::vector<SeriesPoint> points_of(std::int64_t first, std::int64_t last, double level, std::int64_t every = 1) {
    RandomStream random(static_cast<std::uint64_t>(first + last), "values");
    std::vector<SeriesPoint> points;
    for (std::int64_t step = first; step <= last; step += every)
        points.push_back({step, 1000.0 + static_cast<double>(step) * 0.5, level + static_cast<double>(random.below(1000)) / 1000});
    return points;
}

/// The law of series_sample: the buckets part the points of the range, in order, and each is exact for what it holds. `slack`: points that
/// may be on the other side of a border.
void check_sample(Store& store, const std::string& run, const std::string& name, double from, double to, int columns, double slack) {
    const std::vector<SeriesPoint> all = store.series(run, name);
    std::vector<SeriesPoint> points;
    for (const SeriesPoint& point : all)
        if (static_cast<double>(point.step) >= from && static_cast<double>(point.step) <= to) points.push_back(point);
    const std::vector<SeriesBucket> buckets = store.series_sample(run, name, SeriesX::step, from, to, columns);
    QCOMPARE(buckets.size(), static_cast<std::size_t>(columns));
    std::size_t next = 0;
    for (std::size_t column = 0; column < buckets.size(); ++column) {
        const SeriesBucket& bucket = buckets[column];
        if (bucket.count == 0) continue;
        QVERIFY(next + static_cast<std::size_t>(bucket.count) <= points.size());
        const std::size_t end = next + static_cast<std::size_t>(bucket.count);
        double lowest = points[next].value, highest = lowest, sum = 0;
        for (std::size_t i = next; i < end; ++i) {
            lowest = std::min(lowest, points[i].value);
            highest = std::max(highest, points[i].value);
            sum += points[i].value;
        }
        QCOMPARE(bucket.first_step, points[next].step);
        QCOMPARE(bucket.last_step, points[end - 1].step);
        QCOMPARE(bucket.first, points[next].value);
        QCOMPARE(bucket.last, points[end - 1].value);
        QCOMPARE(bucket.min, lowest);
        QCOMPARE(bucket.max, highest);
        QVERIFY(std::abs(bucket.mean - sum / static_cast<double>(bucket.count)) < 1e-9);
        const double width = (to - from) / columns, begin = from + static_cast<double>(column) * width;
        QVERIFY(static_cast<double>(bucket.first_step) >= begin - 1e-6);
        QVERIFY(static_cast<double>(bucket.last_step) <= begin + width + slack + 1e-6);
        next = end;
    }
    QCOMPARE(next, points.size());
}

}  // namespace

class TestSeries : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void buckets_part_the_points_whatever_the_zoom() {
        Fixture f;
        f.append("loss", 1, points_of(1, 100'000, 1));
        check_sample(*f.store, f.run, "loss", 1, 100'000, 1000, 12.5);
        check_sample(*f.store, f.run, "loss", 1, 100'000, 7, 100'000 / 7.0 / 8);
        check_sample(*f.store, f.run, "loss", 31'000.5, 64'123, 100, 331.225 / 8);
        check_sample(*f.store, f.run, "loss", 4'090, 4'100, 10, 0);
        check_sample(*f.store, f.run, "loss", 200'000, 300'000, 10, 0);
        check_sample(*f.store, f.run, "loss", -5, 3, 4, 0);
        check_sample(*f.store, f.run, "loss", 5, 5, 4, 0);
    }
    void later_attempts_hide_what_they_replayed() {
        Fixture f;
        f.append("loss", 1, points_of(1, 50'000, 1));
        f.append("loss", 2, points_of(40'001, 45'000, 10));
        f.append("loss", 3, points_of(43'001, 90'000, 20));
        const std::vector<SeriesPoint> all = f.store->series(f.run, "loss");
        QCOMPARE(all.size(), std::size_t{90'000});
        QVERIFY(all[40'000 - 1].value < 2 && all[40'000].value >= 10 && all[43'000 - 1].value < 11 && all[43'000].value >= 20);
        for (const int columns : {1, 13, 500, 3000}) check_sample(*f.store, f.run, "loss", 1, 90'000, columns, 90'000.0 / columns / 8);
        check_sample(*f.store, f.run, "loss", 39'990, 40'010, 20, 0);
        check_sample(*f.store, f.run, "loss", 42'000, 44'000, 100, 2.5);
    }
    void an_attempt_that_died_early_leaves_what_came_after_it() {
        Fixture f;
        f.append("loss", 1, points_of(1, 10'000, 1));
        f.append("loss", 2, points_of(5'001, 5'500, 10));
        QCOMPARE(f.store->series(f.run, "loss").size(), std::size_t{10'000});
        QVERIFY(f.store->series(f.run, "loss").at(5'500).value < 2);
        check_sample(*f.store, f.run, "loss", 1, 10'000, 40, 250 / 8.0);
    }
    void steps_that_do_not_ascend_are_shown_sorted_with_their_last_value() {
        Fixture f;
        std::vector<SeriesPoint> points = points_of(1, 9'000, 1);
        const std::vector<SeriesPoint> again = points_of(2'000, 3'000, 50);
        points.insert(points.end(), again.begin(), again.end());
        f.append("loss", 1, points);
        QCOMPARE(f.store->series(f.run, "loss").size(), std::size_t{9'000});
        QVERIFY(f.store->series(f.run, "loss").at(2'500).value >= 50);
        check_sample(*f.store, f.run, "loss", 1, 9'000, 30, 300 / 8.0);
    }
    void the_range_spans_what_is_visible() {
        Fixture f;
        f.append("loss", 1, points_of(1, 5'000, 100));
        f.append("loss", 2, points_of(1, 6'000, 1));
        const SeriesRange steps = f.store->series_range(f.run, "loss", SeriesX::step),
                          time = f.store->series_range(f.run, "loss", SeriesX::time);
        QCOMPARE(steps.from, 1.0);
        QCOMPARE(steps.to, 6000.0);
        QCOMPARE(steps.count, std::int64_t{6000});
        QVERIFY(steps.max < 3);
        QCOMPARE(time.from, 1000.5);
        QCOMPARE(time.to, 4000.0);
        QCOMPARE(f.store->series_range(f.run, "nothing", SeriesX::step).count, std::int64_t{0});
    }
    void examples_and_tokens_are_sums_over_the_visible_steps() {
        Fixture f;
        const auto constant = [](std::int64_t first, std::int64_t last, double value) {
            std::vector<SeriesPoint> points;
            for (std::int64_t step = first; step <= last; ++step) points.push_back({step, static_cast<double>(step), value});
            return points;
        };
        f.append("loss", 1, points_of(1, 20'000, 1));
        f.append("pairs", 1, constant(1, 20'000, 64));
        f.append("loss", 2, points_of(10'001, 30'000, 2));
        f.append("pairs", 2, constant(10'001, 30'000, 32));  // another batch size after the resume
        const SeriesRange range = f.store->series_range(f.run, "loss", SeriesX::examples);
        QCOMPARE(range.from, 64.0);
        QCOMPARE(range.to, 64.0 * 10'000 + 32.0 * 20'000);
        const std::vector<SeriesBucket> buckets = f.store->series_sample(f.run, "loss", SeriesX::examples, 0, range.to, 128);
        std::int64_t count = 0;
        for (const SeriesBucket& bucket : buckets) count += bucket.count;
        QCOMPARE(count, std::int64_t{30'000});
        QVERIFY(std::abs(static_cast<double>(buckets[10].count) - 10'000 / 64.0) <= 20);
        QVERIFY(std::abs(static_cast<double>(buckets[100].count) - 20'000 / 64.0) <= 40);
        QVERIFY(std::abs(static_cast<double>(buckets[64].first_step) - 10'000) <= 20);
        QCOMPARE(f.store->series_sample(f.run, "loss", SeriesX::tokens, 0, 1e9, 10).at(0).count,
                 std::int64_t{0});  // the run did not count them
    }
    void steps_at_both_ends_of_their_range_have_a_place_between() {
        constexpr std::int64_t far = 9'000'000'000'000'000'000;
        Fixture made;
        made.append("pairs", 1, {{-far, 1, 8}, {far, 3, 8}});
        made.append("loss", 1, {{-far, 1, 1}, {0, 2, 1}, {far, 3, 1}});
        const auto buckets = made.store->series_sample(made.run, "loss", SeriesX::examples, 0, 16, 4);
        QCOMPARE(buckets[2].count, std::int64_t{1});  // 8 pairs
        QCOMPARE(buckets[3].count, std::int64_t{2});  // 12, between 8 and 16; 16
        QCOMPARE(buckets[3].first_step, std::int64_t{0});
    }
    /// The file may have come with somebody's project. A hundred nodes of four thousand million points once asked for ten terabytes.
    void a_node_that_lies_about_its_points_costs_no_memory() {
        Fixture made;
        const std::vector<SeriesPoint> points = points_of(1, 50, 1);
        made.append("loss", 1, points);
        SeriesNode node = SeriesNode::of(points.front());
        node.last_step = 50;
        node.count = std::numeric_limits<std::uint32_t>::max();
        const std::vector<SeriesNode> nodes(100, node);
        Statement(*made.database, "UPDATE series_nodes SET nodes = ? WHERE level = 3")
            .bind(std::as_bytes(std::span<const SeriesNode>(nodes)))
            .run();
        QVERIFY(made.store->series(made.run, "loss") == points);
    }
    void a_step_that_no_curve_has_a_place_for_is_left_out() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            journal.event("step", {{"step", 1}, {"loss", 0.5}});
            journal.event("step", {{"step", std::numeric_limits<std::uint64_t>::max()}, {"loss", 0.25}});
            journal.event("evaluation", {{"step", std::numeric_limits<std::uint64_t>::max()}, {"scores", {{"sts", 0.5}}}});
        }
        Store store(project.path());
        store.ingest(run);
        QCOMPARE(store.series(run.info().id, "loss").size(), std::size_t{1});
        QVERIFY(store.series(run.info().id, "score/sts").empty());
    }
    void a_pyramid_does_not_depend_on_how_it_was_fed() {
        Fixture once, often;
        const std::vector<SeriesPoint> points = points_of(1, 40'000, 1);
        once.append("loss", 1, points);
        for (std::size_t begin = 0, size = 1; begin < points.size(); begin += size, size = size * 3 % 7001 + 1)
            often.append("loss", 1,
                         {points.begin() + static_cast<std::ptrdiff_t>(begin),
                          points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), begin + size))});
        const auto rows = [](Fixture& f) {
            std::string text, dump = f.store->dump();
            for (std::size_t at = 0; (at = dump.find(f.run, at)) != std::string::npos;) dump.replace(at, f.run.size(), "RUN");
            const std::size_t begin = dump.find("series|");
            return dump.substr(begin, dump.find("results|", begin) - begin);
        };
        QCOMPARE(rows(often), rows(once));
    }
    void stages_have_series_of_their_own() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            for (int step = 1; step <= 10; ++step) journal.step({{"step", step}, {"loss", 1.0}, {"pairs", 2}});
            for (int step = 1; step <= 5; ++step) journal.step({{"step", step}, {"loss", 2.0}, {"pairs", 3}, {"stage", 1}});
        }
        Store store(project.path());
        store.ingest(run);
        QCOMPARE(store.series_names(run.info().id), (std::vector<std::string>{"loss", "loss@1", "pairs", "pairs@1"}));
        QCOMPARE(store.series(run.info().id, "loss").size(), std::size_t{10});
        QCOMPARE(store.series_range(run.info().id, "loss@1", SeriesX::examples).to, 15.0);
    }
    void losses_of_prefixes_are_no_losses_of_stages() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            for (int step = 1; step <= 10; ++step) journal.step({{"step", step}, {"prefix_loss/1", 1.0}, {"pairs", 2}});
            for (int step = 1; step <= 5; ++step)
                journal.step({{"step", step}, {"loss", 2.0}, {"prefix_loss/1", 1.5}, {"pairs", 3}, {"stage", 1}});
        }
        Store store(project.path());
        store.ingest(run);
        QCOMPARE(store.series_names(run.info().id),
                 (std::vector<std::string>{"loss@1", "pairs", "pairs@1", "prefix_loss/1", "prefix_loss/1@1"}));
        QCOMPARE(store.series(run.info().id, "loss@1").size(), std::size_t{5});
        QCOMPARE(store.series_range(run.info().id, "prefix_loss/1", SeriesX::examples).to, 20.0);
        QCOMPARE(store.series_range(run.info().id, "prefix_loss/1@1", SeriesX::examples).to, 15.0);
        for (const char* name : {"prefix_loss/1", "prefix_loss/1@1"}) QCOMPARE(SeriesValue::direction(name), -1);
    }
    void losses_of_prefixes_of_an_older_run_lie_over_the_examples_of_their_stage() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        {
            JournalWriter journal(run, run.begin_attempt(), {});
            for (int step = 1; step <= 10; ++step) journal.step({{"step", step}, {"loss@16", 1.0}, {"pairs", 2}});
            for (int step = 1; step <= 5; ++step) journal.step({{"step", step}, {"loss@16", 2.0}, {"pairs", 3}, {"stage", 1}});
        }
        Store store(project.path());
        store.ingest(run);
        QCOMPARE(store.series_range(run.info().id, "loss@16", SeriesX::examples).to, 20.0);
        QCOMPARE(store.series_range(run.info().id, "loss@16@1", SeriesX::examples).to, 15.0);
        QCOMPARE(SeriesValue::direction("loss@16@1"), -1);
    }
    void a_senseless_view_is_an_error() {
        Fixture f;
        EXPECT_ERROR(f.store->series_sample(f.run, "loss", SeriesX::step, 0, 1, 0), "0 columns");
        EXPECT_ERROR(f.store->series_sample(f.run, "loss", SeriesX::step, 2, 1, 10), "from 2 to 1");
        EXPECT_ERROR(f.store->series_sample(f.run, "loss", SeriesX::step, std::nan(""), 1, 10), "from nan");
    }
};

FACETER_TEST(TestSeries)
#include "test_series.moc"
