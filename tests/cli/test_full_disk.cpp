#include "cli/program.h"
#include "launch/elsewhere.h"
#include "packaging/command.h"
#include "store/store.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Exit code of `faceter` whose complaints go to a disk that is full; `out` gets what it prints.
int with_full_log(const QStringList& arguments, std::string& out) {
    QProcess process;
    process.setStandardErrorFile(QStringLiteral("/dev/full"));
    process.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"), arguments);
    process.waitForFinished(60'000);
    out = process.readAllStandardOutput().toStdString();
    return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
}

}  // namespace

/// Commands where a disk is full, or cannot be written.
class TestFullDisk : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_message_that_cannot_be_said_ends_nothing() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        write_attempt(run, 1, 5, "finished");
        make_directories(folder.path() / "runs/no-run");  // a warning
        std::string out;
        QCOMPARE(with_full_log({"list", "--json", "--project", QString::fromStdString(folder.path().string())}, out), 0);
        QCOMPARE(parse_json(out, "output")["runs"].size(), std::size_t{1});
        QCOMPARE(with_full_log({"show", "nothing", "--project", QString::fromStdString(folder.path().string())}, out), 2);
    }
    void nothing_is_advised_for_a_disk_that_cannot_be_written() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        write_attempt(run, 1, 5, "finished");
        const std::string project = folder.path().string();
        const auto in_a_mount = [&](const std::string& then) {
            return packaging::run("unshare", {"--map-root-user", "--mount", "sh", "-c",
                                              packaging::text("mount --bind '" + project + "' '" + project +
                                                              "' && mount -o remount,bind,ro '" + project + "' && " + then)});
        };
        if (in_a_mount("true").code != 0) QSKIP("this machine lets nobody mount a folder of one's own (unshare)");
        const auto deleted = in_a_mount(FACETER_BINARY_DIR "/bin/faceter delete " + run.info().id + " --project '" + project + "'");
        const std::string said = deleted.output.toStdString();
        QCOMPARE(deleted.code, 5);
        HAS(said, "Read-only file system");
        QVERIFY2(said.find("--now") == std::string::npos, said.c_str());
    }
    void a_supervisor_whose_log_lies_on_a_full_disk_works_its_queue_off() {
        const TemporaryDirectory folder;
        const fs::path queue = folder.path() / "queue/q-abcdef";
        make_directories(queue / "done");
        write_file_atomic(queue / "queue.json", Json{{"runs", {(folder.path() / "runs/gone").string()}}, {"worker", "/bin/false"}}.dump());
        std::string out;
        QCOMPARE(with_full_log({"supervise", QString::fromStdString(queue.string())}, out), 0);
        QVERIFY(fs::exists(queue / "done/gone"));
        QVERIFY(fs::exists(queue / "ended"));
    }
    void a_run_that_fills_the_disk_says_so() {
        const TemporaryDirectory folder, small;
        const RunDirectory run = sample_run(folder.path());
        const std::string project = folder.path().string(), place = small.path().string(), queue = "/queue/q-abcdef";
        make_directories(project + queue + "/done");
        write_file_atomic(project + queue + "/queue.json",
                          Json{{"runs", {place + "/runs/" + run.info().id}}, {"worker", place + "/worker"}}.dump());
        write_file_atomic(project + "/worker",
                          "#!/bin/sh\nmkdir \"$2/journal/1\"\ncat /dev/zero > \"$2/fill\"\ncat /dev/zero > \"$2/more\"\nexit 5\n");
        fs::permissions(project + "/worker", fs::perms(0700));
        const auto on_a_small_disk = [&](const std::string& then) {
            return packaging::run("unshare", {"--map-root-user", "--mount", "sh", "-c",
                                              packaging::text("mount -t tmpfs -o size=4m tmpfs '" + place + "' && " + then)});
        };
        if (on_a_small_disk("true").code != 0) QSKIP("this machine lets nobody mount a small disk (unshare)");
        const auto supervised =
            on_a_small_disk("cp -a '" + project + "/.' '" + place + "' && '" FACETER_BINARY_DIR "/bin/faceter' supervise '" + place +
                            queue + "'; cd '" + place + queue + "' && cat done/* ../../runs/*/journal/1/exit.json && ls");
        const std::string said = supervised.output.toStdString();
        HAS(said, "5\n");
        HAS(said, "the disk of " + place + "/runs/" + run.info().id + " is full; free some space");
        HAS(said, "ended\n");
        QVERIFY2(said.find("room") == std::string::npos, said.c_str());
    }
    void a_report_that_cannot_be_written_is_refused_before_the_work() {
        const TemporaryDirectory folder;
        sample_run(folder.path());  // has no scores: the work would fail
        const auto report = [&](const std::string& flag, const std::string& file) {
            return faceter::testing::faceter({"report", "--project", folder.path().string(), flag, (folder.path() / file).string()},
                                             {"FACETER_PDF=/bin/true"});
        };
        HAS(report("--output", "missing/report.html").err,
            "missing/report.html: cannot create: No such file or directory; there is no folder " + (folder.path() / "missing").string() +
                ", make it first: mkdir -p ");
        HAS(report("--output", "missing/report.HTML").err, "missing/report.HTML: cannot create");
        HAS(report("--pdf", "missing/report.pdf").err, "missing/report.pdf: cannot create");
        HAS(report("--output", "report.docx").err, "ends in .html, .tex");
        make_directories(folder.path() / "taken.html");
        HAS(report("--output", "taken.html").err, "taken.html: cannot write: Is a directory");
    }
    void a_bundle_that_cannot_be_written_is_refused_before_the_work() {
        const TemporaryDirectory folder;
        sample_run(folder.path());  // is not over: the work would be refused
        write_file_atomic(folder.path() / "taken", "");
        HAS(faceter::testing::faceter(
                {"bundle", "--project", folder.path().string(), "--output", (folder.path() / "taken/bundle.tar.gz").string()})
                .err,
            "taken: cannot create folder: ");
    }
    void a_limit_on_the_size_of_files_is_said_and_leaves_nothing() {
        const TemporaryDirectory folder;
        for (const std::size_t index : {0, 1}) {
            const RunDirectory run = sample_run(folder.path(), index);
            write_attempt(run, 1, 5, "finished");
            write_results(run, static_cast<double>(index));
        }
        QProcess process;
        process.start(QStringLiteral("/bin/bash"), {QStringLiteral("-c"),
                                                    QStringLiteral("ulimit -f 1; exec " FACETER_BINARY_DIR
                                                                   "/bin/faceter report --project \"$0\" --output \"$0/r.html\""),
                                                    QString::fromStdString(folder.path().string())});
        QVERIFY(process.waitForFinished(60'000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 5);
        HAS(process.readAllStandardError().toStdString(), "cannot write: File too large; files may not be larger here (ulimit -f)");
        for (const auto& entry : fs::directory_iterator(folder.path()))
            QVERIFY2(entry.path().filename().string().find("r.html") == std::string::npos, entry.path().c_str());
    }
    void a_run_that_cannot_be_begun_leaves_nothing() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        set_file_fault_hook([](FileOperation operation, const fs::path& path) {
            return operation == FileOperation::write && path.string().find("experiment.yaml") != std::string::npos ? ENOSPC : 0;
        });
        EXPECT_ERROR(RunDirectory::create_like(folder.path(), run), "No space left on device");
        set_file_fault_hook(nullptr);
        QCOMPARE(std::distance(fs::directory_iterator(folder.path() / "runs"), {}), std::ptrdiff_t{1});
    }
    void where_one_of_several_runs_cannot_be_made_none_stays() {
        const TemporaryDirectory folder;
        const Project project(folder.path(), true);
        const Experiment experiment = parse_sample();
        int made = 0;
        set_file_fault_hook([&made](FileOperation operation, const fs::path& path) {
            return operation == FileOperation::rename && path.filename() == "experiment.yaml" && ++made == 3 ? ENOSPC : 0;
        });
        const auto make = [&](std::vector<RunDirectory>& runs) {
            for (const ResolvedRun& run : experiment.runs()) runs.push_back(RunDirectory::create(folder.path(), experiment, run, false));
        };
        EXPECT_ERROR(make_all_or_none(project, make), "No space left on device");
        set_file_fault_hook(nullptr);
        QCOMPARE(made, 3);
        QVERIFY(project.run_ids().empty());
        QCOMPARE(make_all_or_none(project, make).size(), experiment.runs().size());
    }
    void a_run_that_cannot_be_begun_takes_no_name() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        for (const char* file : {"experiment.yaml", "run.json"}) {
            set_file_fault_hook([file](FileOperation operation, const fs::path& path) {
                return operation == FileOperation::write && path.string().find(file) != std::string::npos ? ENOSPC : 0;
            });
            EXPECT_ERROR(RunDirectory::create_like(folder.path(), run), "No space left on device");
            set_file_fault_hook(nullptr);
        }
        const std::string first = run.info().name, second = RunDirectory::create_like(folder.path(), run).info().name;
        QVERIFY(first.ends_with("-1"));
        QCOMPARE(second, first.substr(0, first.size() - 1) + "2");
    }
};

FACETER_TEST(TestFullDisk)
#include "test_full_disk.moc"
