#include "cli/program.h"
#include "cli/slurm_cluster.h"
#include "cli/ssh_server.h"
#include "cli/tiny_experiment.h"
#include "record/launch.h"
#include "support/checkout.h"

using namespace faceter;
using namespace faceter::testing;

namespace {
constexpr int patience_ms = 120'000;  // of waiting between two looks; a look may take longer than that
}

/// A cluster whose login node is reached by ssh: SLURM over there, a mirror of the record here.
class SlowLoginNode : public QObject {
    Q_OBJECT
    std::unique_ptr<TemporaryDirectory> folder_;
    std::unique_ptr<Guardian> guardian_;
    std::unique_ptr<SlurmCluster> cluster_;
    std::unique_ptr<SshServer> server_;

    std::string in(const std::string& name) const { return (folder_->path() / name).string(); }
    Outcome call(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--project", in("here")});
        return faceter::testing::faceter(arguments, {"XDG_CONFIG_HOME=" + in("config"), "SLURM_CONF=/nonexistent"});  // here is no SLURM
    }
    void profile(const std::string& home, const std::string& name, const std::string& text) const {
        make_directories(in(home + "/faceter/profiles"));
        write_file_atomic(in(home + "/faceter/profiles/" + name + ".yaml"), text);
    }
    RunDirectory submit(const std::string& experiment) const {
        const Outcome outcome = call({"submit", in(experiment), "--profile", "login", "--json"});
        if (outcome.code != 0) throw failure("{}", outcome.err);
        return Project(in("here"), false).find_run(json_of(outcome)["runs"][0]["id"].get<std::string>());
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        if (!SlurmCluster::installed()) QSKIP("SLURM is not installed here (slurm-wlm and munge)");
        if (!SshServer::installed()) QSKIP("there is no sshd here (openssh-server)");
        folder_ = std::make_unique<TemporaryDirectory>();
        fs::permissions(folder_->path(), fs::perms(0755));
        guardian_ = std::make_unique<Guardian>(folder_->path());
        cluster_ = std::make_unique<SlurmCluster>(folder_->path());
        server_ = std::make_unique<SshServer>(folder_->path() / "ssh");
        QTRY_VERIFY2_WITH_TIMEOUT(cluster_->ready(), cluster_->said().c_str(), patience_ms);
        QTRY_VERIFY2_WITH_TIMEOUT(server_->answers(), server_->said().c_str(), patience_ms);
        make_directories(in("there"));
        write_tiny_pairs(in("there/pairs.jsonl"));
        write_tiny_experiment(in("short.yaml"), "pairs.jsonl", 5);
        write_tiny_experiment(in("long.yaml"), "pairs.jsonl", 1'000'000);
        profile("config", "login",
                "kind: ssh\nhost: box\nfolder: " + in("there") + "\nfaceter: " FACETER_BINARY_DIR "/bin/faceter\nconfig: " +
                    server_->config() + "\nprofile: low\nenvironment: {XDG_CONFIG_HOME: \"" + in("config there") + "\", SLURM_CONF: \"" +
                    in("slurm.conf") + "\"}\n");
        profile("config there", "low", "kind: slurm\npartition: low\nmax_running: null\ntime: \"30\"\ngrace_s: 30\n");
    }
    void cleanupTestCase() {
        server_.reset();
        cluster_.reset();
        guardian_.reset();
    }

    void a_run_of_the_cluster_is_followed_over_ssh_to_its_end() {
        const RunDirectory run = submit("short.yaml");
        QCOMPARE(read_launch(run)->launcher, std::string("ssh"));
        const Outcome followed = call({"follow"});
        QVERIFY2(followed.code == 0, followed.err.c_str());
        QCOMPARE(read_state(run).phase, RunPhase::done);
        QVERIFY(read_job(run).has_value());
        const RunDirectory there(folder_->path() / "there/runs" / run.info().id);
        QCOMPARE(read_launch(there)->launcher, std::string("slurm"));
        QCOMPARE(read_file(run.attempt_journal(1)), read_file(there.attempt_journal(1)));
    }
    void a_run_that_waits_over_there_says_so_here_and_is_cancelled() {
        write_file_atomic(in("raw.sh"), "#!/bin/sh\nsleep 600\n");
        QCOMPARE(run_command({"sbatch", "--partition=high", "--exclusive", "--output=/dev/null", in("raw.sh")}, {}, 30).code, 0);
        const RunDirectory run = submit("long.yaml");
        HAS(read_state(run).cause, "waits in SLURM");
        const Outcome stopped = call({"stop", run.info().id});
        QVERIFY2(stopped.code == 0, stopped.err.c_str());
        HAS(stopped.err, "is cancelled");
        QCOMPARE(call({"follow", run.info().id}).code, 6);
        QCOMPARE(read_state(run).phase, RunPhase::stopped);
    }
    void what_sbatch_refuses_over_there_is_said_here() {
        profile("config there", "low", "kind: slurm\npartition: missing\n");
        const Outcome refused = call({"submit", in("short.yaml"), "--profile", "login"});
        QCOMPARE(refused.code, 5);
        HAS(refused.err, "box: ");
        HAS(refused.err, "sbatch refused");
        HAS(refused.err, "invalid partition");
    }
};

FACETER_TEST(SlowLoginNode)
#include "slow_login_node.moc"
