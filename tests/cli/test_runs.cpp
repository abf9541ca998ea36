#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>
#include <future>

#include "cli/program.h"
#include "cli/shell_worker.h"
#include "common/file.h"
#include "common/hash.h"
#include "experiment/manifest.h"
#include "record/launch.h"
#include "record/state.h"
#include "store/store.h"
#include "support/checkout.h"
#include "support/fake_programs.h"
#include "support/sample_model.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestRuns : public QObject {
    Q_OBJECT

    std::unique_ptr<TemporaryDirectory> folder_;
    std::string in(const std::string& name) const { return (folder_->path() / name).string(); }
    void mode(const std::string& name) const { write_file_atomic(in("worker/mode"), "MODE=" + name + "\n"); }

    Outcome call(std::vector<std::string> arguments, std::vector<std::string> environment = {}) const {
        arguments.insert(arguments.end(), {"--project", in("project")});
        environment.insert(environment.end(), {"FACETER_WORKER=" + in("worker/worker"), "FACETER_PLUGIN_DIR=" + in("plugins")});
        return faceter::testing::faceter(arguments, environment);
    }
    Outcome run(std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments = {"run", in("e.yaml"), "--set", "model=" + in("model")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return call(arguments);
    }
    std::vector<RunDirectory> runs() const {
        std::vector<RunDirectory> all;
        for (const std::string& id : Project(in("project"), false).run_ids()) all.emplace_back(folder_->path() / "project" / "runs" / id);
        return all;
    }
    void record(const std::string& name, const std::string& ending) const {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        write_attempt(run, 1, 5, ending);
        write_results(run, 1);
        write_file_atomic(in("worker/" + name), read_file(run.attempt_journal(1)));
        fs::create_directories(in("worker/results"));
        for (const auto& file : fs::directory_iterator(run.results()))
            fs::copy_file(file.path(), folder_->path() / "worker/results" / file.path().filename(), fs::copy_options::overwrite_existing);
    }
    void start_runs_that_wait(QProcess& process) const {
        mode("wait");
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert("FACETER_WORKER", QString::fromStdString(in("worker/worker")));
        variables.insert("FACETER_PLUGIN_DIR", QString::fromStdString(in("plugins")));
        process.setProcessEnvironment(variables);
        process.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"),
                      {"run", QString::fromStdString(in("e.yaml")), "--project", QString::fromStdString(in("project")), "--set",
                       QString::fromStdString("model=" + in("model"))});
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(in("worker/waiting")), 30'000);
    }

  private Q_SLOTS:
    void init() {
        folder_ = std::make_unique<TemporaryDirectory>();
        for (const char* name : {"plugins", "worker"}) make_directories(in(name));
        write_scifact(folder_->path());
        write_sample_model(in("model"));
        Manifest manifest;
        manifest.id = "demo";
        manifest.abi = 1;
        manifest.fingerprint = "none";
        manifest.variants.push_back({"dense", "Dense.", {}});
        manifest.variants.push_back(
            {"mixture", "Mixture.", {"", "", {choice("placement", {"every", "every_other"}, "every", "Which blocks.")}}});
        write_manifest(manifest, in("plugins/demo.json"));
        write_file_atomic(in("pairs.tsv"), "a\tb\n");
        write_file_atomic(in("e.yaml"), sample_experiment());
        write_file_atomic(in("worker/worker"), worker_script);
        ::chmod(in("worker/worker").c_str(), 0755);
        record("finished.jsonl", "finished");
        record("stopped.jsonl", "stopped");
    }

    void an_experiment_is_run_and_compared() {
        mode("done");
        const Outcome outcome = run();
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.err, "[5/5] Mix-2 seed 2  done in");
        HAS(outcome.out, "Compared: EM and Mix with start");
        QVERIFY(fs::exists(in("project/faceter.sqlite")));
        const Json list = json_of(call({"list", "--json"}));
        QCOMPARE(list["runs"].size(), std::size_t{5});
        for (const Json& row : list["runs"]) QCOMPARE(row["state"].get<std::string>(), std::string("done"));
        const Json compared = json_of(call({"compare", "--format", "json"}));
        QCOMPARE(compared["runs"].size(), std::size_t{3});
        QCOMPARE(compared["baseline"].get<std::string>(), std::string("start"));
        HAS(call({"compare", "--format", "latex"}).out, "\\toprule");
        for (const char* file : {"R.CSV", "R.Html"}) QCOMPARE(call({"report", "--output", in(file)}).code, 0);
        HAS(read_file(in("R.Html")), "<!DOCTYPE html>");
        QVERIFY(read_file(in("R.CSV")).starts_with("task,data set") && read_file(in("R.CSV")).find("\n\n") == std::string::npos);  // one
        QCOMPARE(call({"compare", "--test", "paired-sets", "--format", "csv"}).out, call({"compare", "--format", "csv"}).out);
        QCOMPARE(json_of(call({"compare", "--test", "welch-seeds", "--format", "json"}))["test"]["name"].get<std::string>(),
                 std::string("welch-seeds"));
        HAS(call({"compare", "--test", "bootstrap"}).out, "Paired bootstrap over examples");
        HAS(call({"compare", "--layout", "datasets", "--format", "csv"}).out, "task,data set,metric,start");
        const Outcome unknown = call({"compare", "--test", "bootstap"});
        QCOMPARE(unknown.code, 2);
        HAS(unknown.err, "bootstrap");
        HAS(call({"show", "Mix"}).out, "quick-mix-s2");
        HAS(call({"show", "Mix", "--settings"}).out, "placement: every_other");
        HAS(call({"show", "Mix", "--log"}).out, "all is well");
        for (const char* other : {"--json", "--settings"}) {  // neither is a log
            const Outcome refused = call({"show", "Mix", "--log", other});
            QCOMPARE(refused.code, 2);
            HAS(refused.err, "excludes");
        }
    }
    void a_failed_run_gives_its_own_exit_code_and_the_others_go_on() {
        mode("fail");
        const Outcome outcome = run({"--set", "evaluation.baseline=false", "--seeds", "1"});
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "[1/2] EM-1 seed 1  failed: exit code 4: corpus.jsonl:7: torn line");
        HAS(outcome.err, "[2/2] Mix-1 seed 1");
        mode("done");
        QCOMPARE(call({"resume", "EM"}).code, 0);
        QCOMPARE(read_state(Project(in("project"), false).find_run("EM")).phase, RunPhase::done);
        QCOMPARE(call({"resume", "EM"}).code, 2);
    }
    void what_a_cluster_takes_is_submitted_before_anybody_waits_here_and_all_are_one_list() {
        mode("fail");
        run({"--set", "evaluation.baseline=false", "--seeds", "1"});
        const RunDirectory there = Project(in("project"), false).find_run("Mix");
        write_launch(there, {"slurm", "gpu", "7_0", there.folder()});
        make_directories(in("config/faceter/profiles"));
        write_file_atomic(in("config/faceter/profiles/gpu.yaml"), "kind: slurm\n");
        fs::permissions(in("config/faceter/profiles/gpu.yaml"), fs::perms(0600));
        const FakePrograms programs;
        programs.answers("sbatch", "echo cluster >> '" + in("order") + "'; echo 12");
        programs.answers("squeue", "exit 0");
        programs.answers("sacct", "exit 0");
        write_file_atomic(in("worker/mode"), "echo here >> '" + in("order") + "'\nMODE=done\n");
        const Outcome outcome = call({"resume", "EM", "Mix", "--json"}, {"XDG_CONFIG_HOME=" + in("config")});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QCOMPARE(read_file(in("order")), std::string("cluster\nhere\n"));
        const Json all = json_of(outcome).at("runs");
        QCOMPARE(all.size(), std::size_t{2});
        QCOMPARE(all[1].at("job").get<std::string>(), std::string("12_0"));
    }
    void a_killed_worker_is_dead_not_running() {
        mode("kill");
        const Outcome outcome = run({"--set", "evaluation.baseline=false", "--seeds", "1"});
        QCOMPARE(outcome.code, 5);
        HAS(outcome.err, "killed by signal 9");
        HAS(outcome.err, "go on with: faceter resume EM-1 Mix-1");
        const Json list = json_of(call({"list", "--json", "--state", "dead"}));
        QCOMPARE(list["runs"].size(), std::size_t{2});
    }
    void a_worker_that_is_killed_behind_the_last_line_of_its_record_has_done_its_run() {
        mode("late");
        const Outcome outcome = run({"--set", "evaluation.baseline=false", "--seeds", "1"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QVERIFY2(outcome.err.find("killed") == std::string::npos, outcome.err.c_str());
    }
    void a_run_of_several_processes_names_the_rank_that_went_first() {
        mode("ranks");
        const Outcome outcome = run({"--set", "evaluation.baseline=false", "--seeds", "1", "--devices", "3"});
        QCOMPARE(outcome.code, 5);
        HAS(outcome.err, "rank 1 of 3 was killed by signal 9");
        for (int rank = 0; rank < 3; ++rank) {
            const std::string r = std::to_string(rank);
            QCOMPARE(read_file(in("worker/rank-" + r)), r + "/3 " + r + "/3 700\n");
            QVERIFY(fs::exists(runs().front().attempt_log(1, rank)));
        }
        std::string meeting = read_file(in("worker/meeting"));
        meeting.pop_back();
        QVERIFY(!fs::exists(meeting));
        QCOMPARE(read_state(runs().front()).phase, RunPhase::failed);
        mode("done");
        QCOMPARE(call({"resume", "EM", "--devices", "2"}).code, 0);
        QCOMPARE(read_state(Project(in("project"), false).find_run("EM")).phase, RunPhase::done);
        QCOMPARE(call({"resume", "Mix", "--devices", "0"}).code, 2);
    }
    void a_worker_that_cannot_start_is_an_error() {
        mode("done");
        ::chmod(in("worker/worker").c_str(), 0644);
        const Outcome outcome = run({"--seeds", "1"});
        QCOMPARE(outcome.code, 5);
        HAS(outcome.err, "cannot start");
    }
    void detached_runs_go_on_and_can_be_stopped_and_resumed() {
        mode("wait");
        const Outcome outcome = run({"--detach", "--seeds", "1", "--set", "evaluation.baseline=false"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(in("worker/waiting")), 30'000);
        QCOMPARE(call({"resume", "EM"}).code, 2);
        QCOMPARE(call({"stop", "EM", "Mix"}).code, 0);
        const auto stopped = [&] {
            for (const RunDirectory& run : runs())
                if (read_state(run).phase != RunPhase::stopped) return false;
            return true;
        };
        QTRY_VERIFY_WITH_TIMEOUT(stopped(), 30'000);
        mode("done");
        QCOMPARE(call({"resume", "EM", "Mix"}).code, 0);
        QCOMPARE(read_state(Project(in("project"), false).find_run("EM")).attempts, 2);
    }
    void a_queue_is_listed_paused_put_in_order_and_goes_on() {
        mode("wait");
        QCOMPARE(run({"--detach", "--set", "evaluation.baseline=false"}).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(in("worker/waiting")), 30'000);
        const auto queue = [&] { return json_of(call({"queue", "list", "--json"}))["queues"][0]; };
        QCOMPARE(queue()["waiting"].size(), std::size_t{3});
        QCOMPARE(call({"queue", "pause"}).code, 0);
        const std::string last = queue()["waiting"][2], cancelled = queue()["waiting"][0];
        HAS(call({"queue", "move", last, "--place", "999"}).out, "Mix-2 is number 3 of those that wait");
        HAS(call({"queue", "move", last}).out, "Mix-2 is number 1 of those that wait");
        const Json moved = json_of(call({"queue", "move", last, "--json"}));
        QCOMPARE((Json{moved["place"], moved["runs"][0]["place"], moved["runs"][0]["id"]}), (Json{1, 1, last}));
        QCOMPARE(queue()["waiting"][0].get<std::string>(), last);
        QVERIFY(queue()["paused"].get<bool>());
        HAS(call({"queue", "pause", "q-none"}).err, "no queue of this name");
        const auto phase = [&](const std::string& run) { return read_state(RunDirectory(in("project/runs/" + run))).phase; };
        const std::string started = queue()["running"][0];
        HAS(call({"queue", "move", started}).err, RunDirectory(in("project/runs/" + started)).info().name + " waits in no queue");
        QCOMPARE(call({"stop", started, cancelled}).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(phase(started) == RunPhase::stopped && phase(cancelled) == RunPhase::stopped, 30'000);
        QCOMPARE(phase(last), RunPhase::queued);  // nothing has started instead
        mode("done");
        QCOMPARE(call({"queue", "continue"}).code, 0);
        const auto all_over = [&] {
            for (const RunDirectory& run : runs())
                if (!is_over(read_state(run).phase)) return false;
            return true;
        };
        QTRY_VERIFY_WITH_TIMEOUT(all_over(), 30'000);
        fs::file_time_type earliest = fs::file_time_type::max();
        std::string first_of_rest;
        for (const RunDirectory& run : runs())
            if (read_state(run).phase == RunPhase::done && fs::last_write_time(run.attempt_log(1)) < earliest)
                earliest = fs::last_write_time(run.attempt_log(1)), first_of_rest = run.info().id;
        QCOMPARE(first_of_rest, last);
        QTRY_VERIFY_WITH_TIMEOUT(call({"queue", "list"}).err.find("no queue of") != std::string::npos, 30'000);
    }
    void a_run_that_waits_is_left_to_its_queue() {
        mode("wait");
        QCOMPARE(run({"--detach", "--seeds", "1", "--set", "evaluation.baseline=false"}).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(in("worker/waiting")), 30'000);
        const std::string waiting = json_of(call({"queue", "list", "--json"}))["queues"][0]["waiting"][0];
        const Outcome resumed = call({"resume", waiting});
        QCOMPARE(resumed.code, 2);
        HAS(resumed.err, "waits in a queue");
        QCOMPARE(json_of(call({"queue", "list", "--json"}))["queues"].size(), std::size_t{1});
        QCOMPARE(call({"stop", "EM", "Mix"}).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(call({"queue", "list"}).err.find("no queue of") != std::string::npos, 30'000);
    }
    void of_several_that_resume_a_run_at_once_one_does() {
        mode("wait");
        QCOMPARE(run({"--detach", "--only", "EM/seed=1"}).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(in("worker/waiting")), 30'000);
        const RunDirectory one = runs().front();
        QCOMPARE(call({"stop", "EM-1"}).code, 0);
        QTRY_COMPARE_WITH_TIMEOUT(read_state(one).phase, RunPhase::stopped, 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(call({"queue", "list"}).err.find("no queue of") != std::string::npos, 30'000);
        const auto resume = [&] { return call({"resume", "EM-1", "--detach"}); };
        std::vector<std::future<Outcome>> calls;
        for (int i = 0; i < 5; ++i) calls.push_back(std::async(std::launch::async, resume));
        int started = 0;
        for (std::future<Outcome>& each : calls) {
            const Outcome outcome = each.get();
            started += outcome.code == 0;
            if (outcome.code == 0) continue;
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, outcome.err.find("EM-1 is running") == std::string::npos ? "EM-1 waits in a queue" : "stop it first");
        }
        QCOMPARE(started, 1);
        QCOMPARE(call({"stop", "EM-1"}).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(call({"queue", "list"}).err.find("no queue of") != std::string::npos, 30'000);
        QCOMPARE(std::distance(fs::directory_iterator(in("project/queue")), {}), std::ptrdiff_t{2});  // those who were late made none
    }
    void a_run_that_its_queue_could_not_start_says_why_and_waits_no_more() {
        mode("wait");
        QCOMPARE(run({"--detach", "--set", "evaluation.baseline=false"}).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(in("worker/waiting")), 30'000);
        const Json queue = json_of(call({"queue", "list", "--json"}))["queues"][0];
        const RunDirectory hindered(in("project/runs/" + queue["waiting"][0].get<std::string>()));
        fs::remove_all(hindered.folder() / "logs");
        write_file_atomic(hindered.folder() / "logs", "");
        fs::remove(in("worker/waiting"));
        QCOMPARE(call({"stop", queue["running"][0].get<std::string>()}).code, 0);
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(in("worker/waiting")), 30'000);  // the next: the queue lives
        const RunState state = read_state(hindered);
        QCOMPARE(state.phase, RunPhase::failed);
        QVERIFY2(state.cause.find("logs") != std::string::npos, state.cause.c_str());
        QVERIFY(!read_supervisor(hindered));
        fs::remove(hindered.folder() / "logs");
        mode("done");
        QCOMPARE(call({"resume", hindered.info().id}).code, 0);
        QCOMPARE(read_state(hindered).phase, RunPhase::done);
        std::vector<std::string> rest{"stop"};
        for (const RunDirectory& one : runs()) rest.push_back(one.info().id);
        call(rest);
        QTRY_VERIFY_WITH_TIMEOUT(call({"queue", "list"}).err.find("no queue of") != std::string::npos, 30'000);
    }
    void a_queue_that_comes_to_a_run_that_is_done_meanwhile_leaves_it() {
        mode("done");
        QCOMPARE(run({"--seeds", "1", "--set", "evaluation.baseline=false"}).code, 0);
        const RunDirectory done = runs().front();
        make_directories(in("project/queue/q-late/done"));
        write_file_atomic(in("project/queue/q-late/queue.json"),
                          Json{{"runs", {done.folder().string()}}, {"worker", in("worker/worker")}}.dump());
        QCOMPARE(faceter::testing::faceter({"supervise", in("project/queue/q-late")}).code, 0);
        QCOMPARE(done.attempts().size(), std::size_t{1});
        QCOMPARE(read_file(in("project/queue/q-late/done/" + done.info().id)), std::string("0\n"));
    }
    void examples_that_changed_are_listed() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        const Outcome none = call({"examples", "EM", "Mix", "--json"});
        QVERIFY2(none.code == 0, none.err.c_str());
        QCOMPARE(json_of(none)["rows"].size(), std::size_t{0});  // the recorded results are the same
        const RunDirectory mix = Project(in("project"), false).find_run("Mix");
        Json result = parse_json(read_file(mix.results() / "set1.json"), "set1.json");
        result["per_example"][3] = result["per_example"][3].get<double>() - 7;
        mix.write_result("set1", result);
        const Outcome changed = call({"examples", "EM", "Mix", "--format", "csv"});
        HAS(changed.out, "data set,example,EM,Mix,difference,text,wanted");
        HAS(changed.out, "set1,4,");
        HAS(changed.err, "set1: no texts: ");
        QVERIFY(call({"examples", "EM", "Mix", "--changed", "gains", "--format", "csv"}).out.find("set1,4") == std::string::npos);
        HAS(call({"examples", "EM", "Mix", "--dataset", "set9"}).err, "there are set0, set1, set2");
        QCOMPARE(call({"examples", "EM", "Mix", "--dataset", "set9"}).code, 2);
    }
    void ctrl_c_stops_with_a_checkpoint_and_exit_code_6() {
        QProcess process;
        start_runs_that_wait(process);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(60'000));
        QCOMPARE(process.exitCode(), 6);
        const std::string said = process.readAllStandardError().toStdString();
        for (const RunDirectory& run : runs()) QCOMPARE(read_state(run).phase, RunPhase::stopped);
        for (const RunDirectory& run : runs()) HAS(said.substr(std::min(said.find("resume "), said.size())), run.info().shown_name());
    }
    void a_second_ctrl_c_on_the_heels_of_the_first_leaves_no_run_at_work() {
        QProcess process;
        start_runs_that_wait(process);
        for (int i = 0; i < 1000; ++i) ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(60'000));
        for (const RunDirectory& run : runs()) QTRY_COMPARE_WITH_TIMEOUT(read_state(run).phase, RunPhase::stopped, 60'000);
    }
    void a_rerun_has_the_same_settings() {
        mode("done");
        QCOMPARE(run({"--seeds", "1", "--set", "evaluation.baseline=false"}).code, 0);
        const RunDirectory first = Project(in("project"), false).find_run("Mix");
        QCOMPARE(call({"rerun", first.info().id}).code, 0);
        const RunDirectory second = Project(in("project"), false).find_run("Mix");
        QCOMPARE(second.info().parent, first.info().id);
        QCOMPARE(second.settings(), first.settings());
    }
    void runs_are_tagged_noted_archived_and_deleted() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        QCOMPARE(call({"tag", "Mix", "paper"}).code, 0);
        QCOMPARE(call({"note", "Mix", "best so far"}).code, 0);
        QCOMPARE(call({"archive", "EM"}).code, 0);
        QCOMPARE(json_of(call({"list", "--json", "--where", "archived"}))["runs"].size(), std::size_t{1});
        QCOMPARE(json_of(call({"list", "--json", "--where", "not archived"}))["runs"].size(), std::size_t{2});
        QCOMPARE(json_of(call({"compare", "--format", "json", "--where", "archived or variant = mix"}))["runs"].size(), std::size_t{2});
        const Json list = json_of(call({"list", "--json"}));
        QCOMPARE(list["runs"].size(), std::size_t{2});
        QCOMPARE(json_of(call({"list", "--json", "--tag", "paper"}))["runs"][0]["note"].get<std::string>(), std::string("best so far"));
        const std::string id = Project(in("project"), false).find_run("Mix").info().id;
        HAS(call({"delete", "Mix"}).err, "; undo with: faceter restore Mix-1 --project " + in("project") + "\n");
        QVERIFY(fs::exists(in("project/trash/" + id + "/run.json")));
        QCOMPARE(json_of(call({"list", "--json", "--all"}))["runs"].size(), std::size_t{2});
        QCOMPARE(json_of(call({"trash", "--json"}))[0]["id"].get<std::string>(), id);
        QCOMPARE(call({"restore", id.substr(0, id.size() - 2)}).code, 0);
        for (const char* name : {"mix", "MIX-s1"}) {  // what delete takes
            QCOMPARE(call({"delete", name}).code, 0);
            const Outcome back = call({"restore", name});
            QVERIFY2(back.code == 0, back.err.c_str());
        }
        QCOMPARE(call({"pin", id}).code, 0);
        QCOMPARE(json_of(call({"list", "--json", "--where", "pinned and tag = paper"}))["runs"][0]["id"].get<std::string>(), id);
        QCOMPARE(call({"delete", id}).code, 0);
        QCOMPARE(call({"trash", "--empty", "--older-than", "1"}).code, 0);
        QVERIFY(fs::exists(in("project/trash/" + id)));
        QCOMPARE(json_of(call({"trash", "--empty", "--json"})).at("removed").get<int>(), 1);
        HAS(call({"trash"}).err, "the trash is empty");
        QVERIFY(!fs::exists(in("project/trash/" + id)));
    }
    void what_is_named_twice_is_done_once() {
        mode("done");
        QCOMPARE(run().code, 0);
        const std::string id = Project(in("project"), false).find_run("EM-1").info().id;
        const auto scores = [&](const std::vector<std::string>& names) {
            std::vector<std::string> words{"compare", "--format", "csv"};
            words.insert(words.end(), names.begin(), names.end());
            return call(words).out;
        };
        QCOMPARE(scores({"EM-1", "EM-2", "em-1", id}), scores({"EM-1", "EM-2"}));
        QCOMPARE(call({"delete", "EM-1", id}).code, 0);
        QVERIFY(fs::exists(in("project/trash/" + id)));
        QCOMPARE(call({"restore", "EM-1"}).code, 0);
        QCOMPARE(call({"archive", "EM-1", "nosuch"}).code, 2);
        QVERIFY(!Project(in("project"), false).find_run("EM-1").user_state().archived);
        const Outcome empty = call({"tag", "EM-1", ""});
        QCOMPARE(empty.code, 2);
        HAS(empty.err, "an empty word was given");
    }
    void a_run_that_is_resumed_by_two_names_is_started_once() {
        mode("stopped");
        make_directories(in("project/runs"));
        const RunDirectory run = sample_run(in("project"), 1);
        write_attempt(run, 1, 3, "stopped");
        mode("done");
        const Outcome outcome = call({"resume", run.info().id, run.info().name, "--jobs", "2"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QCOMPARE(run.attempts().size(), std::size_t{2});
    }
    void a_copied_run_folder_never_reaches_the_original() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        const RunDirectory original = Project(in("project"), false).find_run("Mix");
        const std::string id = original.info().id;
        fs::copy(original.folder(), in("project/runs/B"), fs::copy_options::recursive);
        for (const std::vector<std::string>& command :
             {std::vector<std::string>{"delete", "B"}, {"delete", "--now", "B"}, {"stop", "B"}, {"resume", "B"}, {"tag", "B", "x"}}) {
            const Outcome outcome = call(command);
            QCOMPARE(outcome.code, 4);
            HAS(outcome.err, "/runs/B: a copy of run '" + id + "'");
        }
        const Outcome listed = call({"list", "--json"});
        QCOMPARE(json_of(listed)["runs"].size(), std::size_t{3});
        HAS(listed.err, "/runs/B: a copy of run");
        const Json findings = json_of(call({"doctor", "--json"}))["findings"];
        const auto copy = std::find_if(findings.begin(), findings.end(), [](const Json& one) {
            return one["what"].get<std::string>().find("/runs/B: a copy of run") != std::string::npos;
        });
        QVERIFY(copy != findings.end() && !(*copy)["safe"].get<bool>() && !(*copy)["mended"].get<bool>());
        QVERIFY(fs::exists(in("project/runs/B")));
        QVERIFY(original.user_state().tags.empty() && !original.requested("stop"));
        QCOMPARE(read_state(RunDirectory(original.folder())).phase, RunPhase::done);
        QCOMPARE(original.read_all(original.results(), [](const auto&, const auto&) {}).size(), std::size_t{4});
    }
    void a_run_that_is_deleted_for_good_is_gone() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        const std::string id = Project(in("project"), false).find_run("Mix").info().id;
        HAS(call({"delete", "--now", id}).err, "removed Mix-1 for good\n");
        QVERIFY(!fs::exists(in("project/runs/" + id)));
        QVERIFY(!fs::exists(in("project/runs/.removing-" + id)));
        QCOMPARE(json_of(call({"list", "--json"}))["runs"].size(), std::size_t{2});
    }
    void a_silent_run_is_taken_over_when_somebody_says_so() {
        mode("stopped");
        make_directories(in("project/runs"));
        const RunDirectory run = sample_run(in("project"), 1);
        const std::string body = R"({"seq":1,"t":100.0,"event":"attempt_started","host":"elsewhere.invalid","pid":1,"pid_start":"x:1")";
        write_file_atomic(run.attempt_journal(run.begin_attempt()), body + fmt::format(",\"crc\":\"{:08x}\"}}\n", crc32c(body)));
        const timespec old[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
        ::utimensat(AT_FDCWD, run.attempt_journal(1).c_str(), old, 0);
        const std::string id = run.info().id;
        const Outcome refused = call({"resume", id});
        QCOMPARE(refused.code, 2);
        HAS(refused.err, "faceter resume --take-over " + id);
        mode("done");
        const Outcome taken = call({"resume", "--take-over", id});
        QVERIFY2(taken.code == 0, taken.err.c_str());
        HAS(taken.err, "took over " + id);
        QCOMPARE(read_state(run).phase, RunPhase::done);
    }
    void what_a_foreign_file_says_does_not_reach_the_terminal_raw() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        QCOMPARE(call({"note", "Mix",
                       "safe \x1b]0;owned\x07 \xc2\x9b"
                       "2J \xe2\x80\xae end"})
                     .code,
                 0);
        const Outcome shown = call({"show", "Mix"});
        HAS(shown.out, "safe \uFFFD]0;owned\uFFFD");
        for (const char* raw : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae"}) QVERIFY(shown.out.find(raw) == std::string::npos);
        const Outcome refused = call({"show",
                                      "no \x1b[31mrun \xc2\x9b"
                                      "2J"});
        QVERIFY(refused.code != 0);
        for (const char* raw : {"\x1b", "\xc2\x9b"}) QVERIFY(refused.err.find(raw) == std::string::npos);
    }
    void runs_are_chosen_by_an_expression() {
        mode("done");
        QCOMPARE(run({"--seeds", "1,2"}).code, 0);
        const Json list = json_of(call({"list", "--json", "--where", "variant = mix and set0 > 0.4 and seed >= 2"}));
        QCOMPARE(list["runs"].size(), std::size_t{1});
        QCOMPARE(list["runs"][0]["variant"].get<std::string>(), std::string("Mix"));
        const Outcome wrong = call({"list", "--where", "varient = mix"});
        QCOMPARE(wrong.code, 3);
        HAS(wrong.err, "did you mean 'variant'?");
        HAS(wrong.err, "\n  ^");
        const Outcome compared = call({"compare", "--json", "--where", "not variant = em"});
        QCOMPARE(compared.code, 0);
        QVERIFY(compared.out.find("\"EM\"") == std::string::npos);
    }
    /// Of the first seed alone once; and rows without a pair of tasks in common ended the command.
    void similarities_of_tasks_are_means_over_seeds() {
        mode("done");
        QCOMPARE(run().code, 0);
        const auto compared = [&] { return json_of(call({"compare", "--json"})).at("inter_task_similarity"); };
        for (const RunDirectory& one : runs())
            if (one.info().method != "start")
                write_similarity(one, one.info().variant == "Mix" ? 0.7 : 0.2 * static_cast<double>(one.info().seed));
        const Json test = compared().at(0);
        QCOMPARE(test.at("second").get<std::string>(), std::string("EM"));
        QCOMPARE(test.at("seeds_second").get<int>(), 2);
        QVERIFY(test.at("pairs").at(0).at("mean_second").get<double>() > 0.3);
        HAS(call({"compare", "--format", "md"}).out, "Each text's mean over seeds: 2 of Mix, 2 of EM.");
        for (const RunDirectory& one : runs())
            if (one.info().variant == "Mix")
                one.write_result("inter_task_similarity",
                                 Json::parse(R"({"pairs": [{"a": "x", "b": "y", "values": [0.1, 0.2], "mean": 0.15}], "texts": 2})"));
        QVERIFY(compared().empty());
    }
    void values_of_series_are_columns_and_order_lists_and_comparisons() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        const Json list =
            json_of(call({"list", "--json", "--columns", "variant,loss:best,loss:2,set0", "--sort", "variant", "--descending"}));
        QCOMPARE(list["runs"][0]["columns"]["variant"].get<std::string>(), std::string("start"));
        QCOMPARE(list["runs"].back()["columns"]["variant"].get<std::string>(), std::string("EM"));
        QCOMPARE(list["runs"][0]["columns"]["loss:2"].get<double>(), 0.5);
        QCOMPARE(list["runs"][0]["columns"]["loss:best"].get<double>(), 0.2);
        HAS(call({"list", "--columns", "loss:last,lr:max", "--format", "csv"}).out, "run,loss:last,lr:max\n");
        const Outcome wrong = call({"list", "--columns", "loss:last,varient"});
        QCOMPARE(wrong.code, 3);
        HAS(wrong.err, "did you mean 'variant'?");
        QVERIFY(call({"list", "--descending"}).code == 2);  // of what?
        const Json compared = json_of(call({"compare", "--json", "--columns", "loss:best", "--sort", "set0", "--descending"}));
        QCOMPARE(compared["runs"][0]["columns"]["loss:best"]["mean"].get<double>(), 0.2);
        HAS(call({"compare", "--columns", "loss:best", "--layout", "datasets"}).out, "loss:best");
        QCOMPARE(call({"compare", "--columns", "loss:best", "--layout", "summary"}).code, 2);  // has columns of its own
        HAS(call({"compare", "--sort", "lss:last"}).err, "no run has a value 'lss:last'");
    }
    void the_store_is_made_anew() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        write_file_atomic(in("project/faceter.sqlite"), std::string(10'000, 'x'));
        fs::remove(in("project/faceter.sqlite-wal"));
        const Outcome broken = call({"list"});
        QCOMPARE(broken.code, 4);
        HAS(broken.err, "faceter ingest --rebuild");
        QCOMPARE(json_of(call({"ingest", "--rebuild", "--json"}))["runs"].get<int>(), 3);
        QCOMPARE(call({"list"}).code, 0);
    }
    void similarities_of_two_runs_are_tested() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        const Project project(in("project"), false);
        QCOMPARE(call({"similarity", "Mix", "EM"}).code, 4);
        write_similarity(project.find_run("EM"), 0.9);
        write_similarity(project.find_run("Mix"), 0.4);
        const Outcome outcome = call({"similarity", "Mix", "EM", "--alternative", "less", "--format", "json"});
        QCOMPARE(outcome.code, 0);
        QVERIFY(json_of(outcome)["pairs"][0]["welch"]["p"].get<double>() < 1e-6);
        HAS(call({"compare"}).out, "paired over texts");
        project.find_run("EM").write_result("inter_task_similarity", {{"pairs", Json::array()}, {"texts", 64}});  // of one task
        QCOMPARE(call({"similarity", "Mix", "EM"}).code, 4);
        QVERIFY(json_of(call({"compare", "--json"}))["inter_task_similarity"].empty());
        QCOMPARE(call({"report", "--output", in("r.html")}).code, 0);
    }
    void tables_fit_the_terminal() {
        mode("done");
        QCOMPARE(run().code, 0);
        for (const int width : {80, 100, 160}) {
            const std::vector<std::string> terminal{fmt::format("COLUMNS={}", width)};
            for (const char* command : {"compare", "list"}) {
                const Outcome outcome = call({command}, terminal);
                QVERIFY2(widest_line(outcome.out) <= width, outcome.out.c_str());
                HAS(outcome.out, "Mix");
            }
        }
        QCOMPARE(call({"compare"}).out, call({"compare"}, {"COLUMNS=100"}).out);
        HAS(call({"compare"}, {"COLUMNS=80"}).out, "best of the row");
        HAS(call({"compare"}, {"COLUMNS=400"}).out, "best of the column");
        QCOMPARE(call({"compare", "--format", "csv"}, {"COLUMNS=80"}).out, call({"compare", "--format", "csv"}, {"COLUMNS=400"}).out);
    }
    void unknown_runs_are_named() {
        mode("done");
        QCOMPARE(run({"--seeds", "1"}).code, 0);
        HAS(call({"show", "nothing"}).err, "no run 'nothing'");
    }
};

FACETER_TEST(TestRuns)
#include "test_runs.moc"
