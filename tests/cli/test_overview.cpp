#include <fstream>

#include "cli/program.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter` alone, in a folder.
class TestOverview : public QObject {
    Q_OBJECT
    static Outcome alone_in(const fs::path& folder, const QStringList& words = {}) {
        QProcess process;
        process.setWorkingDirectory(QString::fromStdString(folder.string()));
        process.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"), words);
        process.waitForFinished(hang_ms);
        return {process.exitCode(), process.readAllStandardOutput().toStdString(), process.readAllStandardError().toStdString()};
    }

  private Q_SLOTS:
    void in_a_folder_of_nothing_of_ours_it_is_the_help() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "other.yaml") << "steps: [build, test]\n";
        const Outcome outcome = alone_in(folder.path());
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "Exit codes");
    }
    void beside_an_experiment_it_says_how_to_run_it() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "mine.yaml") << sample_experiment();
        const Outcome outcome = alone_in(folder.path());
        QCOMPARE(outcome.code, 0);
        HAS(outcome.out, "faceter check mine.yaml");
        HAS(outcome.out, "faceter run mine.yaml --project DIR");
    }
    void what_it_says_of_an_experiment_can_be_typed_and_stands_with_it() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "my own.yaml") << sample_experiment();
        write_file_atomic(folder.path() / "tickets.csv", "text,label\n");
        const Outcome outcome = alone_in(folder.path());
        HAS(outcome.out, "  faceter check 'my own.yaml'\n  faceter run 'my own.yaml' --project DIR\nTables here:\n");
    }
    void beside_a_table_it_says_how_to_make_an_experiment_of_it() {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "my tickets.csv", "text,label\n");
        const Outcome outcome = alone_in(folder.path());
        QCOMPARE(outcome.code, 0);
        HAS(outcome.out, "faceter init 'my tickets.csv'");
        fs::rename(folder.path() / "my tickets.csv", folder.path() / "my tickets.CSV");
        HAS(alone_in(folder.path()).out, "faceter init 'my tickets.CSV'");
    }
    void a_file_that_looks_like_an_option_is_named_as_a_file() {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "-tickets.csv", "text,label\n");
        std::ofstream(folder.path() / "-mine.yaml") << sample_experiment();
        const Outcome outcome = alone_in(folder.path());
        HAS(outcome.out, "faceter init './-tickets.csv'");
        HAS(outcome.out, "faceter check './-mine.yaml'\n  faceter run './-mine.yaml' --project DIR\n");
        QVERIFY(alone_in(folder.path(), {"check", "./-mine.yaml"}).err.find("unknown flag") == std::string::npos);
    }
    void above_a_project_it_says_how_its_runs_stand() {
        const TemporaryDirectory folder;
        make_directories(folder.path() / "tensorboard/runs/first");  // another program's
        write_attempt(sample_run(folder.path() / "my project", 1), 1, 3, "finished");
        std::ofstream(folder.path() / "mine.yaml") << sample_experiment();
        const Outcome outcome = alone_in(folder.path());
        QCOMPARE(outcome.code, 0);
        HAS(outcome.out, "Projects here:\n  faceter list --project 'my project'   1 done\nExperiments here:\n");
        HAS(outcome.out, "faceter run mine.yaml --project 'my project'\n");
    }
    void in_a_project_it_says_what_runs_and_what_comes_next() {
        const TemporaryDirectory folder;
        const RunDirectory done = sample_run(folder.path(), 1), failed = sample_run(folder.path(), 2);
        write_attempt(done, 1, 3, "finished");
        write_attempt(failed, 1, 3, "failed");
        const Outcome outcome = alone_in(folder.path());
        QCOMPARE(outcome.code, 0);
        HAS(outcome.out, "1 done, 1 failed");
        HAS(outcome.out, "faceter resume " + failed.info().name);
        HAS(outcome.out, "faceter compare");
    }
    void a_report_on_all_of_a_project_names_the_runs_that_it_has_nothing_of() {
        const TemporaryDirectory folder;
        const RunDirectory done = sample_run(folder.path(), 1), waiting = sample_run(folder.path(), 2);
        write_attempt(done, 1, 3, "finished");
        write_results(done, 1.0);
        QCOMPARE(alone_in(folder.path(), {"report", "--output", "r.html"}).code, 0);
        HAS(read_file(folder.path() / "r.html"), waiting.info().shown_name() + " has no results yet");
        QCOMPARE(alone_in(folder.path(), {"report", QString::fromStdString(done.info().id), "--output", "one.html"}).code, 0);
        QVERIFY(read_file(folder.path() / "one.html").find("has no results yet") == std::string::npos);
    }
};

FACETER_TEST(TestOverview)
#include "test_overview.moc"
