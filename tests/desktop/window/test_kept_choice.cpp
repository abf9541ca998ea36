#include <QSettings>
#include <QTest>
#include <QTreeWidget>
#include <algorithm>

#include "actions/run_actions.h"
#include "desktop/support/sample_project.h"
#include "support/test.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

/// Which experiment and which groups the user wants to see.
class TestKeptChoice : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    /// Of the sample experiment, and of one called "later" with a run each of EM and Mix.
    QString projectOfTwo(const std::string& name) {
        const fs::path path = folder_.path() / name;
        make_directories(path / "runs");
        make_sample_project(path);
        std::string text = sample_experiment();
        text.replace(text.find("quick"), 5, "later");
        const Experiment later = parse_sample(text);
        for (const ResolvedRun& run : later.runs())
            if (run.seed == 1 && run.variant != "start") RunDirectory::create(path, later, run, false);
        return QString::fromStdString(path.string());
    }

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void ticks_and_the_chosen_experiment_are_there_at_the_next_start() {
        const QString path = projectOfTwo("chosen"), other = QString::fromStdString((folder_.path() / "besides").string());
        make_directories(folder_.path() / "besides" / "runs");
        make_sample_project(folder_.path() / "besides");
        QString chosen;
        {
            Workspace workspace;
            MainWindow window(workspace);
            window.show();
            window.openPath(path);
            QTRY_COMPARE(workspace.experiments().size(), 2);
            QCOMPARE(workspace.experiment(), workspace.experiments().first());
            chosen = workspace.experiments().last();
            workspace.setExperiment(chosen);
            workspace.setShown(chosen + QStringLiteral("/EM"), false);
            window.close();
        }
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        const auto* tree = window.findChild<QTreeWidget*>("navigatorTree");
        const auto em = [tree] {
            const auto found = tree->findItems(QStringLiteral("EM"), Qt::MatchStartsWith | Qt::MatchRecursive);
            return found.isEmpty() ? nullptr : found.first();
        };
        const auto isAsChosen = [&] {
            return workspace.experiment() == chosen && workspace.shownGroups().size() + 1 == workspace.groups().size() && em() &&
                   em()->checkState(0) == Qt::Unchecked;
        };
        window.openPath(path);
        QTRY_VERIFY(isAsChosen());
        window.openPath(other);  // neither is of this one
        QTRY_COMPARE(workspace.shownGroups().size(), std::size_t(3));
        window.openPath(path);
        QTRY_VERIFY(isAsChosen());
    }

    void a_new_experiment_of_another_program_does_not_take_the_place_of_what_is_shown() {
        const QString path = projectOfTwo("elsewhere");
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, path.toStdString()));
        QCOMPARE(workspace.experiment(), QStringLiteral("later"));  // nobody chose it
        std::string text = sample_experiment();
        text.replace(text.find("quick"), 5, "newest");
        const Experiment newest = parse_sample(text);
        const RunDirectory run = RunDirectory::create(path.toStdString(), newest, newest.runs()[1], false);
        workspace.session()->refresh();
        QTRY_COMPARE(workspace.experiments().size(), 3);
        QCOMPARE(workspace.experiments().first(), QStringLiteral("newest"));
        QCOMPARE(workspace.experiment(), QStringLiteral("later"));
        for (const RunRow& one : workspace.runs()->runs)
            if (one.info.experiment == "later") fs::remove_all(fs::path(path.toStdString()) / "runs" / one.info.id);
        workspace.session()->refresh();
        QTRY_COMPARE(workspace.experiments().size(), 2);
        QCOMPARE(workspace.experiment(), QStringLiteral("newest"));
    }

    void groups_of_all_experiments_have_names_and_colours_of_their_own() {
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, projectOfTwo("all").toStdString()));
        workspace.setExperiment({});
        const auto coloursOf = [&workspace] {
            QHash<QString, int> colours;
            for (const RunGroupRef& group : workspace.shownGroups()) colours[group.label] = group.colour;
            return colours;
        };
        const QHash<QString, int> all = coloursOf();
        QCOMPARE(all.size(), 5);  // start, EM and Mix of the one, EM and Mix of the other
        QCOMPARE(QSet<int>(all.cbegin(), all.cend()).size(), 5);
        QCOMPARE(all.value(QStringLiteral("quick · start")), 7);
        workspace.setShown(workspace.groups().at(1).key, false);
        for (const auto& [label, colour] : coloursOf().asKeyValueRange()) QCOMPARE(colour, all.value(label));
        workspace.setExperiment(QStringLiteral("later"));
        for (const RunGroupRef& group : workspace.groups()) QVERIFY(group.colour < 2);  // its own, as ever
    }

    void a_launched_run_is_shown_while_another_experiment_is_chosen() {
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(projectOfTwo("launched"));
        QTRY_COMPARE(workspace.experiments().size(), 2);
        const QString first = workspace.experiments().first(), last = workspace.experiments().last();
        for (const QString& chosen : {first, last, first}) {
            workspace.setExperiment(chosen);
            const QString wanted = chosen == first ? last : first;
            const RunsSnapshotPtr hold = workspace.runs();
            const std::vector<RunRow>& runs = hold->runs;
            const auto of = std::find_if(runs.begin(), runs.end(), [&](const RunRow& run) { return qs(run.info.experiment) == wanted; });
            Q_EMIT workspace.actions().launched({qs(of->info.id)});
            QTRY_COMPARE(workspace.experiment(), wanted);
        }
    }
};

FACETER_TEST(TestKeptChoice)
#include "test_kept_choice.moc"
