#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "experiment/machine.h"
#include "launch/elsewhere.h"
#include "launch/slurm.h"
#include "launch/slurm_submission.h"
#include "launch/supervisor.h"
#include "record/launch.h"
#include "record/staged_runs.h"
#include "record/state.h"
#include "support/fake_programs.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Profile slurm() { return parse_profile("kind: slurm\n", "/config/gpu.yaml"); }

/// A SLURM that queues every submission as job 12 and knows it by the name in its script; NAME is what it was asked for.
struct FakeSlurm {
    TemporaryDirectory folder;
    FakePrograms programs;
    std::string queue = (folder.path() / "queue").string();
    FakeSlurm() {
        qputenv("FACETER_WORKER", "/opt/faceter-worker");
        accept();
        answer();
    }
    ~FakeSlurm() { qunsetenv("FACETER_WORKER"); }
    void accept(const std::string& then = "echo 12") const {
        programs.answers("sbatch", "for last; do :; done\nsed -n 's/^#SBATCH --job-name=//p' \"$last\" > '" + queue + "'\n" + then);
    }
    void refuse() const { programs.answers("sbatch", "echo 'sbatch: error: invalid partition' >&2; exit 1"); }
    void answer() const {
        programs.answers("squeue", "for word; do case $word in --name=*) name=${word#--name=};; --format=%j) cat '" + queue +
                                       "'; exit;; esac; done\n"
                                       "[ -n \"$name\" ] && [ \"$name\" != \"$(cat '" +
                                       queue +
                                       "')\" ] && exit 0\n"
                                       "[ -e '" +
                                       queue + "' ] && printf '12_0|PENDING|Priority|\\n12_1|PENDING|Priority|\\n'; exit 0");
        programs.answers("sacct", "echo 'sacct: error: Slurm accounting storage is disabled' >&2; exit 1");
    }
    void is_down() const {
        for (const char* program : {"squeue", "sacct"}) programs.answers(program, "echo 'Unable to contact slurm controller' >&2; exit 1");
    }
};

struct Submitted {
    FakeSlurm slurm;
    TemporaryDirectory folder;
    Project project{folder.path(), true};
    std::vector<RunDirectory> runs{sample_run(folder.path(), 1), sample_run(folder.path(), 2)};

    /// In a process that dies where the hook says.
    void submit_and_die(const FileFaultHook& hook) const {
        const pid_t child = ::fork();
        if (child == 0) {
            set_file_fault_hook(hook);
            try {
                submit_to_slurm(project, ::slurm(), runs);
            } catch (const std::exception&) {
            }
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (WEXITSTATUS(status) != 9) throw failure("the process did not die where it should");
    }
    bool job_folders_left() const { return fs::exists(folder.path() / "jobs") && !fs::is_empty(folder.path() / "jobs"); }
};

FileFaultHook dies_at(const std::string& file) {
    return [file](FileOperation operation, const fs::path& path) {
        if (operation == FileOperation::rename && path.filename() == file) ::_exit(9);
        return 0;
    };
}

FileFaultHook disk_is_full_at(const std::string& file) {
    return [file](FileOperation operation, const fs::path& path) {
        return operation == FileOperation::write && path.filename().string().starts_with(file) ? ENOSPC : 0;
    };
}

}  // namespace

class TestSubmission : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_submission_has_a_job_name_of_its_own() {
        const Submitted s;
        submit_to_slurm(s.project, ::slurm(), {s.runs[0]});
        const std::string first = read_file(s.slurm.queue);
        submit_to_slurm(s.project, ::slurm(), {s.runs[1]});
        QVERIFY(first.starts_with("faceter-quick-"));
        QVERIFY(first != read_file(s.slurm.queue));
    }
    void runs_of_a_job_that_waits_are_kept_where_the_disk_is_full() {
        for (const char* file : {"launch.json", "job.json"}) {
            const Submitted s;
            set_file_fault_hook(disk_is_full_at(file));
            EXPECT_ERROR(submit_to_slurm(s.project, ::slurm(), s.runs), "SLURM job 12 waits", "No space left", "are kept");
            set_file_fault_hook(nullptr);
            for (const RunDirectory& run : s.runs) {
                QCOMPARE(read_state(run).phase, RunPhase::queued);
                EXPECT_ERROR(prepare_resume({run}), "SLURM");  // would start it twice
                EXPECT_ERROR(s.project.trash(run.info().id), "waiting");
            }
            QVERIFY(refresh_slurm_jobs(s.project).empty());
            QCOMPARE(read_launch(s.runs[1])->job, std::string("12_1"));
            QCOMPARE(read_job(s.runs[0])->reason, std::string("Priority"));
        }
    }
    void threads_that_nobody_names_are_the_cores_of_the_job_and_not_this_machines() {
        const Submitted s;
        overwrite(s.folder.path() / "pairs.tsv", "a\tb\n");
        write_scifact(s.folder.path());
        const auto parsed = [&](const std::string& more) {
            return Experiment::parse(sample_experiment() + more, s.folder.path() / "quick.yaml", sample_catalogue(), {});
        };
        const auto profile = [](const std::string& more) { return parse_profile("kind: slurm\n" + more, "/config/gpu.yaml"); };
        const auto threads = [&](const std::string& of_profile, const std::string& more) {
            return submit_experiment(s.project, profile(of_profile), parsed(more), {}).front().settings().at("threads").get<int>();
        };
        QCOMPARE(threads("cpus_per_task: 3\ntasks_per_node: 2\n", ""), 6);
        QCOMPARE(threads("cpus_per_task: 3\n", "threads: 5\n"), 5);
        QCOMPARE(threads("", ""), 0);  // as many as its node gives it
        const StagedExperiment staged{s.folder.path(), "quick", sample_experiment(), false, parsed("").runs(), {}};
        QCOMPARE(submit_staged(s.project, profile("cpus_per_task: 3\n"), staged).front().settings().at("threads").get<int>(), 3);
        std::vector<RunDirectory> here;
        create_staged_runs(s.project, staged, here);
        QCOMPARE(here.front().settings().at("threads").get<int>(), usable_cores());
    }
    void an_experiment_is_not_taken_back_where_its_job_waits() {
        const Submitted s;
        overwrite(s.folder.path() / "pairs.tsv", "a\tb\n");
        write_scifact(s.folder.path());
        const Experiment experiment = Experiment::parse(sample_experiment(), s.folder.path() / "quick.yaml", sample_catalogue(), {});
        const std::size_t before = s.project.run_ids().size();
        set_file_fault_hook(disk_is_full_at("launch.json"));
        EXPECT_ERROR(submit_experiment(s.project, ::slurm(), experiment, {}), "SLURM job 12 waits");
        set_file_fault_hook(nullptr);
        const std::size_t made = s.project.run_ids().size();
        QVERIFY(made > before);
        s.slurm.refuse();
        EXPECT_ERROR(submit_experiment(s.project, ::slurm(), experiment, {}), "sbatch refused: sbatch: error: invalid partition");
        QCOMPARE(s.project.run_ids().size(), made);  // of these none stays
    }
    void runs_of_a_job_that_waits_stay_even_where_they_cannot_say_so_any_more() {
        const Submitted s;
        overwrite(s.folder.path() / "pairs.tsv", "a\tb\n");
        write_scifact(s.folder.path());
        const std::string control = s.project.runs_folder().string() + "/*/control";
        s.slurm.accept("rm -rf " + control + "; for run in " + s.project.runs_folder().string() + "/*; do : >$run/control; done; echo 12");
        const Experiment experiment = Experiment::parse(sample_experiment(), s.folder.path() / "quick.yaml", sample_catalogue(), {});
        EXPECT_ERROR(submit_experiment(s.project, ::slurm(), experiment, {}), "SLURM job 12 waits");
        QCOMPARE(s.project.run_ids().size(), std::size_t{2 + experiment.runs().size()});
    }
    void a_death_after_sbatch_leaves_a_job_that_is_found_by_its_name() {
        for (const char* file : {"launch.json", "job.json"}) {
            const Submitted s;
            s.submit_and_die(dies_at(file));
            QCOMPARE(read_state(s.runs[0]).phase, RunPhase::queued);
            EXPECT_ERROR(prepare_resume({s.runs[1]}), "SLURM");
            QVERIFY(refresh_slurm_jobs(s.project).empty());
            QCOMPARE(read_launch(s.runs[0])->job, std::string("12_0"));
            QVERIFY(read_state(s.runs[1]).cause.find("job 12_1") != std::string::npos);
            EXPECT_ERROR(prepare_resume({s.runs[0]}), "waits in SLURM");
        }
    }
    void a_death_before_sbatch_leaves_runs_that_can_be_started() {
        for (const char* file : {"job.sh", "runs", "submission.json", "submission"}) {
            const Submitted s;
            s.submit_and_die(dies_at(file));
            QVERIFY(refresh_slurm_jobs(s.project).empty());
            prepare_resume(s.runs);
            for (const RunDirectory& run : s.runs) QVERIFY(!read_launch(run));
            submit_to_slurm(s.project, ::slurm(), s.runs);
            QCOMPARE(read_launch(s.runs[1])->job, std::string("12_1"));
        }
    }
    void while_slurm_does_not_answer_nothing_is_decided() {
        const Submitted s;
        s.submit_and_die(dies_at("launch.json"));
        s.slurm.is_down();
        const std::vector<std::string> warnings = refresh_slurm_jobs(s.project);
        QCOMPARE(warnings.size(), std::size_t{1});
        QVERIFY2(warnings[0].find("not known yet") != std::string::npos, warnings[0].c_str());
        EXPECT_ERROR(prepare_resume({s.runs[0]}), "SLURM");
        s.slurm.answer();
        QVERIFY(refresh_slurm_jobs(s.project).empty());
        QCOMPARE(read_launch(s.runs[0])->job, std::string("12_0"));
    }
    void a_refusal_whose_submission_was_heard_all_the_same_is_no_refusal() {
        const Submitted s;
        s.slurm.accept("echo 'sbatch: error: Batch job submission failed: Socket timed out' >&2; exit 1");
        QCOMPARE(submit_to_slurm(s.project, ::slurm(), s.runs), std::string("12"));
        QCOMPARE(read_launch(s.runs[0])->job, std::string("12_0"));
    }
    void a_refusal_leaves_the_runs_as_they_were() {
        const Submitted s;
        write_job(s.runs[0], {"7_0", "CANCELLED", "None", "", 0});
        s.slurm.refuse();
        EXPECT_ERROR(submit_to_slurm(s.project, ::slurm(), s.runs), "invalid partition");
        QCOMPARE(read_job(s.runs[0])->job, std::string("7_0"));
        QVERIFY(!is_being_submitted(s.runs[0]));
        QVERIFY(!s.job_folders_left());
    }
    void reruns_whose_job_is_refused_do_not_stay() {
        const Submitted s;
        s.slurm.refuse();
        EXPECT_ERROR(submit_alike(s.project, ::slurm(), s.runs), "sbatch refused");
        QCOMPARE(s.project.run_ids().size(), s.runs.size());
        s.slurm.accept();
        QCOMPARE(submit_alike(s.project, ::slurm(), s.runs).front().info().parent, s.runs.front().info().id);
    }
    void runs_that_cannot_be_started_here_do_not_stay() {
        const TemporaryDirectory folder;
        const Project project(folder.path(), true);
        const RunDirectory older = sample_run(folder.path(), 1), made = sample_run(folder.path(), 2);
        write_attempt(older, 1, 5, "stopped");
        const std::string queue = (folder.path() / "queue").string();
        write_file_atomic(queue, "");  // and no folder
        EXPECT_ERROR(start_queue(project, {older, made}, 1, 1, {older}), queue.c_str());
        QCOMPARE(project.run_ids(), std::vector<std::string>{older.info().id});
    }
    void a_time_out_while_the_queue_does_not_answer_is_kept_open() {
        const Submitted s;
        s.slurm.programs.answers("sbatch", "echo 'sbatch: error: Socket timed out' >&2; exit 1");
        s.slurm.is_down();
        EXPECT_ERROR(submit_to_slurm(s.project, ::slurm(), s.runs), "Socket timed out", "is not known", "are kept");
        QVERIFY(is_being_submitted(s.runs[0]));
        s.slurm.answer();
        QVERIFY(refresh_slurm_jobs(s.project).empty());
        prepare_resume(s.runs);
        QVERIFY(!s.job_folders_left());
    }
    void a_job_is_cancelled_where_slurm_has_the_name_that_the_project_gave_it() {
        const Submitted s;
        const std::string cancelled = (s.folder.path() / "cancelled").string();
        s.slurm.programs.answers("scancel", "echo \"$@\" >>'" + cancelled + "'");
        submit_to_slurm(s.project, ::slurm(), s.runs);
        const std::string own = read_file(s.slurm.queue);
        overwrite(s.slurm.queue, "training-of-mine\n");  // job 12 is another's by now, or always was
        EXPECT_ERROR(stop_run(s.runs[0]), "SLURM job 12_0 is called 'training-of-mine'", "nothing was cancelled");
        overwrite(s.slurm.queue, own.substr(0, own.size() - 7) + "ABCDEF\n");  // of another submission
        EXPECT_ERROR(stop_run(s.runs[0]), "nothing was cancelled");
        overwrite(s.slurm.queue, "");
        EXPECT_ERROR(stop_run(s.runs[0]), "squeue lists no job 12_0");
        QVERIFY(!fs::exists(cancelled));
        overwrite(s.slurm.queue, own);
        QCOMPARE(stop_run(s.runs[0]), std::string("is cancelled (SLURM job 12_0)"));
        QCOMPARE(read_file(cancelled), std::string("12_0\n"));
    }
    void a_project_from_elsewhere_cancels_nothing() {
        const Submitted s;
        const std::string cancelled = (s.folder.path() / "cancelled").string();
        s.slurm.programs.answers("scancel", "echo \"$@\" >>'" + cancelled + "'");
        overwrite(s.slurm.queue, "training-of-mine\n");
        for (const fs::path& folder : {s.folder.path() / "jobs/j-ABCDEF", fs::path("/nowhere/jobs/j-ABCDEF"), fs::path()}) {
            write_launch(s.runs[0], {"slurm", "gpu", "12_0", folder});
            write_job(s.runs[0], {"12_0", "PENDING", "Priority", "", 0});
            EXPECT_ERROR(stop_run(s.runs[0]), "SLURM job 12_0 is not known to be its", "scancel");
        }
        make_directories(s.folder.path() / "jobs/j-ABCDEF");
        write_launch(s.runs[0], {"slurm", "gpu", "12_0", s.folder.path() / "jobs/j-ABCDEF"});
        EXPECT_ERROR(stop_run(s.runs[0]), "is called 'training-of-mine'");
        QVERIFY(!fs::exists(cancelled));
    }
    void a_submission_under_the_name_of_another_job_is_not_taken_in() {
        const Submitted s;
        s.submit_and_die(dies_at("launch.json"));
        const fs::path file = fs::directory_iterator(s.folder.path() / "jobs")->path() / "submission.json";
        Json submission = read_json(file);
        submission["name"] = "training-of-mine";
        write_file_atomic(file, submission.dump());
        overwrite(s.slurm.queue, "training-of-mine\n");
        const std::vector<std::string> warnings = refresh_slurm_jobs(s.project);
        QCOMPARE(warnings.size(), std::size_t{1});
        QVERIFY2(warnings[0].find("not what a submission writes") != std::string::npos, warnings[0].c_str());
        QVERIFY(!read_launch(s.runs[0]));
    }
    void who_is_still_submitting_is_not_disturbed() {
        const Submitted s;
        s.slurm.accept("touch '" + s.slurm.queue + ".asked'\nwhile [ ! -e '" + s.slurm.queue + ".go' ]; do sleep 0.02; done\nrm '" +
                       s.slurm.queue + "'\nexit 1");
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                submit_to_slurm(s.project, ::slurm(), s.runs);
            } catch (const std::exception&) {
            }
            ::_exit(0);
        }
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(s.slurm.queue + ".asked"), 60'000);
        QVERIFY(refresh_slurm_jobs(s.project).empty());
        QVERIFY(is_being_submitted(s.runs[0]));
        QVERIFY(!read_launch(s.runs[0]));
        overwrite(s.slurm.queue + ".go", "");
        ::waitpid(child, nullptr, 0);
        QVERIFY(!is_being_submitted(s.runs[0]));
    }
};

FACETER_TEST(TestSubmission)
#include "test_submission.moc"
