#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QThreadPool>

#include "actions/run_actions.h"
#include "desktop/compose/fake_worker.h"
#include "jobs/actions_panel.h"
#include "launch/profile.h"
#include "pages/compose/compose_page.h"
#include "pages/compose/run_list_model.h"
#include "record/launch.h"
#include "support/checkout.h"
#include "support/fake_programs.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "window/main_window.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 30000;

/// A SLURM that accepts what it is given and lets it wait.
void takeJobs(const FakePrograms& programs) {
    programs.answers("sbatch", "echo 12");
    programs.answers("squeue", "echo '12_0|PENDING|Priority|'");
}

const char* const written = R"(name: mine
model: minilm
tasks:
  retrieval:
    train:
      - {source: debian, view: synopsis_description}
variants:
  EM: {method: dense}
evaluation: {baseline: false}
)";

/// The page in a project of its own, with an experiment of one run.
struct Fixture {
    Workspace workspace;
    ComposePage page{workspace};
    QStringList complaints;
    QSignalSpy launched{&workspace.actions(), &RunActions::launched};

    explicit Fixture(const fs::path& project) {
        Project(project, true);
        QObject::connect(&workspace, &Workspace::complained, &page, [this](const QString& text) { complaints << text; });
        workspace.openProject(project);
        page.resize(1000, 700);
        page.show();
        page.document().reset(QString::fromUtf8(written), {});
        static_cast<void>(QTest::qWaitFor([&] { return page.isReady() && where()->count() > 1; }, patience_ms));
    }
    QComboBox* where() { return page.findChild<QComboBox*>(QStringLiteral("launchWhere")); }
    QWidget* find(const char* name) { return page.findChild<QWidget*>(QLatin1String(name)); }
    QString summary() { return page.findChild<ElidedLabel*>(QStringLiteral("launchSummary"))->fullText(); }
    void choose(const char* profile) {
        where()->setFocus();
        QTest::keyClicks(where(), QString::fromLatin1(profile));  // as a person does: its first letters
    }
    void launch() { QTest::mouseClick(find("launch"), Qt::LeftButton); }
    RunState state() { return workspace.runs()->runs.empty() ? RunState() : workspace.runs()->runs.front().state; }
};

}  // namespace

/// Where Compose starts runs: here, or through the user's profiles.
class TestLaunchBar : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    int projects_ = 0;

    fs::path project() { return folder_.path() / ("project" + std::to_string(++projects_)); }
    static void profile(const char* name, const std::string& text) {
        make_directories(profile_folder());
        write_file_atomic(profile_folder() / (std::string(name) + ".yaml"), text);
    }

  private Q_SLOTS:
    void initTestCase() {
        Manifest manifest;
        manifest.id = "demo";
        manifest.version = "1";
        manifest.variants = {{"dense", "A plain encoder.", {"dense", "", {}}}};
        make_directories(folder_.path() / "plugins");
        QCOMPARE(write_manifest(manifest, folder_.path() / "plugins/demo.json"), 0);
        qputenv("FACETER_PLUGIN_DIR", (folder_.path() / "plugins").c_str());
        qputenv("FACETER_WORKER", write_fake_worker(folder_.path()).c_str());
        qputenv("XDG_CONFIG_HOME", (folder_.path() / "config").c_str());
        profile("broken", "kind: slurm\npartion: x\n");
        profile("gpu", "kind: slurm\npartition: a100\ndescription: four hours on one card\n");
        profile("other",
                "kind: ssh\nhost: box\nfolder: " + (folder_.path() / "there").string() + "\nfaceter: " FACETER_BINARY_DIR "/bin/faceter\n");
    }
    void init() { QSettings().clear(); }

    void nothing_is_launched_into_a_project_whose_folder_is_gone() {
        const fs::path path = project(), away = path.string() + "-away";
        Fixture f(path);
        QTRY_VERIFY_WITH_TIMEOUT(f.find("launch")->isEnabled(), patience_ms);
        fs::rename(path, away);
        f.workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(!f.find("launch")->isEnabled(), patience_ms);
        QVERIFY2(f.summary().contains(QStringLiteral("cannot take runs now")), qPrintable(f.summary()));
        f.workspace.actions().launch(f.page.document().report().experiment, false, {});  // as if it had been pressed just before
        QTRY_VERIFY_WITH_TIMEOUT(!f.complaints.isEmpty() && !f.workspace.actions().isLaunching(), patience_ms);
        QVERIFY(!fs::exists(path));
        fs::rename(away, path);
        f.workspace.session()->refresh();
        QTRY_VERIFY_WITH_TIMEOUT(f.find("launch")->isEnabled(), patience_ms);
        QVERIFY(!f.summary().contains(QStringLiteral("cannot take runs now")));
    }

    void this_machine_and_every_profile_are_offered() {
        Fixture f(project());
        QCOMPARE(f.where()->count(), 4);
        QCOMPARE(f.where()->currentText(), QStringLiteral("on this machine"));
        QVERIFY(f.find("jobs")->isVisible() && f.find("devices")->isVisible());
        QCOMPARE(f.where()->itemText(1), QStringLiteral("broken · cannot be used"));
        QVERIFY(!qobject_cast<QStandardItemModel*>(f.where()->model())->item(1)->isEnabled());
        QVERIFY(f.where()->itemData(1, Qt::ToolTipRole).toString().contains(QStringLiteral("partion")));
        f.choose("g");
        QCOMPARE(f.where()->currentText(), QStringLiteral("gpu · partition a100"));
        QVERIFY(!f.find("jobs")->isVisible() && !f.find("devices")->isVisible());  // the profile says it
        QVERIFY2(f.summary().contains(QStringLiteral("through gpu")), qPrintable(f.summary()));
        if (const QString folder = qEnvironmentVariable("FACETER_PICTURES"); !folder.isEmpty())
            f.page.grab().save(folder + QStringLiteral("/launch.png"));
        const QJsonObject state = f.page.state();
        Fixture again(project());
        again.page.restore(state);
        QTRY_COMPARE(again.where()->currentText(), QStringLiteral("gpu · partition a100"));
        fs::rename(profile_folder() / "gpu.yaml", folder_.path() / "gpu.yaml");
        again.page.shown();
        QTRY_COMPARE(again.where()->count(), 3);
        QCOMPARE(again.where()->currentText(), QStringLiteral("on this machine"));
        const auto bars = again.page.findChildren<ErrorBar*>();
        const auto tells = [](const ErrorBar* bar) { return bar->message().contains(QStringLiteral("Profile gpu")); };
        QVERIFY(std::any_of(bars.begin(), bars.end(), tells));
        fs::rename(folder_.path() / "gpu.yaml", profile_folder() / "gpu.yaml");
    }
    void ctrl_return_launches_and_what_it_launched_is_counted() {
        NEED_MINILM();
        const FakePrograms programs;
        takeJobs(programs);
        Fixture f(project());
        f.choose("g");
        f.page.document().reset(QString::fromUtf8(written).replace(QStringLiteral("mine"), QStringLiteral("mine %1 %2")), {});
        QTRY_VERIFY_WITH_TIMEOUT(f.page.isReady() && f.find("launch")->isEnabled(), patience_ms);
        f.page.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.page));
        QSignalSpy said(&f.workspace, &Workspace::said);
        QTest::keyClick(&f.page, Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY2_WITH_TIMEOUT(f.launched.count() == 1 || !f.complaints.isEmpty(), qPrintable(f.complaints.join(QLatin1Char('\n'))),
                                  patience_ms);
        QVERIFY2(f.complaints.isEmpty(), qPrintable(f.complaints.join(QLatin1Char('\n'))));
        QCOMPARE(said.first().first().toString(), QStringLiteral("mine %1 %2: 1 run submitted"));
    }
    void a_run_is_submitted_and_what_slurm_says_is_seen_without_asking() {
        NEED_MINILM();
        const FakePrograms programs;
        takeJobs(programs);
        programs.answers("scancel", "echo \"$@\" >'" + (folder_.path() / "cancelled").string() + "'");
        Fixture f(project());
        f.choose("g");
        f.launch();
        QTRY_VERIFY2_WITH_TIMEOUT(f.launched.count() == 1 || !f.complaints.isEmpty(), qPrintable(f.complaints.join(QLatin1Char('\n'))),
                                  patience_ms);
        QVERIFY2(f.complaints.isEmpty(), qPrintable(f.complaints.join(QLatin1Char('\n'))));
        const QString id = f.launched.first().first().toStringList().first();
        QTRY_VERIFY_WITH_TIMEOUT(f.state().phase == RunPhase::queued && f.state().cause.find("12_0: Priority") != std::string::npos,
                                 patience_ms);
        const RunDirectory run(f.workspace.session()->folder() / "runs" / id.toStdString());
        QVERIFY(read_file(read_launch(run)->folder / "job.sh").find("#SBATCH --partition=a100\n") != std::string::npos);
        programs.answers("squeue", "echo '12_0|RUNNING|None|n7'");
        QTRY_VERIFY_WITH_TIMEOUT(f.state().phase == RunPhase::running, patience_ms);
        programs.answers("squeue", "case \"$*\" in *%j*) sed -n 's/^#SBATCH --job-name=//p' '" +
                                       (read_launch(run)->folder / "job.sh").string() + "';; *) echo '12_0|PENDING|Priority|';; esac");
        QTRY_VERIFY_WITH_TIMEOUT(f.state().phase == RunPhase::queued, patience_ms);
        f.workspace.actions().stop({id});
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(folder_.path() / "cancelled"), patience_ms);
        QCOMPARE(read_file(folder_.path() / "cancelled"), std::string("12_0\n"));
    }
    void only_what_is_ticked_goes_through_a_profile() {
        NEED_MINILM();
        const FakePrograms programs;
        takeJobs(programs);
        Fixture f(project());
        f.page.document().reset(QString::fromUtf8(written) + QStringLiteral("seeds: [1, 2, 3]\n"), {});
        QTRY_VERIFY_WITH_TIMEOUT(f.page.isReady(), patience_ms);
        f.page.findChild<RunListModel*>()->setTicked({1}, false);
        f.choose("g");
        f.launch();
        QTRY_COMPARE_WITH_TIMEOUT(f.launched.count(), 1, patience_ms);
        QCOMPARE(f.launched.first().first().toStringList().size(), 2);
        const Project opened(f.workspace.session()->folder(), false);
        std::set<std::uint64_t> seeds;
        for (const std::string& id : opened.run_ids()) seeds.insert(opened.find_run(id).info().seed);
        QCOMPARE(seeds, (std::set<std::uint64_t>{1, 3}));
    }
    void a_refusal_is_said_and_leaves_no_run() {
        NEED_MINILM();
        const FakePrograms programs;
        programs.answers("sbatch", "echo 'sbatch: error: invalid partition specified: a100' >&2; exit 1");
        Fixture f(project());
        f.choose("g");
        f.launch();
        QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 1, patience_ms);
        QVERIFY2(f.complaints.first().contains(QStringLiteral("invalid partition specified: a100")), qPrintable(f.complaints.first()));
        QVERIFY(Project(f.workspace.session()->folder(), false).run_ids().empty());
    }
    void what_can_be_known_to_fail_is_refused_before_it_starts() {
        NEED_MINILM();
        const FakePrograms programs;
        takeJobs(programs);
        Fixture f(project());
        f.page.document().reset(QString::fromUtf8(written) + QStringLiteral("max_length: 5000\n"), {});
        QTRY_VERIFY_WITH_TIMEOUT(f.page.document().isChecked(), patience_ms);
        for (int place : {0, f.where()->findData(QStringLiteral("gpu"))}) {  // here, and through SLURM
            f.where()->setCurrentIndex(place);
            f.complaints.clear();
            f.launch();
            QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 1, patience_ms);
            QVERIFY2(f.complaints.first().contains(QStringLiteral("max_length")), qPrintable(f.complaints.first()));
        }
        QVERIFY(Project(f.workspace.session()->folder(), false).run_ids().empty());
    }
    void a_rerun_is_started_where_the_run_was() {
        NEED_MINILM();
        const FakePrograms programs;
        takeJobs(programs);
        Fixture f(project());
        f.choose("g");
        f.launch();
        QTRY_COMPARE_WITH_TIMEOUT(f.launched.count(), 1, patience_ms);
        programs.answers("sbatch", "echo 13");
        f.workspace.actions().rerun(f.launched.first().first().toStringList());
        QTRY_COMPARE_WITH_TIMEOUT(f.launched.count(), 2, patience_ms);
        const QString id = f.launched.last().first().toStringList().first();
        const auto launch = read_launch(RunDirectory(f.workspace.session()->folder() / "runs" / id.toStdString()));
        QVERIFY(launch && launch->launcher == "slurm" && launch->job.starts_with("13"));
        programs.answers("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1");
        const std::size_t before = Project(f.workspace.session()->folder(), false).run_ids().size();
        f.workspace.actions().rerun({id});
        QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 1, patience_ms);
        QCOMPARE(Project(f.workspace.session()->folder(), false).run_ids().size(), before);
    }
    void a_machine_that_does_not_answer_keeps_no_check_waiting() {
        const FakePrograms programs;
        const std::string gate = (folder_.path() / "answer").string();
        programs.answers("ssh", "while [ ! -e '" + gate + "' ]; do sleep 0.05; done; echo 'no route to host' >&2; exit 255");
        QThreadPool::globalInstance()->setMaxThreadCount(2);
        Fixture f(project());
        for (int i = 0; i < 4; ++i)
            f.workspace.actions().launch(f.page.document().report().experiment, false, {QStringLiteral("other"), 1, 1});
        f.page.document().reset(QString::fromUtf8(written) + QStringLiteral("seeds: [1, 2]\n"), {});
        QTRY_VERIFY_WITH_TIMEOUT(f.page.document().isChecked() && f.page.document().report().experiment, patience_ms);
        write_file_atomic(gate, "");
        QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 4, patience_ms);
        fs::remove(gate);
    }
    /// Its line in Activity: given up at once, tried again when the machine answers, dismissed.
    void what_waits_for_another_machine_can_be_cancelled_and_tried_again() {
        NEED_MINILM();  // the other machine looks for the experiment's model
        const FakePrograms programs;
        const fs::path called = folder_.path() / "was called";
        programs.answers("ssh", "touch '" + called.string() + "'; sleep 600");
        Fixture f(project());
        ActionsPanel panel(f.workspace.actions());
        const auto text = [&] {
            const auto* label = panel.findChild<ElidedLabel*>(QStringLiteral("actionText"));
            return label ? label->fullText() : QString();
        };
        const auto press = [&](const char* name) {
            auto* button = panel.findChild<QPushButton*>(QLatin1String(name));
            QVERIFY(button && button->isEnabled());
            button->click();
        };
        QVERIFY(panel.isEmpty());
        f.choose("o");
        f.launch();
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(called), patience_ms);
        QVERIFY2(text().startsWith(QStringLiteral("mine: submitting 1 run through other")), qPrintable(text()));
        QVERIFY(f.workspace.actions().isLaunching());
        press("actionCancel");
        QVERIFY(!panel.findChild<QPushButton*>(QStringLiteral("actionCancel"))->isEnabled());
        QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 1, patience_ms);
        QVERIFY2(f.complaints.first().contains(QStringLiteral("cancelled")), qPrintable(f.complaints.first()));
        QVERIFY2(text().contains(QStringLiteral("given up before it answered")), qPrintable(text()));
        QVERIFY(!f.workspace.actions().isLaunching());
        QVERIFY(Project(f.workspace.session()->folder(), false).run_ids().empty());
        programs.answers("ssh", "echo 'no route to host' >&2; exit 255");
        press("actionAgain");
        QVERIFY(f.workspace.actions().isLaunching());
        QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 2, patience_ms);
        QVERIFY2(text().contains(QStringLiteral("no route to host")), qPrintable(text()));
        programs.answers("ssh", "exec sh -s");
        press("actionAgain");
        QTRY_COMPARE_WITH_TIMEOUT(f.launched.count(), 1, patience_ms);
        QTRY_VERIFY(panel.isEmpty());
        programs.answers("ssh", "echo 'no route to host' >&2; exit 255");
        f.launch();
        QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 3, patience_ms);
        press("actionDismiss");
        QVERIFY(panel.isEmpty());
    }
    void a_launch_while_the_text_is_being_checked_starts_when_it_is() {
        NEED_MINILM();
        const FakePrograms programs;
        takeJobs(programs);
        Fixture f(project());
        f.choose("g");
        f.page.document().reset(QString::fromUtf8(written) + QStringLiteral("seeds: [1]\n"), {});
        QVERIFY(!f.page.document().isChecked());
        f.launch();
        QTRY_COMPARE_WITH_TIMEOUT(f.launched.count(), 1, patience_ms);
    }
    void a_connection_that_is_lost_is_made_again() {
        NEED_MINILM();  // the other machine looks for the experiment's model
        const FakePrograms programs;
        const fs::path gate = folder_.path() / "go on", waiting = folder_.path() / "waiting-worker", refused = folder_.path() / "refused";
        write_file_atomic(waiting, "#!/bin/sh\nwhile [ ! -e '" + gate.string() + "' ]; do sleep 0.05; done\n");
        fs::permissions(waiting, fs::perms::owner_all);
        const QByteArray worker = qgetenv("FACETER_WORKER");
        qputenv("FACETER_WORKER", waiting.c_str());
        programs.answers("ssh", "exec sh -s");
        Fixture f(project());
        QStringList warnings;
        QObject::connect(&f.workspace, &Workspace::warned, &f.page, [&](const QStringList& texts) { warnings += texts; });
        // Submitting and the first look go through; whoever follows then finds nobody, once.
        programs.answers("ssh", "n=$(cat '" + refused.string() + "' 2>/dev/null || echo 0); n=$((n + 1)); echo $n >'" + refused.string() +
                                    "'; [ $n -eq 3 ] && { echo 'no route to host' >&2; exit 255; }; exec sh -s");
        f.choose("o");
        f.launch();
        QTRY_VERIFY_WITH_TIMEOUT(f.launched.count() == 1 || !f.complaints.isEmpty(), patience_ms);
        QVERIFY2(f.complaints.isEmpty(), qPrintable(f.complaints.join(QLatin1Char('\n'))));
        QTRY_VERIFY_WITH_TIMEOUT(warnings.join(QLatin1Char('\n')).contains(QStringLiteral("no route to host")), patience_ms);
        write_file_atomic(gate, "");
        QTRY_VERIFY_WITH_TIMEOUT(f.state().phase == RunPhase::failed, patience_ms);
        qputenv("FACETER_WORKER", worker);
    }
    void a_second_outage_with_the_same_message_is_told_again() {
        NEED_MINILM();  // the other machine looks for the experiment's model
        const FakePrograms programs;
        const fs::path gate = folder_.path() / "end", waiting = folder_.path() / "worker-until-end", down = folder_.path() / "down";
        write_file_atomic(waiting, "#!/bin/sh\nwhile [ ! -e '" + gate.string() + "' ]; do sleep 0.05; done\n");
        fs::permissions(waiting, fs::perms::owner_all);
        const QByteArray worker = qgetenv("FACETER_WORKER");
        qputenv("FACETER_WORKER", waiting.c_str());
        // A connection ends when the machine goes down, and so does every further one until it is up again.
        programs.answers("ssh", "closed() { echo 'closed for maintenance' >&2; exit 5; }\n[ -e '" + down.string() +
                                    "' ] && closed\nexec 3<&0\nsh -s <&3 & child=$!\nwhile kill -0 $child 2>/dev/null; do\n  [ -e '" +
                                    down.string() + "' ] && { kill $child; closed; }\n  sleep 0.05\ndone\nwait $child");
        Fixture f(project());
        int told = 0, over = 0;
        QObject::connect(&f.workspace, &Workspace::warned, &f.page, [&](const QStringList& texts) {
            told += static_cast<int>(texts.filter(QStringLiteral("closed for maintenance")).size());
        });
        QObject::connect(&f.workspace, &Workspace::settled, &f.page, [&](const QStringList& texts) {
            over += static_cast<int>(texts.filter(QStringLiteral("closed for maintenance")).size());
        });
        f.choose("o");
        f.launch();
        QTRY_VERIFY_WITH_TIMEOUT(f.launched.count() == 1 || !f.complaints.isEmpty(), patience_ms);
        QVERIFY2(f.complaints.isEmpty(), qPrintable(f.complaints.join(QLatin1Char('\n'))));
        const std::string id = f.launched.first().first().toStringList().first().toStdString();
        const auto hears = [&](const std::string& table) {  // what is written there arrives here
            make_directories(folder_.path() / "there/runs" / id / "tables");
            write_file_atomic(folder_.path() / "there/runs" / id / "tables" / table, "{}");
            return QTest::qWaitFor([&] { return fs::exists(f.workspace.session()->folder() / "runs" / id / "tables" / table); },
                                   patience_ms);
        };
        QVERIFY(hears("before.json"));
        write_file_atomic(down, "");
        QTRY_COMPARE_WITH_TIMEOUT(told, 1, patience_ms);
        fs::remove(down);
        QVERIFY(hears("between.json"));
        QCOMPARE(told, 1);                                // once an outage, however often it was tried
        QTRY_COMPARE_WITH_TIMEOUT(over, 1, patience_ms);  // and not said any more once it answers
        write_file_atomic(down, "");
        QTRY_COMPARE_WITH_TIMEOUT(told, 2, patience_ms);
        fs::remove(down);
        QVERIFY(hears("after.json"));
        write_file_atomic(gate, "");
        QTRY_VERIFY_WITH_TIMEOUT(f.state().phase == RunPhase::failed, patience_ms);
        qputenv("FACETER_WORKER", worker);
    }
    void the_window_stays_until_what_it_was_asked_for_is_done() {
        const FakePrograms programs;
        const std::string gate = (folder_.path() / "answer").string();
        programs.answers("ssh", "while [ ! -e '" + gate + "' ]; do sleep 0.05; done; echo 'no route to host' >&2; exit 255");
        Fixture f(project());
        MainWindow window(f.workspace);
        window.show();
        f.workspace.actions().launch(f.page.document().report().experiment, false, {QStringLiteral("other"), 1, 1});
        QVERIFY(!window.close());
        QVERIFY(window.isVisible());
        write_file_atomic(gate, "");
        QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 1, patience_ms);
        QCoreApplication::processEvents();
        QVERIFY(window.isVisible());  // what failed is there to be read, and to be tried again
        QVERIFY(window.close());
        fs::remove(gate);
    }
    void a_run_on_another_machine_is_mirrored_until_it_is_over() {
        NEED_MINILM();  // the other machine looks for the experiment's model
        const FakePrograms programs;
        programs.answers("ssh", "exec sh -s");  // the other machine is this one
        Fixture f(project());
        f.choose("o");
        QCOMPARE(f.where()->currentText(), QStringLiteral("other · box"));
        f.launch();
        QTRY_VERIFY2_WITH_TIMEOUT(f.launched.count() == 1 || !f.complaints.isEmpty(), qPrintable(f.complaints.join(QLatin1Char('\n'))),
                                  patience_ms);
        QVERIFY2(f.complaints.isEmpty(), qPrintable(f.complaints.join(QLatin1Char('\n'))));
        // The worker there does nothing and ends.
        QTRY_VERIFY_WITH_TIMEOUT(f.state().phase == RunPhase::failed, patience_ms);
        QVERIFY2(f.state().cause.find("without saying that it was done") != std::string::npos, f.state().cause.c_str());
        f.workspace.actions().rerun(f.launched.first().first().toStringList());  // its paths are of the other machine
        QTRY_COMPARE_WITH_TIMEOUT(f.complaints.size(), 1, patience_ms);
        QVERIFY2(f.complaints.first().contains(QStringLiteral("launch its experiment there anew")), qPrintable(f.complaints.first()));
        QCOMPARE(Project(f.workspace.session()->folder(), false).run_ids().size(), std::size_t(1));
    }
};

FACETER_TEST(TestLaunchBar)
#include "test_launch_bar.moc"
