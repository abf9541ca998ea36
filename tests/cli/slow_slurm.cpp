#include <QElapsedTimer>

#include "cli/program.h"
#include "cli/slurm_cluster.h"
#include "cli/tiny_experiment.h"
#include "record/launch.h"

using namespace faceter;
using namespace faceter::testing;

namespace {
constexpr int patience_ms = 120'000;  // of waiting between two looks; a look may take longer than that
}

/// Runs through a real SLURM that the test starts on this machine.
class SlowSlurm : public QObject {
    Q_OBJECT
    std::unique_ptr<TemporaryDirectory> folder_;
    std::unique_ptr<Guardian> guardian_;
    std::unique_ptr<SlurmCluster> cluster_;
    int projects_ = 0;
    std::string project_;

    std::string in(const std::string& name) const { return (folder_->path() / name).string(); }
    Outcome call(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--project", project_});
        return faceter::testing::faceter(arguments, {"XDG_CONFIG_HOME=" + in("config")});
    }
    void profile(const std::string& name, const std::string& text) const {
        make_directories(in("config/faceter/profiles"));
        write_file_atomic(in("config/faceter/profiles/" + name + ".yaml"), "kind: slurm\nmax_running: null\n" + text);
    }
    /// The id of the one run (or of several, the first's).
    RunDirectory submit(const std::string& experiment, const std::string& profile, std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments{"submit", in(experiment), "--profile", profile, "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = call(arguments);
        if (outcome.code != 0) throw failure("{}", outcome.err);
        return Project(project_, false).find_run(json_of(outcome)["runs"][0]["id"].get<std::string>());
    }
    /// As `faceter list` says, which asks SLURM.
    Json listed(const RunDirectory& run) const {
        const Json runs = json_of(call({"list", "--json"}))["runs"];
        for (const Json& row : runs)
            if (row["id"] == run.info().id) return row;
        return {};
    }
    bool is(const RunDirectory& run, const std::string& state) const { return listed(run)["state"] == state; }
    std::string submit_raw(const std::string& script, const std::vector<std::string>& options) const {
        write_file_atomic(in("raw.sh"), "#!/bin/sh\n" + script + "\n");
        std::vector<std::string> command{"sbatch", "--parsable", "--output=/dev/null"};
        command.insert(command.end(), options.begin(), options.end());
        command.push_back(in("raw.sh"));
        return run_command(command, {}, 30).output;
    }
    /// What scontrol ends with.
    static int limit_time(const RunDirectory& run, qint64 minutes) {
        return run_command({"scontrol", "update", "JobId=" + read_launch(run)->job, fmt::format("TimeLimit={}", minutes)}, {}, 30).code;
    }
    bool queue_is_empty() const { return run_command({"squeue", "--noheader"}, {}, 30).output.empty(); }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        if (!SlurmCluster::installed()) QSKIP("SLURM is not installed here (slurm-wlm and munge)");
        folder_ = std::make_unique<TemporaryDirectory>();
        fs::permissions(folder_->path(), fs::perms(0755));  // munged wants its socket to be reached by all
        qputenv("SBATCH_JOB_NAME", "of-the-user");          // as a login shell may have it: jobs are found, and cancelled, by their names
        guardian_ = std::make_unique<Guardian>(folder_->path());
        for (int trial = 1; trial <= 3 && !(cluster_ && cluster_->ready()); ++trial) {  // another process may take a port first
            cluster_.reset();
            const std::string folder = in("cluster" + std::to_string(trial));
            make_directories(folder);
            cluster_ = std::make_unique<SlurmCluster>(folder);
            for (int look = 0; look < 600 && !cluster_->ready(); ++look) QTest::qWait(50);
        }
        QVERIFY2(cluster_->ready(), cluster_->said().c_str());
        write_tiny_pairs(in("pairs.jsonl"));
        write_tiny_experiment(in("short.yaml"), "pairs.jsonl", 5);
        write_tiny_experiment(in("long.yaml"), "pairs.jsonl", 1'000'000);
        profile("low", "partition: low\ntime: \"30\"\ngrace_s: 30\n");
    }
    void init() { project_ = in("project" + std::to_string(++projects_)); }
    void cleanup() {
        if (!cluster_) return;
        run_command({"scancel", "--user=" + std::to_string(::getuid())}, {}, 30);
        QTRY_VERIFY_WITH_TIMEOUT(queue_is_empty(), patience_ms);
    }
    void cleanupTestCase() {
        cluster_.reset();
        guardian_.reset();
    }

    void an_array_of_six_runs_is_followed_to_its_end() {
        const RunDirectory first = submit("short.yaml", "low", {"--seeds", "1,2,3,4,5,6"});
        const Outcome followed = call({"follow"});
        QVERIFY2(followed.code == 0, followed.err.c_str());
        HAS(followed.err, "[6/6] MoTE-6 seed 6  done in");
        const Json runs = json_of(call({"list", "--json"}))["runs"];
        QCOMPARE(runs.size(), std::size_t{6});
        for (const Json& row : runs) {
            QCOMPARE(row["state"].get<std::string>(), std::string("done"));
            const RunDirectory run = Project(project_, false).find_run(row["id"].get<std::string>());
            QVERIFY(fs::exists(run.attempt_log(1)));
            QTRY_VERIFY_WITH_TIMEOUT(read_worker_exit(run, 1), patience_ms);  // the journal's end comes first
            QCOMPARE(read_worker_exit(run, 1)->code, 0);
            QCOMPARE(read_launch(run)->job.substr(0, read_launch(run)->job.find('_')),
                     read_launch(first)->job.substr(0, read_launch(first)->job.find('_')));
        }
        HAS(call({"show", first.info().id}).out, "through profile low, SLURM job " + read_launch(first)->job);
        QTRY_VERIFY_WITH_TIMEOUT((call({"list"}), fs::exists(read_launch(first)->folder / "over")), patience_ms);
    }
    void a_run_that_loses_its_place_goes_on_from_its_checkpoint_and_stops_when_asked() {
        const RunDirectory run = submit("long.yaml", "low");
        QTRY_VERIFY_WITH_TIMEOUT(step_of(run) >= 3, patience_ms);
        const std::string other = submit_raw("sleep 8", {"--partition=high", "--exclusive"});
        QVERIFY(!other.empty());
        QTRY_VERIFY_WITH_TIMEOUT(is(run, "queued"), patience_ms);
        HAS(listed(run)["cause"].get<std::string>(), "SLURM");
        QTRY_VERIFY_WITH_TIMEOUT(run.attempts().size() == 2 && step_of(run) > 0 && is(run, "running"), patience_ms);
        QCOMPARE(read_journal(run.attempt_journal(1)).events.back().type, std::string("stopped"));
        QVERIFY(first_event(run, 2).fields["from_step"].get<std::int64_t>() >= 3);
        HAS(call({"stop", run.info().id}).err, "will stop with a checkpoint");
        QTRY_VERIFY_WITH_TIMEOUT(is(run, "stopped"), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(queue_is_empty(), patience_ms);
        QCOMPARE(run.attempts().size(), std::size_t{2});
        QCOMPARE(call({"follow", run.info().id}).code, 6);
        // On again through the same profile, and this time cancelled by a second stop.
        const Outcome resumed = call({"resume", run.info().id, "--json"});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        QTRY_VERIFY_WITH_TIMEOUT(run.attempts().size() == 3 && step_of(run) > 0, patience_ms);
        QVERIFY(first_event(run, 3).fields["from_step"].get<std::int64_t>() > 3);
        QCOMPARE(call({"resume", run.info().id}).code, 2);
        run.request("stop");
        HAS(call({"stop", run.info().id}).err, "is cancelled");
        QTRY_VERIFY_WITH_TIMEOUT(is(run, "stopped"), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(queue_is_empty(), patience_ms);
    }
    void a_running_job_that_scancel_ends_is_stopped_and_does_not_come_back() {
        const RunDirectory run = submit("long.yaml", "low");
        QTRY_VERIFY_WITH_TIMEOUT(step_of(run) >= 1, patience_ms);
        QCOMPARE(run_command({"scancel", read_launch(run)->job}, {}, 30).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(is(run, "stopped"), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(queue_is_empty(), patience_ms);
        QVERIFY(is(run, "stopped"));
        QCOMPARE(run.attempts().size(), std::size_t{1});
    }
    /// SLURM may warn a minute early: the limit, in whole minutes, is only lowered once the worker trains, and raised for the next attempt.
    void a_run_whose_time_is_up_writes_a_checkpoint_and_is_requeued() {
        profile("warned", "partition: low\ntime: \"30\"\ngrace_s: 90\n");
        QElapsedTimer submitted;
        submitted.start();
        const RunDirectory run = submit("long.yaml", "warned");
        QTRY_VERIFY_WITH_TIMEOUT(step_of(run) >= 1, patience_ms);
        QCOMPARE(limit_time(run, submitted.elapsed() / 60'000 + 2), 0);  // between one minute and two are left
        QTRY_VERIFY_WITH_TIMEOUT(read_worker_exit(run, 1), patience_ms);
        QTRY_COMPARE_WITH_TIMEOUT(limit_time(run, 30), 0, patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(run.attempts().size() >= 2, patience_ms);
        QCOMPARE(read_worker_exit(run, 1)->code, 6);
        QCOMPARE(read_journal(run.attempt_journal(1)).events.back().type, std::string("stopped"));
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(run.attempt_journal(2)) && !read_journal(run.attempt_journal(2)).events.empty(), patience_ms);
        QVERIFY(!first_event(run, 2).fields["from_checkpoint"].get<std::string>().empty());
    }
    void an_element_that_is_warned_is_requeued_alone() {
        submit("long.yaml", "low", {"--seeds", "1,2"});
        std::vector<RunDirectory> runs;
        for (const std::string& id : Project(project_, false).run_ids()) runs.emplace_back(fs::path(project_) / "runs" / id);
        QCOMPARE(runs.size(), std::size_t{2});
        QTRY_VERIFY_WITH_TIMEOUT(step_of(runs[0]) >= 1 && step_of(runs[1]) >= 1, patience_ms);
        const std::size_t last = read_launch(runs[0])->job.ends_with("_1") ? 0 : 1;  // SLURM gives it the number of the whole array
        QCOMPARE(run_command({"scancel", "--signal=USR1", "--batch", read_launch(runs[last])->job}, {}, 30).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(runs[last].attempts().size() == 2 && step_of(runs[last]) > 0, patience_ms);
        QCOMPARE(runs[1 - last].attempts().size(), std::size_t{1});
        QVERIFY(is(runs[1 - last], "running"));
    }
    void a_run_that_waits_is_cancelled_and_one_without_a_word_says_why() {
        submit_raw("sleep 600", {"--partition=high", "--exclusive"});
        const RunDirectory waiting = submit("short.yaml", "low");
        QVERIFY(is(waiting, "queued"));
        HAS(listed(waiting)["cause"].get<std::string>(), "waits in SLURM");
        HAS(call({"stop", waiting.info().id}).err, "is cancelled");
        QTRY_VERIFY_WITH_TIMEOUT(is(waiting, "stopped"), patience_ms);
        run_command({"scancel", "--user=" + std::to_string(::getuid())}, {}, 30);
        profile("broken", "partition: low\nsetup: [echo the module is not there, exit 3]\n");
        const RunDirectory broken = submit("short.yaml", "broken");
        QTRY_VERIFY_WITH_TIMEOUT(is(broken, "failed"), patience_ms);
        HAS(listed(broken)["cause"].get<std::string>(), "before the run said a word");
        HAS(call({"show", broken.info().id, "--log"}).out, "the module is not there");
        const RunDirectory killed = submit("long.yaml", "low");
        QTRY_VERIFY_WITH_TIMEOUT(step_of(killed) >= 1, patience_ms);
        run_command({"scancel", "--signal=KILL", "--full", read_launch(killed)->job}, {}, 30);
        QTRY_VERIFY_WITH_TIMEOUT(is(killed, "failed") || is(killed, "stopped"), patience_ms);
    }
    void jobs_that_slurm_has_forgotten_keep_what_is_known_of_them() {
        HAS(run_command({"sacct"}, {}, 30).complaint, "accounting storage is disabled");
        const RunDirectory done = submit("short.yaml", "low");
        QTRY_VERIFY_WITH_TIMEOUT(!done.attempts().empty() && read_worker_exit(done, 1), patience_ms);  // nobody asks SLURM meanwhile
        submit_raw("sleep 600", {"--partition=high", "--exclusive"});
        const RunDirectory seen = submit("long.yaml", "low"), unseen = submit("long.yaml", "low");
        HAS(call({"stop", seen.info().id}).err, "is cancelled");
        QTRY_VERIFY_WITH_TIMEOUT(is(seen, "stopped"), patience_ms);
        run_command({"scancel", "--user=" + std::to_string(::getuid())}, {}, 30);
        QTRY_VERIFY_WITH_TIMEOUT(run_command({"squeue", "--noheader", "--states=all"}, {}, 30).output.empty(), patience_ms);
        QCOMPARE(listed(done)["state"].get<std::string>(), std::string("done"));
        QCOMPARE(listed(seen)["state"].get<std::string>(), std::string("stopped"));
        QCOMPARE(listed(unseen)["state"].get<std::string>(), std::string("dead"));
        HAS(listed(unseen)["cause"].get<std::string>(), "SLURM no longer knows its job");
        for (const RunDirectory& run : {done, seen, unseen}) QVERIFY(fs::exists(read_launch(run)->folder / "over"));
        QCOMPARE(call({"resume", unseen.info().id, "--json"}).code, 0);  // which is how it goes on
        QTRY_VERIFY_WITH_TIMEOUT(step_of(unseen) > 0, patience_ms);
    }
    void one_run_trains_on_two_nodes() {
        profile("two",
                "partition: both\nnodes: 2\nenvironment: {MASTER_ADDR: 127.0.0.1, MASTER_PORT: \"" + std::to_string(free_port()) + "\"}\n");
        const RunDirectory run = submit("short.yaml", "two");
        const Outcome followed = call({"follow"});
        QVERIFY2(followed.code == 0, (followed.err + call({"show", run.info().id, "--log"}).out).c_str());
        for (int rank = 0; rank < 2; ++rank)
            QCOMPARE(read_journal(run.attempt_journal(1, rank)).events.back().type, std::string("finished"));
        QVERIFY(fs::exists(run.attempt_log(1, 1)));
        QTRY_VERIFY_WITH_TIMEOUT(read_worker_exit(run, 1), patience_ms);
        QCOMPARE(read_worker_exit(run, 1)->code, 0);
        // Both ranks write their checkpoint together when one of the nodes is taken away.
        const RunDirectory longer = submit("long.yaml", "two");
        QTRY_VERIFY_WITH_TIMEOUT(step_of(longer) >= 3, patience_ms);
        submit_raw("sleep 5", {"--partition=high", "--exclusive"});
        QTRY_VERIFY_WITH_TIMEOUT(longer.attempts().size() == 2 && step_of(longer) > 3, patience_ms);
        QCOMPARE(read_journal(longer.attempt_journal(1)).events.back().type, std::string("stopped"));
        QVERIFY(first_event(longer, 2).fields["from_step"].get<std::int64_t>() >= 3);
        HAS(call({"stop", longer.info().id}).err, "will stop with a checkpoint");
        QTRY_VERIFY_WITH_TIMEOUT(is(longer, "stopped"), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(read_worker_exit(longer, 2), patience_ms);
        QCOMPARE(read_worker_exit(longer, 2)->code, 6);
    }
    void what_would_be_submitted_is_printed_and_a_refusal_is_passed_on() {
        const Outcome dry = call({"submit", in("short.yaml"), "--profile", "low", "--dry-run"});
        QCOMPARE(dry.code, 0);
        HAS(dry.out, "#SBATCH --partition=low\n");
        QVERIFY(!fs::exists(project_));
        profile("wrong", "partition: missing\n");
        const Outcome refused = call({"submit", in("short.yaml"), "--profile", "wrong"});
        QCOMPARE(refused.code, 5);
        HAS(refused.err, "sbatch refused");
        HAS(refused.err, "partition");
        QVERIFY(Project(project_, false).run_ids().empty());
    }
};

FACETER_TEST(SlowSlurm)
#include "slow_slurm.moc"
