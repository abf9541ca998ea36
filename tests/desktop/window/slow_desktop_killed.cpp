#include <sys/wait.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QProcess>
#include <QTimer>
#include <csignal>
#include <fstream>

#include "actions/run_actions.h"
#include "common/random.h"
#include "desktop/support/sample_project.h"
#include "experiment/catalogue.h"
#include "launch/supervisor.h"
#include "support/checkout.h"
#include "support/test.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr const char* child_variable = "FACETER_TEST_LAUNCH";

std::string experiment_text() {
    return "name: killed\nmodel: " + (shared_folder() / "fixtures/bert").string() +
           "\nmax_length: 32\nthreads: 1\nseeds: [1, 2, 3, 4, 5]\n"
           "tasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n"
           "    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
           "variants:\n  EM: {method: dense}\n"
           "training: {batch_size: 8, steps: 400, learning_rate: 1.0e-3, checkpoint_every_steps: 50, keep_checkpoints: 1}\n"
           "evaluation: {baseline: false, datasets: []}\n";
}

void write_experiment(const fs::path& project) {
    make_directories(project / "runs");
    overwrite(project / "killed.yaml", experiment_text());
    std::ofstream out(project / "pairs.jsonl");
    for (int i = 0; i < 120; ++i)
        out << "{\"query\": \"question number " << i << "\", \"document\": \"an answer to " << i << " that speaks of " << i * 7 % 13
            << "\"}\n";
}

}  // namespace

/// Five runs, three at a time, launched by a workbench that is killed again and again while it shows them.
class SlowDesktopKilled : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

    /// The workbench as a process of its own: this program with the variable set.
    pid_t start(bool launch) const {
        const pid_t pid = ::fork();
        if (pid != 0) return pid;
        ::setenv(child_variable, launch ? "launch" : "look", 1);
        ::setenv("FACETER_TEST_PROJECT", project_.path().c_str(), 1);
        const std::string program = QCoreApplication::applicationFilePath().toStdString();
        ::execl(program.c_str(), program.c_str(), "slow_desktop_killed", "be_the_workbench", nullptr);
        ::_exit(127);
    }

    static void kill(pid_t pid) {
        ::kill(pid, SIGKILL);
        int status = 0;
        ::waitpid(pid, &status, 0);
    }

    std::vector<RunState> states() const {
        std::vector<RunState> states;
        for (const std::string& id : Project(project_.path(), false).run_ids())
            states.push_back(read_state(RunDirectory(project_.path() / "runs" / id)));
        return states;
    }

    bool all_done() const {
        const std::vector<RunState> all = states();
        return all.size() == 5 && std::all_of(all.begin(), all.end(), [](const RunState& state) { return state.phase == RunPhase::done; });
    }

    /// Whether a supervisor holds the queue of the launch: its folder comes after the runs', its file after the folder.
    bool supervised() const {
        std::error_code none_yet;
        for (const auto& entry : fs::directory_iterator(project_.path() / "queue", none_yet))
            if (fs::exists(entry.path() / "queue.json") && Queue::open(entry.path()).supervised()) return true;
        return false;
    }

  private Q_SLOTS:
    /// Runs in the child only: opens the project, launches the experiment once, shows page after page until it is killed.
    void be_the_workbench() {
        if (!qEnvironmentVariableIsSet(child_variable)) return;
        const fs::path project = qgetenv("FACETER_TEST_PROJECT").toStdString();
        Workspace workspace;
        MainWindow window(workspace);
        window.show();
        window.openPath(QString::fromStdString(project.string()));
        if (qgetenv(child_variable) == "launch") {
            const auto experiment = std::make_shared<const Experiment>(
                Experiment::load(project / "killed.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"})));
            workspace.actions().launch(experiment, false, {{}, 3, 1});
        }
        QTimer pages;
        int shown = 0;
        connect(&pages, &QTimer::timeout, this, [&] { window.goTo(QStringList{"runs", "curves", "compare", "results"}[shown++ % 4]); });
        pages.start(150);
        QTest::qWait(120000);
    }

    void a_workbench_killed_at_any_moment_harms_no_run_and_the_queue_goes_on() {
        if (qEnvironmentVariableIsSet(child_variable)) return;
        NEED_SHARED();
        write_experiment(project_.path());
        const pid_t launcher = start(true);
        QTRY_COMPARE_WITH_TIMEOUT(states().size(), std::size_t(5), 120000);
        // The launch is over when the supervisor holds its queue; from then on nothing may depend on the launcher.
        QTRY_VERIFY_WITH_TIMEOUT(supervised(), 120000);
        kill(launcher);
        RandomStream random(7, "kills");
        const int kills = qEnvironmentVariableIntValue("FACETER_KILLS") > 0 ? qEnvironmentVariableIntValue("FACETER_KILLS") : 50;
        for (int i = 0; i < kills; ++i) {
            const pid_t child = start(false);
            ::usleep(static_cast<unsigned>(50000 + random.below(900) * 1000));
            kill(child);
        }
        QTRY_VERIFY_WITH_TIMEOUT(all_done(), 600000);
        for (const RunState& state : states()) QCOMPARE(state.attempts, 1);
        Workspace workspace;
        QVERIFY(open_and_wait(workspace, project_.path()));
        QTRY_VERIFY(std::all_of(workspace.runs()->runs.begin(), workspace.runs()->runs.end(),
                                [](const RunRow& run) { return run.state.phase == RunPhase::done; }));
        QCOMPARE(workspace.runs()->runs.size(), std::size_t(5));
        QCOMPARE(Store(project_.path()).integrity(), std::string("ok"));
    }
};

FACETER_TEST(SlowDesktopKilled)
#include "slow_desktop_killed.moc"
