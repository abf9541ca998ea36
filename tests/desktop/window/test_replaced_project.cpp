#include <QSettings>
#include <QTest>

#include "actions/run_actions.h"
#include "desktop/support/sample_project.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

/// A project's folder that another takes the place of while it is open.
class TestReplacedProject : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() { QSettings().clear(); }

    void what_is_asked_of_the_store_is_answered_from_the_folder_that_is_there_now() {
        const TemporaryDirectory folder;
        const fs::path path = folder.path() / "p", copy = folder.path() / "p2", away = folder.path() / "p3";
        make_sample_project(path, 3);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, path));
        const auto scored = [&workspace] {
            std::size_t runs = 0;
            bool answered = false;
            workspace.session()
                ->query([](Store& store) { return store.run_scores().runs.size(); })
                .then(&workspace, [&](std::size_t count) {
                    runs = count;
                    answered = true;
                });
            return QTest::qWaitFor([&] { return answered; }, hang_ms) ? runs : 0;
        };
        QCOMPARE(scored(), std::size_t{3});
        fs::copy(path, copy, fs::copy_options::recursive);
        fs::rename(path, away);
        fs::rename(copy, path);
        const Experiment experiment = parse_sample();
        const RunDirectory run = RunDirectory::create(path, experiment, experiment.runs()[3], false);
        write_attempt(run, 1, 10, "finished");
        write_results(run, 2);
        workspace.session()->refresh();
        QTRY_COMPARE_WITH_TIMEOUT(workspace.runs()->runs.size(), std::size_t{4}, hang_ms);
        QCOMPARE(scored(), std::size_t{4});
        QCOMPARE(Store(away).runs().size(), std::size_t{3});  // nothing of the one reached the other
    }
};

FACETER_TEST(TestReplacedProject)
#include "test_replaced_project.moc"
