#include <csignal>

#include "cli/program.h"
#include "cli/ssh_server.h"
#include "cli/tiny_experiment.h"
#include "common/strings.h"
#include "record/launch.h"
#include "support/checkout.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 240'000;

/// Children of a process that are called so.
std::vector<pid_t> children_called(qint64 parent, const std::string& name) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto pid = parse_int(entry.path().filename().string());
        if (!pid) continue;
        try {
            const std::string stat = read_file(entry.path() / "stat", 1 << 16);
            const std::size_t close = stat.rfind(')');
            if (close == std::string::npos || stat.find("(" + name + ")") == std::string::npos) continue;
            if (parse_int(split(std::string_view(stat).substr(close + 2), ' ')[1]) == parent) found.push_back(static_cast<pid_t>(*pid));
        } catch (const std::exception&) {  // it has just ended
        }
    }
    return found;
}

}  // namespace

/// Runs on "another machine": this one, through its ssh.
class SlowSsh : public QObject {
    Q_OBJECT
    std::unique_ptr<TemporaryDirectory> folder_;
    std::unique_ptr<Guardian> guardian_;
    std::unique_ptr<SshServer> server_;

    std::string in(const std::string& name) const { return (folder_->path() / name).string(); }
    std::vector<std::string> with_project(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--project", in("here")});
        return arguments;
    }
    Outcome call(const std::vector<std::string>& arguments) const {
        return faceter::testing::faceter(with_project(arguments), {"XDG_CONFIG_HOME=" + in("config")});
    }
    std::unique_ptr<QProcess> follow(const RunDirectory& run) const {
        auto process = std::make_unique<QProcess>();
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert("XDG_CONFIG_HOME", QString::fromStdString(in("config")));
        process->setProcessEnvironment(variables);
        process->start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"),
                       {"follow", QString::fromStdString(run.info().id), "--project", QString::fromStdString(in("here"))});
        return process;
    }
    RunDirectory submit(const std::string& experiment) const {
        const Outcome outcome = call({"submit", in(experiment), "--profile", "box", "--json"});
        if (outcome.code != 0) throw failure("{}", outcome.err);
        return Project(in("here"), false).find_run(json_of(outcome)["runs"][0]["id"].get<std::string>());
    }
    RunDirectory there(const RunDirectory& run) const { return RunDirectory(folder_->path() / "there/runs" / run.info().id); }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        if (!SshServer::installed()) QSKIP("there is no sshd here (openssh-server)");
        folder_ = std::make_unique<TemporaryDirectory>();
        guardian_ = std::make_unique<Guardian>(folder_->path());
        server_ = std::make_unique<SshServer>(folder_->path() / "ssh");
        QTRY_VERIFY2_WITH_TIMEOUT(server_->answers(), server_->said().c_str(), patience_ms);
        make_directories(in("there"));
        write_tiny_pairs(in("there/pairs.jsonl"));  // data lie over there, beside the project
        write_tiny_experiment(in("short.yaml"), "pairs.jsonl", 5);
        write_tiny_experiment(in("long.yaml"), "pairs.jsonl", 1'000'000);
        make_directories(in("config/faceter/profiles"));
        write_file_atomic(in("config/faceter/profiles/box.yaml"),
                          "kind: ssh\nhost: box\nfolder: " + in("there") +
                              "\nfaceter: " FACETER_BINARY_DIR "/bin/faceter\nconfig: " + server_->config() + "\n");
    }
    void cleanupTestCase() {
        server_.reset();
        guardian_.reset();
    }

    void a_run_over_there_is_here_in_the_end_without_its_checkpoints() {
        const RunDirectory run = submit("short.yaml");
        QCOMPARE(read_launch(run)->profile, std::string("box"));
        const Outcome followed = call({"follow"});
        QVERIFY2(followed.code == 0, followed.err.c_str());
        QCOMPARE(read_state(run).phase, RunPhase::done);
        QCOMPARE(read_file(run.attempt_journal(1)), read_file(there(run).attempt_journal(1)));
        QCOMPARE(read_file(run.results() / "_model.json"), read_file(there(run).results() / "_model.json"));
        QVERIFY(fs::exists(run.attempt_log(1)));
        QVERIFY(fs::is_empty(run.checkpoints()) && !fs::exists(run.folder() / "model"));
        QCOMPARE(json_of(call({"list", "--json", "--state", "done"}))["runs"].size(), std::size_t{1});
        for (const auto& entry : fs::directory_iterator(in("there")))
            QVERIFY2(!entry.path().filename().string().starts_with("submitted-"), "the copy of the experiment is left");
    }
    void a_lost_connection_loses_nothing_and_a_stop_goes_over_it() {
        const RunDirectory run = submit("long.yaml");
        auto first = follow(run);
        QTRY_VERIFY_WITH_TIMEOUT(step_of(run) >= 3, patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(children_called(first->processId(), "ssh").size() == 1, patience_ms);
        const std::int64_t before = step_of(run);
        ::kill(children_called(first->processId(), "ssh").front(), SIGKILL);
        QByteArray said;
        QTRY_VERIFY_WITH_TIMEOUT((said += first->readAllStandardError()).contains("lost the connection to box"), patience_ms);
        QTRY_VERIFY_WITH_TIMEOUT(step_of(run) > before, patience_ms);  // it has connected anew
        first->kill();
        first->waitForFinished();
        const std::int64_t alone = step_of(there(run));
        QTRY_VERIFY_WITH_TIMEOUT(step_of(there(run)) > alone, patience_ms);  // nobody listens, and it goes on
        QCOMPARE(read_state(there(run)).phase, RunPhase::running);
        auto second = follow(run);
        QTRY_VERIFY_WITH_TIMEOUT(step_of(run) > alone, patience_ms);
        const Outcome stopped = call({"stop", run.info().id});
        QVERIFY2(stopped.code == 0, stopped.err.c_str());
        HAS(stopped.err, "will stop with a checkpoint");
        QVERIFY(second->waitForFinished(patience_ms));
        QCOMPARE(second->exitCode(), 6);
        QCOMPARE(read_state(run).phase, RunPhase::stopped);
        QCOMPARE(read_file(run.attempt_journal(1)), read_file(there(run).attempt_journal(1)));
        QCOMPARE(read_file(run.attempt_log(1)), read_file(there(run).attempt_log(1)));
        const Outcome resumed = call({"resume", run.info().id, "--detach"});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        auto third = follow(run);
        QTRY_VERIFY_WITH_TIMEOUT(run.attempts().size() == 2 && step_of(run) > alone, patience_ms);
        QCOMPARE(call({"stop", run.info().id}).code, 0);
        QVERIFY(third->waitForFinished(patience_ms));
        QCOMPARE(third->exitCode(), 6);
    }
    void what_the_other_machine_refuses_is_said_here() {
        fs::rename(in("there/pairs.jsonl"), in("there/moved.jsonl"));
        const Outcome outcome = call({"submit", in("short.yaml"), "--profile", "box"});
        fs::rename(in("there/moved.jsonl"), in("there/pairs.jsonl"));
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "pairs.jsonl");
        write_file_atomic(in("config/faceter/profiles/nowhere.yaml"),
                          "kind: ssh\nhost: nowhere.invalid\nfolder: /x\nconfig: " + server_->config() + "\n");
        const Outcome nowhere = call({"submit", in("short.yaml"), "--profile", "nowhere"});
        QCOMPARE(nowhere.code, 5);
        HAS(nowhere.err, "nowhere.invalid: cannot be reached");
    }
};

FACETER_TEST(SlowSsh)
#include "slow_ssh.moc"
