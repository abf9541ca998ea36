#include "cli/program.h"
#include "record/launch.h"
#include "support/fake_programs.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// Commands for runs that somebody else runs: SLURM, which is a script here, or another user.
class TestJobs : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void what_slurm_cannot_say_is_told_once_and_not_at_every_look() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        const fs::path job = folder.path() / "jobs/j-abcdef";
        make_directories(job);
        write_file_atomic(job / "job.json", Json{{"job", "12"}, {"profile", "gpu"}, {"runs", {run.info().id}}}.dump());
        write_launch(run, {"slurm", "gpu", "12_0", job});
        write_job(run, {"12_0", "PENDING", "Priority", "", 0});
        const FakePrograms programs;
        const std::string looks = (folder.path() / "looks").string();
        programs.answers("squeue", "echo look >> " + looks + "; if [ $(wc -l < " + looks +
                                       ") -gt 3 ]; then echo '12_0|CANCELLED|None|'; else echo 'it is down' >&2; exit 1; fi");
        const Outcome followed = faceter::testing::faceter({"follow", "--project", folder.path().string()});
        QCOMPARE(followed.code, 6);
        HAS(followed.err, "squeue: it is down");
        std::size_t told = 0;
        for (std::size_t at = 0; (at = followed.err.find("may be old", at)) != std::string::npos; ++at) ++told;
        QCOMPARE(told, std::size_t{2});  // before it follows, and at its first look of three
    }
};

FACETER_TEST(TestJobs)
#include "test_jobs.moc"
