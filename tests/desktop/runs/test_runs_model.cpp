#include "pages/runs/runs_model.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QImage>
#include <QItemSelectionModel>
#include <QScrollBar>
#include <QSignalSpy>
#include <random>

#include "desktop/runs/made_up_runs.h"
#include "pages/runs/runs_delegate.h"
#include "pages/runs/runs_view.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

void show(RunsModel& model, const RunsDataPtr& data, const LayoutOptions& options) {
    model.show(data, options.columns, layOut(*data, options));
}

QString runAt(const RunsModel& model, const QModelIndex& index) {
    return model.data(model.index(index.row(), 0), RunsModel::runRole).toString();
}

/// Persistent indexes of every line and the run or group that each stands for.
struct Follower {
    QList<QPersistentModelIndex> indexes;
    std::vector<std::uint64_t> identities;
    explicit Follower(const RunsModel& model) {
        for (int row = 0; row < model.rowCount(); ++row) {
            indexes << QPersistentModelIndex(model.index(row, row % model.columnCount()));
            identities.push_back(model.line(row).identity);
        }
    }
    /// Each still stands for the same, or is gone with it.
    bool holds(const RunsModel& model) const {
        for (qsizetype i = 0; i < indexes.size(); ++i) {
            const std::uint64_t identity = identities[static_cast<std::size_t>(i)];
            if (indexes[i].isValid() ? model.line(indexes[i].row()).identity != identity : model.find(identity) >= 0) return false;
        }
        return true;
    }
};

/// 200 made up runs in the default columns, a line for all seeds of a configuration, in a wide view.
struct SeedsView {
    RunsDataPtr data = made_up_runs(200);
    LayoutOptions options = plain_options(*data);
    RunsModel model;
    std::unique_ptr<RunsView> view;

    SeedsView() {
        options.columns = data->defaultColumns();
        options.group = {GroupBy::Kind::seeds, {}};
        show(model, data, options);
        view = std::make_unique<RunsView>(model);
        view->resize(1400, 400);
        view->show();
    }
};

}  // namespace

class TestRunsModel : public QObject {
    Q_OBJECT
    const RunsDataPtr data_ = made_up_runs(120);

  private Q_SLOTS:
    void the_text_of_a_group_is_put_together_once() {
        const RunsDataPtr data = made_up_runs(200);
        LayoutOptions options = plain_options(*data);
        options.group = {GroupBy::Kind::variant, {}};
        RunsModel model;
        show(model, data, options);
        for (int column = 0; column < model.columnCount(); ++column) {
            const QString once = model.index(0, column).data().toString(), again = model.index(0, column).data().toString();
            QCOMPARE(once, again);
            if (!once.isEmpty()) QVERIFY2(once.constData() == again.constData(), qPrintable(once));  // one text, not two that are equal
        }
    }

    void a_spread_of_three_digits_has_its_room() {
        auto scores = std::make_shared<RunScores>(*data_->scores());
        for (double& score : scores->values) score *= 100;
        const auto data = std::make_shared<const RunsData>(data_->snapshot(), std::move(scores), data_->settings(), data_->places());
        LayoutOptions options = plain_options(*data);
        options.group = {GroupBy::Kind::variant, {}};
        RunsModel model;
        show(model, data, options);
        const RunsView view(model);
        const QFontMetrics usual(view.font());
        int measured = 0;
        for (int column = 0; column < model.columnCount(); ++column) {
            const QModelIndex cell = model.index(0, column);
            if (cell.data(RunsModel::spreadRole).toString().size() < QStringLiteral(" ± 000.00").size()) continue;
            ++measured;
            const QVariant own = cell.data(Qt::FontRole);
            const QFontMetrics metrics = own.isValid() ? QFontMetrics(own.value<QFont>()) : usual;
            const QString text = cell.data().toString(), spread = cell.data(RunsModel::spreadRole).toString();  // which is never bold
            const int number = metrics.horizontalAdvance(text) - metrics.horizontalAdvance(spread);
            const int least = number + usual.horizontalAdvance(spread) + 2 * 6 + 8;
            QVERIFY2(RunsDelegate::wantedWidth(cell, usual, true) >= least, qPrintable(cell.data().toString()));
        }
        QVERIFY(measured > 0);
    }

    void keeps_the_rules_of_models_through_any_change() {
        RunsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        LayoutOptions options = plain_options(*data_);
        std::mt19937 random(7);
        std::set<std::uint64_t> open;
        const GroupBy groups[] = {
            {}, {GroupBy::Kind::seeds, {}}, {GroupBy::Kind::variant, {}}, {GroupBy::Kind::setting, "variant.placement"}};
        const RunColumn sorts[] = {{RunColumn::Kind::score, {}},
                                   {RunColumn::Kind::name, {}},
                                   {RunColumn::Kind::created, {}},
                                   {RunColumn::Kind::task_type, "retrieval"}};
        for (int step = 0; step < 150; ++step) {
            const Follower follower(model);
            const std::uint32_t share = 1 + random() % 10;
            std::vector<bool> kept;
            for (int i = 0; i < data_->numRuns(); ++i) kept.push_back(random() % 10 < share);
            const bool filtered = step % 2;
            options.kept = filtered ? &kept : nullptr;
            if (step % 3 == 0) options.group = groups[random() % 4];
            if (step % 4 == 0) options.sort = {sorts[random() % 4], random() % 2 ? Qt::AscendingOrder : Qt::DescendingOrder};
            if (model.rowCount() > 0)
                open.insert(model.line(static_cast<int>(random() % static_cast<unsigned>(model.rowCount()))).identity);
            options.open = &open;
            show(model, data_, options);
            QVERIFY(step == 0 || follower.holds(model));
            const RunsLayout expected = layOut(*data_, options);
            QCOMPARE(model.rowCount(), static_cast<int>(expected.lines.size()));
            for (int row = 0; row < model.rowCount(); ++row)
                QCOMPARE(model.line(row).identity, expected.lines[static_cast<std::size_t>(row)].identity);
        }
    }

    void the_selection_stays_with_its_runs_when_the_order_changes() {
        RunsModel model;
        LayoutOptions options = plain_options(*data_);
        show(model, data_, options);
        QItemSelectionModel selection(&model);
        for (const int row : {3, 40, 41, 90})
            selection.select(model.index(row, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
        selection.setCurrentIndex(model.index(40, 0), QItemSelectionModel::NoUpdate);
        QSet<QString> before;
        for (const QModelIndex& index : selection.selectedRows()) before.insert(runAt(model, index));
        const QString current = runAt(model, selection.currentIndex());
        options.sort = {{RunColumn::Kind::task_type, "retrieval"}, Qt::AscendingOrder};
        show(model, data_, options);
        QSet<QString> after;
        for (const QModelIndex& index : selection.selectedRows()) after.insert(runAt(model, index));
        QCOMPARE(after, before);
        QCOMPARE(runAt(model, selection.currentIndex()), current);
    }

    void only_the_row_that_changed_is_drawn_anew() {
        RunsModel model;
        LayoutOptions options = plain_options(*data_);
        show(model, data_, options);
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged), moved(&model, &QAbstractItemModel::layoutChanged),
            reset(&model, &QAbstractItemModel::modelReset);
        const std::string id = data_->run(17).info.id;
        const RunsDataPtr next = changed_runs(*data_, [&](RunRow& run) {
            if (run.info.id != id) return true;
            run.state.phase = RunPhase::running;
            run.state.step = 500;
            ++run.revision;
            return true;
        });
        show(model, next, options);
        QCOMPARE(changed.size(), 1);
        const QModelIndex first = changed.first()[0].value<QModelIndex>(), last = changed.first()[1].value<QModelIndex>();
        QCOMPARE(first.row(), last.row());
        QCOMPARE(runAt(model, first), QString::fromStdString(id));
        QCOMPARE(moved.size() + reset.size(), 0);
        QCOMPARE(model.data(first, RunsModel::progressRole).toDouble(), 0.5);
        show(model, next, options);
        QCOMPARE(changed.size(), 1);
    }

    void a_run_that_comes_is_one_insertion_and_one_that_goes_one_removal() {
        RunsModel model;
        LayoutOptions options = plain_options(*data_);
        const RunsDataPtr fewer = changed_runs(*data_, [&](const RunRow& run) { return run.info.id != data_->run(60).info.id; });
        show(model, fewer, options);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted), removed(&model, &QAbstractItemModel::rowsRemoved),
            moved(&model, &QAbstractItemModel::layoutChanged);
        show(model, data_, options);
        QCOMPARE(inserted.size(), 1);
        show(model, fewer, options);
        QCOMPARE(removed.size(), 1);
        QCOMPARE(moved.size(), 0);
    }

    void a_group_shows_its_mean_the_deviation_and_n() {
        RunsModel model;
        LayoutOptions options = plain_options(*data_);
        options.group = {GroupBy::Kind::seeds, {}};
        show(model, data_, options);
        QCOMPARE(model.data(model.index(0, 0), RunsModel::extraRole).toString(), QStringLiteral("n = 5"));
        const auto& columns = model.columns();
        const int column =
            static_cast<int>(std::find(columns.begin(), columns.end(), RunColumn{RunColumn::Kind::score, {}}) - columns.begin());
        const QString text = model.data(model.index(0, column)).toString();
        QVERIFY2(QRegularExpression(QStringLiteral("^\\d+\\.\\d\\d ± \\d+\\.\\d\\d$")).match(text).hasMatch(), qPrintable(text));
        QVERIFY(model.data(model.index(0, column), Qt::ToolTipRole).toString().contains(QStringLiteral("n = 5 of 5")));
    }

    void text_from_outside_is_no_markup_in_a_tooltip() {
        RunsModel model;
        const RunsDataPtr data = changed_runs(*data_, [](RunRow& run) {
            run.note = "<b>bold</b>";
            return true;
        });
        LayoutOptions options = plain_options(*data);
        options.columns.push_back({RunColumn::Kind::note, {}});
        show(model, data, options);
        QVERIFY(!model.data(model.index(0, static_cast<int>(options.columns.size()) - 1), Qt::ToolTipRole)
                     .toString()
                     .contains(QLatin1Char('<')));
    }

    void the_last_column_goes_out_of_sight_after_names_gave_way() {
        const SeedsView shown;
        RunsView& view = *shown.view;
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.fitWidths();
        int least = view.columnWidth(0);
        QVERIFY2(least > 180, qPrintable(QString::number(least)));  // names of a sweep's points
        for (int width = 900; width >= 420; width -= 20) {
            view.resize(width, 400);
            QTRY_COMPARE(view.width(), width);
            QTRY_VERIFY2(view.horizontalScrollBar()->maximum() == 0 || view.columnWidth(0) <= 132,
                         qPrintable(QString("%1: %2").arg(width).arg(view.columnWidth(0))));
            least = std::min(least, view.columnWidth(0));
        }
        QCOMPARE(least, 132);
    }

    void settings_give_way_before_names() {
        const SeedsView shown;
        RunsView& view = *shown.view;
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.fitWidths();
        const std::vector<RunColumn>& columns = shown.options.columns;
        const auto key = std::find(columns.begin(), columns.end(), RunColumn{RunColumn::Kind::key_settings, {}});
        const int settings = static_cast<int>(key - columns.begin()), name = view.columnWidth(0);
        const int wide = view.columnWidth(settings), head = view.horizontalHeader()->fontMetrics().horizontalAdvance(key->title()) + 20;
        QVERIFY2(wide > std::max(72, head), qPrintable(QString::number(wide)));  // else this test shows nothing
        bool settingsGaveWay = false;
        for (int width = 1200; width >= 500; width -= 10) {
            view.resize(width, 400);
            QTRY_COMPARE(view.width(), width);
            settingsGaveWay |= view.columnWidth(settings) < wide && view.columnWidth(0) == name;
            if (view.columnWidth(0) < name)
                QVERIFY2(view.columnWidth(settings) <= std::max(72, head), qPrintable(QString::number(view.columnWidth(settings))));
        }
        QVERIFY(settingsGaveWay);
        QVERIFY(view.columnWidth(0) < name);
    }

    void a_narrow_column_of_settings_shows_their_values() {
        const RunColumn column{RunColumn::Kind::key_settings, {}};
        const auto picture = [&](const std::string& setting, const std::string& value) {
            auto settings = std::make_shared<KeySettings>();
            const RunsDataPtr whole = made_up_runs(1);
            settings->values[whole->run(0).info.id] = {{setting, value}};
            const auto data = std::make_shared<const RunsData>(whole->snapshot(), whole->scores(), settings, whole->places());
            LayoutOptions options = plain_options(*data);
            options.columns = {{RunColumn::Kind::name, {}}, column, {RunColumn::Kind::state, {}}};
            RunsModel model;
            show(model, data, options);
            RunsView view(model);
            view.resize(600, 120);
            view.show();
            if (!QTest::qWaitForWindowExposed(&view)) return QImage();
            view.setWidths({{column.id(), 90}});
            return view.viewport()->grab(view.visualRect(model.index(0, 1))).toImage();
        };
        const QImage whole = picture("training.learning_rate", "1e-05");
        QVERIFY(!whole.isNull());
        QCOMPARE(whole, picture("training.lr", "1e-05"));
        QVERIFY(whole != picture("training.learning_rate", "5e-05"));
    }
};
FACETER_TEST(TestRunsModel)
#include "test_runs_model.moc"
