#include "pages/runs/runs_query.h"

#include "desktop/support/alternating_tasks.h"
#include "desktop/support/sample_project.h"
#include "pages/runs/curve_figure.h"
#include "pages/runs/runs_layout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

RunsSnapshotPtr snapshot_of(Store& store) { return withChanges({}, store.changes_since(0)); }

}  // namespace

class TestRunsQuery : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;
    std::unique_ptr<Store> store_;

  private Q_SLOTS:
    void init() {
        std::filesystem::remove_all(project_.path());
        make_sample_project(project_.path());
        store_ = std::make_unique<Store>(project_.path());
        store_->ingest_all();
    }
    void cleanup() { store_.reset(); }

    void rows_show_scores_settings_that_differ_and_the_host() {
        const RunsAnswer answer = readRuns(*store_, snapshot_of(*store_), {}, {});
        QCOMPARE(answer.data->numRuns(), 5);
        for (int row = 0; row < 5; ++row) {
            const RunRow& run = answer.data->run(row);
            const double score = answer.data->number(row, {RunColumn::Kind::set, "set0"});
            QVERIFY(score >= 40);
            QCOMPARE(answer.data->number(row, {RunColumn::Kind::task_type, "retrieval"}), score);
            QVERIFY(!answer.data->place(row).isEmpty());
            if (run.info.variant == "Mix") QCOMPARE(answer.data->setting(row, "variant.placement"), std::string("every_other"));
        }
        QVERIFY(std::find(answer.names->task_types.begin(), answer.names->task_types.end(), "retrieval") != answer.names->task_types.end());
    }

    void what_cannot_have_changed_is_not_read_again() {
        const RunsAnswer before = readRuns(*store_, snapshot_of(*store_), {}, {});
        sample_run(project_.path(), 1).append_user_event({{"note", "a word"}});
        store_->ingest_all();
        const RunsAnswer more = readRuns(*store_, snapshot_of(*store_), before, {});
        QVERIFY(more.data->settings() != before.data->settings());  // a sixth run
        const RunDirectory pinned = Project(project_.path(), false).find_run(more.data->run(0).info.id);
        pinned.append_user_event({{"pinned", true}});
        store_->ingest_all();
        const RunsAnswer after = readRuns(*store_, snapshot_of(*store_), more, {});
        QVERIFY(after.data->run(0).pinned);
        QCOMPARE(after.data->settings(), more.data->settings());
        QCOMPARE(after.data->places(), more.data->places());
    }

    void a_filter_flags_the_rows_of_the_same_data() {
        const RunsSnapshotPtr snapshot = snapshot_of(*store_);
        const RunsAnswer all = readRuns(*store_, snapshot, {}, {});
        QVERIFY(all.kept.empty());
        const RunsAnswer some = readRuns(*store_, snapshot, all, Filter::parse("variant = mix", *all.names));
        QCOMPARE(some.data, all.data);
        QCOMPARE(some.kept.size(), 5u);
        for (int row = 0; row < 5; ++row) QCOMPARE(some.kept[static_cast<std::size_t>(row)], some.data->run(row).info.variant == "Mix");
    }

    void values_of_series_are_columns_and_only_changed_runs_are_read_again() {
        const RunsSnapshotPtr snapshot = snapshot_of(*store_);
        const ColumnKeys keys{{"loss:last", "loss:min", "lr:max", "loss:10", "loss:101"}, {}};
        const RunsAnswer answer = readRuns(*store_, snapshot, {}, {}, keys);
        const auto number = [](const RunsAnswer& of, const char* key) { return of.data->number(0, {RunColumn::Kind::series, key}); };
        QCOMPARE(number(answer, "loss:last"), 3.0 / 100);  // the sample's losses fall as 3 / step
        QCOMPARE(number(answer, "loss:min"), 3.0 / 100);
        QCOMPARE(number(answer, "loss:10"), 3.0 / 10);
        QCOMPARE(number(answer, "lr:max"), 1e-5 * 100);
        QVERIFY(std::isnan(number(answer, "loss:101")));
        QCOMPARE(answer.data->text(0, {RunColumn::Kind::series, "loss:101"}), QStringLiteral("—"));
        const std::vector<RunColumn> all = answer.data->allColumns();
        QVERIFY(std::find(all.begin(), all.end(), RunColumn{RunColumn::Kind::series, "loss:min"}) != all.end());
        QCOMPARE(readRuns(*store_, snapshot, answer, {}, keys).data, answer.data);
        write_attempt(Project(project_.path(), false).find_run(answer.data->run(0).info.id), 101, 120, "finished", 3.0);
        store_->ingest_all();
        const RunsAnswer later = readRuns(*store_, snapshot_of(*store_), answer, {}, keys);
        QCOMPARE(number(later, "loss:last"), 3.0 / 120);
        QCOMPARE(number(later, "loss:101"), 3.0 / 101);
        QCOMPARE(later.data->number(1, {RunColumn::Kind::series, "loss:last"}),
                 answer.data->number(1, {RunColumn::Kind::series, "loss:last"}));
    }

    void a_setting_that_is_chosen_is_that_of_each_run_also_where_its_experiment_has_but_one() {
        const std::string swept = "sweep: {training.learning_rate: [1.5e-4, 2.5e-4]}\n", same = "training: {learning_rate: 2.5e-4}\n";
        for (const auto& [name, rate] : std::map<std::string, std::string>{{"swept", swept}, {"same", same}}) {
            const Experiment experiment = parse_sample("name: " + name + std::string(sample_experiment()).substr(11) + rate);
            for (const ResolvedRun& run : experiment.runs()) RunDirectory::create(project_.path(), experiment, run, false);
        }
        store_->ingest_all();
        const RunColumn rate{RunColumn::Kind::setting, "training.learning_rate"};
        const RunsSnapshotPtr snapshot = snapshot_of(*store_);
        const Filter filter = Filter::parse("learning_rate = 2.5e-4", filter_names(*store_));
        const RunsAnswer answer = readRuns(*store_, snapshot, {}, filter, {{}, {rate.key}});
        int numKept = 0;
        for (int row = 0; row < answer.data->numRuns(); ++row) {
            QCOMPARE(answer.data->number(row, rate) == 2.5e-4, answer.kept[static_cast<std::size_t>(row)]);
            numKept += answer.kept[static_cast<std::size_t>(row)] && answer.data->run(row).info.experiment == "same";
        }
        QVERIFY(numKept >= 4);
        LayoutOptions options;
        options.group = {GroupBy::Kind::setting, rate.key};
        options.columns = {rate};
        const RunsLayout layout = layOut(*answer.data, options);
        QVERIFY(layout.groups.size() >= 3);  // those of the sample have another one
        for (const RunsGroup& group : layout.groups)
            for (const int row : group.rows) QCOMPARE(answer.data->text(row, rate), group.label);
        QCOMPARE(readRuns(*store_, snapshot, answer, {}, {{}, {rate.key}}).data, answer.data);
    }

    void changes_give_the_snapshot_that_reading_all_gives() {
        RunsSnapshotPtr snapshot = snapshot_of(*store_);
        const Project project(project_.path(), false);
        project.trash(snapshot->runs[2].info.id);
        project.find_run(snapshot->runs[1].info.id).append_user_event({{"tag", "x"}});
        sample_run(project_.path(), 3);
        store_->ingest_all();
        std::int64_t revision = 0;
        for (const RunRow& run : snapshot->runs) revision = std::max(revision, run.revision);
        const RunsSnapshotPtr changed = withChanges(*snapshot, store_->changes_since(revision)), whole = snapshot_of(*store_);
        QCOMPARE(changed->runs.size(), whole->runs.size());
        for (std::size_t i = 0; i < whole->runs.size(); ++i) {
            QCOMPARE(changed->runs[i].info.id, whole->runs[i].info.id);
            QCOMPARE(changed->runs[i].revision, whole->runs[i].revision);
            QCOMPARE(changed->runs[i].tags, whole->runs[i].tags);
            QCOMPARE(changed->find(whole->runs[i].info.id), static_cast<int>(i));
        }
    }

    void curves_of_groups_are_read_from_the_store() {
        const RunsSnapshotPtr snapshot = snapshot_of(*store_);
        CurveGroup em{"EM", 2, {}};
        for (const RunRow& run : snapshot->runs)
            if (run.info.variant == "EM") em.runs.push_back(run.info.id);
        const CurveAnswer answer = readCurves(*store_, {em, {"nothing", 0, {"no-such-run"}}}, "no such series");
        QCOMPARE(answer.series, std::string("loss"));
        QCOMPARE(answer.figure.series.size(), 1u);
        const Series& series = answer.figure.series.front();
        QCOMPARE(series.name, std::string("EM (n = 2)"));
        QCOMPARE(*series.colour, 2);
        QCOMPARE(series.x.size(), 100u);
        QCOMPARE(series.x.front(), 1.0);
        QCOMPARE(series.x.back(), 100.0);
        answer.figure.validate();
        QCOMPARE(readCurves(*store_, {em}, "lr").series, std::string("lr"));
    }

    void tasks_that_alternate_have_a_line_each() {
        const TemporaryDirectory project;
        const RunDirectory run = run_of_alternating_tasks(project.path());
        Store store(project.path());
        store.ingest_all();
        const CurveGroup group{"EM", 0, {run.info().id}};
        const CurveAnswer answer = readCurves(store, {group}, {});
        QCOMPARE(answer.series, std::string(loss_by_task));
        QCOMPARE(answer.drawn, (std::vector<std::string>{"loss/clustering", "loss/retrieval"}));
        QCOMPARE(answer.figure.series.size(), 2u);
        for (const double value : answer.figure.series.front().y) QCOMPARE(value, 5.0);
        QCOMPARE(answer.names.front(), std::string(loss_by_task));
        QCOMPARE(readCurves(store, {group}, "loss").drawn, std::vector<std::string>{"loss"});
    }
};
FACETER_TEST(TestRunsQuery)
#include "test_runs_query.moc"
