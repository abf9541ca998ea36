#include "cli/program.h"
#include "packaging/command.h"
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
    void a_run_whose_profile_is_gone_does_not_end_the_following_of_others() {
        const TemporaryDirectory folder, config;
        const RunDirectory there = sample_run(folder.path(), 0), here = sample_run(folder.path(), 1);
        write_attempt(there, 1, 5, "");
        write_launch(there, {"ssh", "gone", "", "/elsewhere"});
        write_attempt(here, 1, 5, "finished");
        const Outcome followed = faceter::testing::faceter({"follow", there.info().id, here.info().id, "--project", folder.path().string()},
                                                           {"XDG_CONFIG_HOME=" + config.path().string()});
        QCOMPARE(followed.code, 5);
        HAS(followed.err, "no profile 'gone'");
        HAS(followed.err, "done in");
        HAS(followed.err, "nothing more comes: 1 run was not followed to the end");
    }
    void a_run_of_another_user_is_running_where_proc_hides_its_process() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        write_attempt(run, 1, 5, "");  // by this process
        fs::permissions(folder.path(), fs::perms(0755));
        const auto as_nobody = [](const std::string& command) {
            const std::string script =
                "mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid=65534 --regid=65534 --clear-groups env "
                "FACETER_CACHE=/nonexistent " +
                command;
            return packaging::run("unshare", {"--mount", "sh", "-c", QString::fromStdString(script)});
        };
        const std::string faceter = "'" FACETER_BINARY_DIR "/bin/faceter' ";
        if (as_nobody(faceter + "--version").code != 0)
            QSKIP("this machine lets nobody be another user with a /proc of his own (unshare, setpriv)");
        if (as_nobody("cat '" + run.attempt_journal(1).string() + "' '" + (run.folder() / "run.json").string() + "'").code != 0)
            QSKIP("what this user writes is for nobody else to read (umask, TMPDIR)");
        HAS(as_nobody(faceter + "show " + run.info().id + " --project '" + folder.path().string() + "'").output.toStdString(),
            "state     running");
    }
    void processes_are_refused_where_a_profile_says_them() {
        const TemporaryDirectory folder, config;
        const RunDirectory run = sample_run(folder.path());
        write_attempt(run, 1, 5, "stopped");
        write_launch(run, {"slurm", "gpu", "12_0", folder.path() / "jobs/j-abcdef"});
        make_directories(config.path() / "faceter/profiles");
        write_file_atomic(config.path() / "faceter/profiles/gpu.yaml", "kind: slurm\n");
        fs::permissions(config.path() / "faceter/profiles/gpu.yaml", fs::perms(0600));
        const auto refused = [&](const std::vector<std::string>& words) {
            std::vector<std::string> all = words;
            all.insert(all.end(), {run.info().id, "--project", folder.path().string()});
            return faceter::testing::faceter(all, {"XDG_CONFIG_HOME=" + config.path().string()});
        };
        const std::vector<std::vector<std::string>> calls{{"resume", "--devices", "2"}, {"rerun", "--profile", "gpu", "--jobs", "2"}};
        for (const std::vector<std::string>& words : calls) {
            const Outcome outcome = refused(words);
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, "profile 'gpu' says how many start there");
        }
        QCOMPARE(Project(folder.path(), false).run_ids().size(), std::size_t{1});
    }
};

FACETER_TEST(TestJobs)
#include "test_jobs.moc"
