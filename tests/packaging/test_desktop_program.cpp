#include "command.h"

using namespace faceter;
using namespace faceter::packaging;
using namespace faceter::testing;

/// faceter-desktop where there is no display: on a server, in a container.
class TestDesktopProgram : public QObject {
    Q_OBJECT
    const fs::path program_ = binaries / "bin/faceter-desktop";
    const std::map<QString, QString> nowhere_{{"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""}, {"QT_QPA_PLATFORM", ""}};

  private Q_SLOTS:
    void initTestCase() {
        if (!fs::exists(program_)) QSKIP("faceter-desktop is not built");
    }
    void help_and_version_need_no_display() {
        for (const char* option : {"--help", "-h"}) {
            const Outcome help = run(program_, {option}, nowhere_);
            VERIFY_CODE(help, 0);
            QVERIFY2(help.output.contains("--screenshot <PAGE>"), qPrintable(help.output));
        }
        VERIFY_CODE(run(program_, {"--version"}, nowhere_), 0);
    }
    void a_second_path_is_not_left_out_in_silence() {
        const Outcome two = run(program_, {"one.yaml", "two.yaml"}, {{"QT_QPA_PLATFORM", "offscreen"}});
        VERIFY_CODE(two, 2);
        QVERIFY2(two.output.contains("two.yaml"), qPrintable(two.output));
    }
    void a_page_that_is_not_there_is_a_wrong_call() {
        const Outcome none = run(program_, {"--screenshot", "nopage", "page.png"}, {{"QT_QPA_PLATFORM", "offscreen"}});
        VERIFY_CODE(none, 2);
        QVERIFY2(none.output.contains("no page 'nopage' (known: start, "), qPrintable(none.output));
    }
    void a_project_that_is_not_there_is_made_and_a_folder_of_other_things_is_refused() {
        const TemporaryDirectory folder;
        const std::map<QString, QString> environment{{"QT_QPA_PLATFORM", "offscreen"}, {"HOME", text(folder.path())}};
        const auto shoot = [&](const fs::path& project) {
            return run(program_, {"--project", text(project), "--screenshot", "runs", text(folder.path() / "runs.png")}, environment);
        };
        VERIFY_CODE(shoot(folder.path() / "new"), 0);
        QVERIFY(fs::is_directory(folder.path() / "new/runs"));
        QVERIFY(fs::exists(folder.path() / "runs.png"));
        fs::create_directories(folder.path() / "other");
        write_file_atomic(folder.path() / "other/letter.txt", "Dear all,");
        const Outcome refused = shoot(folder.path() / "other");
        VERIFY_CODE(refused, 4);
        QVERIFY2(refused.output.contains("is no project, and holds other things"), qPrintable(refused.output));
    }
    void a_window_without_a_display_is_one_clear_error() {
        const Outcome none = run(program_, {}, nowhere_);
        VERIFY_CODE(none, 5);
        QVERIFY2(none.output.startsWith("faceter-desktop: there is no display") && none.output.contains("ssh -X"), qPrintable(none.output));
        QCOMPARE(none.output.count('\n'), 1);
    }
};

FACETER_TEST(TestDesktopProgram)
#include "test_desktop_program.moc"
