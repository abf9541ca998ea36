#include "desktop/runs/made_up_runs.h"

#include <cmath>
#include <limits>

#include "pages/runs/group_text.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

class TestRunsLayout : public QObject {
    Q_OBJECT
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const RunsDataPtr data_ = made_up_runs(200);

  private Q_SLOTS:
    void every_run_has_a_line_and_an_experiment_only_its_own() {
        LayoutOptions options = plain_options(*data_);
        QCOMPARE(layOut(*data_, options).lines.size(), 200u);
        options.experiment = "sweep001";
        const RunsLayout layout = layOut(*data_, options);
        QCOMPARE(layout.lines.size(), 100u);
        for (const RunsLine& line : layout.lines) QCOMPARE(data_->run(line.row).info.experiment, std::string("sweep001"));
    }

    void seeds_form_a_group_with_mean_deviation_and_n() {
        LayoutOptions options = plain_options(*data_);
        options.group = {GroupBy::Kind::seeds, {}};
        const RunsLayout layout = layOut(*data_, options);
        QCOMPARE(layout.groups.size(), 40u);
        QCOMPARE(layout.lines.size(), 40u);
        const RunsGroup& group = layout.groups.front();
        QCOMPARE(group.rows.size(), 5u);
        const auto column = static_cast<std::size_t>(
            std::find(options.columns.begin(), options.columns.end(), RunColumn{RunColumn::Kind::score, {}}) - options.columns.begin());
        QVERIFY(column < options.columns.size());
        double sum = 0, squares = 0;
        for (const int row : group.rows) sum += data_->run(row).mean_score;
        for (const int row : group.rows) squares += std::pow(data_->run(row).mean_score - sum / 5, 2);
        QCOMPARE(group.cells[column].n, 5);
        QVERIFY(std::abs(group.cells[column].mean - sum / 5) < 1e-9);
        QVERIFY(std::abs(group.cells[column].spread - std::sqrt(squares / 4)) < 1e-9);
    }

    void a_seed_that_was_run_twice_counts_once_in_its_group() {
        for (const bool failed : {false, true}) {  // the first of the two: comparisons take the one that is done
            const RunsDataPtr data = changed_runs(*data_, [failed](RunRow& run) {
                if (run.info.id.ends_with("000001")) run.info.seed = 1;
                if (failed && run.info.id.ends_with("000000")) run.state.phase = RunPhase::failed;
                return true;
            });
            LayoutOptions options = plain_options(*data);
            options.columns = {{RunColumn::Kind::name, {}}, {RunColumn::Kind::score, {}}};
            options.group = {GroupBy::Kind::seeds, {}};
            const RunsLayout layout = layOut(*data, options);
            const auto found = std::find_if(layout.groups.begin(), layout.groups.end(), [](const RunsGroup& group) {
                return std::find(group.rows.begin(), group.rows.end(), 0) != group.rows.end();
            });
            QVERIFY(found != layout.groups.end());
            QCOMPARE(found->rows.size(), 5u);
            QCOMPARE(found->cells[1].n, 4);
            double sum = 0;
            for (const int row : {failed ? 1 : 0, 2, 3, 4}) sum += data->run(row).mean_score;
            QVERIFY(std::abs(found->cells[1].mean - sum / 4) < 1e-9);
            QCOMPARE(groupExtra(*data, *found, options.columns[0], found->cells[0]), QStringLiteral("n = 4"));
            QCOMPARE(groupExtra(*data, *found, options.columns[1], found->cells[1]), QString());
        }
    }

    void one_run_alone_is_no_group() {
        const RunsDataPtr one = changed_runs(*data_, [](const RunRow& run) { return run.info.seed == 1 || run.info.variant == "EM"; });
        LayoutOptions options = plain_options(*one);
        options.group = {GroupBy::Kind::seeds, {}};
        const RunsLayout layout = layOut(*one, options);
        QCOMPARE(layout.groups.size(), 10u);
        QCOMPARE(layout.lines.size(), 40u);
    }

    void an_open_group_shows_its_runs_below_it() {
        LayoutOptions options = plain_options(*data_);
        options.group = {GroupBy::Kind::setting, "variant.placement"};
        RunsLayout layout = layOut(*data_, options);
        QCOMPARE(layout.lines.size(), 2u);
        const std::set<std::uint64_t> open{layout.lines[0].identity};
        options.open = &open;
        layout = layOut(*data_, options);
        QCOMPARE(layout.lines.size(), 102u);
        QVERIFY(layout.lines[0].isGroup());
        for (std::size_t i = 1; i <= 100; ++i) QVERIFY(layout.lines[i].isMember());
    }

    void runs_are_sorted_with_missing_values_last_and_pinned_ones_first() {
        const RunsDataPtr data = changed_runs(*data_, [](RunRow& run) {
            if (run.info.seed == 2) run.num_scores = 0;
            run.pinned = run.info.id.ends_with("000033");
            return true;
        });
        LayoutOptions options = plain_options(*data);
        for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
            options.sort = {{RunColumn::Kind::score, {}}, order};
            const RunsLayout layout = layOut(*data, options);
            QVERIFY(data->run(layout.lines[0].row).pinned);
            for (std::size_t i = 2; i < 160; ++i) {
                const double before = data->run(layout.lines[i - 1].row).mean_score, now = data->run(layout.lines[i].row).mean_score;
                QVERIFY(order == Qt::AscendingOrder ? before <= now : before >= now);
            }
            for (std::size_t i = 160; i < 200; ++i) QCOMPARE(data->run(layout.lines[i].row).num_scores, 0);
        }
    }

    void a_group_says_that_one_of_its_runs_is_at_work() {
        const auto stateOf = [&](std::vector<RunPhase> phases) {
            int at = 0;
            const RunsDataPtr data = changed_runs(*data_, [&](RunRow& run) {
                if (at == static_cast<int>(phases.size())) return false;
                run.info.seed = static_cast<std::uint64_t>(at + 1);
                run.state.phase = phases[static_cast<std::size_t>(at++)];
                return true;
            });
            LayoutOptions options = plain_options(*data);
            options.group = {GroupBy::Kind::seeds, {}};
            const RunsGroup group = layOut(*data, options).groups.at(0);
            const RunColumn state{RunColumn::Kind::state, {}};
            return (groupText(*data, group, state, {}) + QLatin1Char('|') + groupExtra(*data, group, state, {})).toStdString();
        };
        QCOMPARE(stateOf({RunPhase::stopped, RunPhase::running}), std::string("1 running, 1 stopped|"));
        QCOMPARE(stateOf({RunPhase::failed, RunPhase::running, RunPhase::running, RunPhase::done}),
                 std::string("2 running, 1 failed|of 4"));
        QCOMPARE(stateOf({RunPhase::running, RunPhase::done}), std::string("running|1 of 2"));
        QCOMPARE(stateOf({RunPhase::stopped, RunPhase::done}), std::string("stopped|1 of 2"));
        QCOMPARE(stateOf({RunPhase::done, RunPhase::done}), std::string("done|"));
    }

    void groups_are_sorted_by_the_state_that_they_show() {
        int at = 0;
        const RunsDataPtr data = changed_runs(*data_, [&](RunRow& run) {
            const int seed = at % 5, group = at++ / 5;  // one of the second has failed, all of the first are stopped
            run.state.phase = group == 0 ? RunPhase::stopped : seed == 3 ? RunPhase::failed : RunPhase::done;
            return group < 2;
        });
        LayoutOptions options = plain_options(*data);
        options.group = {GroupBy::Kind::seeds, {}};
        for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
            options.sort = {{RunColumn::Kind::state, {}}, order};
            const RunsLayout layout = layOut(*data, options);
            QCOMPARE(layout.lines.size(), 2u);
            QStringList states;
            for (const RunsLine& line : layout.lines)
                states << groupText(*data, layout.groups[static_cast<std::size_t>(line.group)], options.sort.column, {});
            const bool up = order == Qt::AscendingOrder;
            QCOMPARE(states.value(up ? 0 : 1), QStringLiteral("failed"));
            QCOMPARE(states.value(up ? 1 : 0), QStringLiteral("stopped"));
        }
    }

    void groups_of_all_experiments_are_called_by_their_experiment_too() {
        LayoutOptions options = plain_options(*data_);
        options.group = {GroupBy::Kind::seeds, {}};
        QVERIFY(layOut(*data_, options).groups.front().label.startsWith(QStringLiteral("sweep00")));
        options.experiment = "sweep001";
        QVERIFY(!layOut(*data_, options).groups.front().label.startsWith(QStringLiteral("sweep00")));
    }

    void archived_runs_are_hidden_until_asked_for() {
        const RunsDataPtr data = changed_runs(*data_, [](RunRow& run) {
            run.archived = run.info.variant == "IC";
            return true;
        });
        LayoutOptions options = plain_options(*data);
        QCOMPARE(layOut(*data, options).lines.size(), 150u);
        QCOMPARE(layOut(*data, options).numArchived, 50);
        options.archived = true;
        QCOMPARE(layOut(*data, options).lines.size(), 200u);
    }

    void the_best_of_a_column_is_of_what_is_compared() {
        LayoutOptions options = plain_options(*data_);
        options.group = {GroupBy::Kind::variant, {}};
        const RunsLayout layout = layOut(*data_, options);
        QCOMPARE(layout.groups.size(), 4u);
        for (std::size_t column = 0; column < options.columns.size(); ++column) {
            if (!options.columns[column].isScore()) {
                QVERIFY(layout.best[column].empty());
                continue;
            }
            double best = 0;
            for (const RunsGroup& group : layout.groups) best = std::max(best, group.cells[column].mean);
            QVERIFY(!layout.best[column].empty());
            for (const RunsGroup& group : layout.groups)
                QCOMPARE(layout.best[column].contains(group.identity), group.cells[column].mean == best);
        }
    }

    void runs_that_were_measured_on_other_data_are_not_the_best() {
        auto scores = std::make_shared<RunScores>(*data_->scores());
        const auto lose = [&](std::size_t run, std::size_t from) {
            for (std::size_t set = from; set < scores->sets.size(); ++set) scores->values[run * scores->sets.size() + set] = none;
        };
        lose(0, 1);  // ended after its first data set, which went well
        auto snapshot = std::make_shared<RunsSnapshot>(*data_->snapshot());
        snapshot->runs[0].mean_score = 99;
        snapshot->runs[0].num_scores = 1;
        for (std::size_t run = 100; run < 200; ++run) snapshot->runs[run].mean_score += 20;  // another experiment, of easier data
        const RunsData data(snapshot, scores, data_->settings(), data_->places());
        LayoutOptions options = plain_options(data);
        options.columns = {{RunColumn::Kind::score, {}}};
        const RunsLayout layout = layOut(data, options);
        std::map<std::string, double> best;
        for (std::size_t run = 1; run < 200; ++run) {
            double& most = best[snapshot->runs[run].info.experiment];
            most = std::max(most, snapshot->runs[run].mean_score);
        }
        QCOMPARE(best.size(), 2u);
        for (int run = 0; run < 200; ++run)
            QCOMPARE(layout.best.front().contains(data.identity(run)),
                     run > 0 && data.run(run).mean_score == best.at(data.run(run).info.experiment));
    }

    void of_many_task_types_the_mean_and_two_are_shown_at_first() {
        QStringList scores;
        for (const RunColumn& column : data_->defaultColumns())
            if (column.isScore()) scores << column.id();
        QCOMPARE(scores, (QStringList{QStringLiteral("score"), QStringLiteral("type:retrieval"), QStringLiteral("type:classification")}));
    }

    void columns_and_groups_are_found_by_what_is_stored_of_them() {
        for (const RunColumn& column : data_->allColumns()) QCOMPARE(*RunColumn::fromId(column.id()), column);
        QVERIFY(!RunColumn::fromId(QStringLiteral("nonsense")));
        for (const GroupBy& group : {GroupBy{GroupBy::Kind::seeds, {}}, GroupBy{GroupBy::Kind::setting, "a.b"}, GroupBy{}})
            QCOMPARE(GroupBy::fromId(group.id()), group);
    }
};
FACETER_TEST(TestRunsLayout)
#include "test_runs_layout.moc"
