#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "common/command.h"
#include "common/file.h"
#include "common/hash.h"
#include "launch/elsewhere.h"
#include "launch/feed.h"
#include "launch/profile.h"
#include "launch/remote.h"
#include "launch/slurm.h"
#include "launch/supervisor.h"
#include "record/launch.h"
#include "record/state.h"
#include "support/fake_programs.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Profile parse(const std::string& text) { return parse_profile(text, "/config/gpu.yaml"); }
Profile slurm(const std::string& more = "") { return parse("kind: slurm\n" + more); }
Profile ssh(const std::string& more = "") { return parse("kind: ssh\nhost: box\nfolder: /data/p\n" + more); }

SlurmJob sample_job() { return {"faceter-quick", "/home/a b/p", "/home/a b/p/jobs/j-1", 6, "/opt/faceter", "/opt/faceter-worker"}; }

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

/// What `faceter feed` writes.
std::string fed(const Project& project, const Json& request) {
    const TemporaryDirectory folder;
    const fs::path file = folder.path() / "sent";
    std::fflush(stdout);
    const int own = ::dup(STDOUT_FILENO), other = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ::dup2(other, STDOUT_FILENO);
    const auto restore = qScopeGuard([&] {
        ::dup2(own, STDOUT_FILENO);
        for (const int descriptor : {own, other}) ::close(descriptor);
    });
    feed_runs(project, request);
    return read_file(file);
}

RunState judged(const std::string& word, RunPhase phase, int attempt, JournalVerdict journal = {}) {
    RunState state;
    state.phase = phase;
    state.attempt = attempt;
    apply_job({"12_3", word, "Priority", "n1", 1}, journal, state);
    return state;
}

}  // namespace

class TestCluster : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void templates_are_valid_profiles() {
        QCOMPARE(parse(profile_template("slurm")).settings["partition"].get<std::string>(), std::string("gpu"));
        QCOMPARE(parse(profile_template("ssh")).kind, std::string("ssh"));
        EXPECT_ERROR(profile_template("slrm"), "no kind of profile 'slrm'", "did you mean 'slurm'?");
    }
    void unknown_settings_are_named_with_line_and_suggestion() {
        EXPECT_ERROR(slurm("partion: gpu\n"), "gpu.yaml:2:1", "unknown setting 'partion'", "did you mean 'partition'?");
        EXPECT_ERROR(slurm("sbatch: {wrap: rm}\n"), "unknown setting 'wrap' in sbatch");
        EXPECT_ERROR(parse("kind: slrum\n"), "did you mean 'slurm'?");
        EXPECT_ERROR(parse("kind: ssh\nhost: box\n"), "folder is missing");
        EXPECT_ERROR(slurm("nodes: 0\n"), "nodes", "at least 1");
    }
    void hostile_values_are_refused_at_their_place() {
        EXPECT_ERROR(parse("kind: ssh\nfolder: /p\nhost: -oProxyCommand=touch${IFS}x\n"), "gpu.yaml:3:7", "host");
        for (const char* host : {"a b", "a;b", "a@-b", "@b", "a@b@c", "$(id)", "a\\nb"})
            EXPECT_ERROR(parse(std::string("kind: ssh\nfolder: /p\nhost: \"") + host + "\"\n"), "host");
        for (const char* name : {"-x", "gpu --wrap=id", "a;b", "$(id)", "a\\nb"}) {
            EXPECT_ERROR(slurm(std::string("partition: \"") + name + "\"\n"), "partition");
            EXPECT_ERROR(slurm(std::string("account: \"") + name + "\"\n"), "account");
            EXPECT_ERROR(slurm(std::string("sbatch: {qos: \"") + name + "\"}\n"), "sbatch.qos");
        }
        EXPECT_ERROR(slurm("time: \"1:00 --uid=0\"\n"), "time");
        EXPECT_ERROR(slurm("memory: 32Q\n"), "memory");
        EXPECT_ERROR(slurm("modules: [cuda, \"a b\"]\n"), "gpu.yaml:2:17", "modules");
        EXPECT_ERROR(slurm("environment: {\"A=1; B\": x}\n"), "is no name of a variable");
        EXPECT_ERROR(slurm("environment: {A: \"x\\ny\"}\n"), "control character");
        EXPECT_ERROR(slurm("setup: [\"a\\e[2J\"]\n"), "control character");
        EXPECT_ERROR(slurm("description: \"a\\x07\"\n"), "control character");
        EXPECT_ERROR(parse("kind: ssh\nhost: box\nfolder: ../p\n"), "folder", "absolute path");
        EXPECT_ERROR(slurm("container: {image: x.sif}\n"), "container.image");
        EXPECT_ERROR(slurm("partition: " + std::string(100'000, 'a') + "\n"), "partition");
    }
    void a_profile_is_read_from_the_configuration_of_its_owner_only() {
        const TemporaryDirectory folder;
        const QByteArray before = qgetenv("XDG_CONFIG_HOME");
        qputenv("XDG_CONFIG_HOME", folder.path().c_str());
        make_directories(profile_folder());
        const fs::path file = profile_folder() / "gpu.yaml";
        write_file_atomic(file, "kind: slurm\n");
        ::chmod(file.c_str(), 0600);
        QCOMPARE(read_profile("gpu").name, std::string("gpu"));
        QCOMPARE(profile_names(), std::vector<std::string>{"gpu"});
        EXPECT_ERROR(read_profile("gpo"), "no profile 'gpo'", "did you mean 'gpu'?");
        for (const char* name : {"../gpu", "/etc/passwd", "", "-x", "a\nb"}) EXPECT_ERROR(read_profile(name), "is no name of a profile");
        ::chmod(file.c_str(), 0666);
        EXPECT_ERROR(read_profile("gpu"), "others may write it");
        qputenv("XDG_CONFIG_HOME", before);
    }
    void the_script_holds_what_the_profile_says_and_quotes_it() {
        const std::string script = slurm_script(
            slurm("partition: gpu\ntime: 1-12\nmemory: 32G\ncpus_per_task: 8\ngpus_per_node: 2\ntasks_per_node: 2\nmax_running: 3\n"
                  "modules: [cuda/13.0]\nenvironment: {A: \"it's $HOME\"}\nsetup: [echo ready]\nsbatch: {qos: long, exclusive: true, nice: "
                  "5}\n"),
            sample_job());
        for (const char* line :
             {"#SBATCH --job-name=faceter-quick\n", "#SBATCH --array=0-5%3\n", "#SBATCH --partition=gpu\n", "#SBATCH --time=1-12\n",
              "#SBATCH --mem=32G\n", "#SBATCH --gpus-per-node=2\n", "#SBATCH --cpus-per-task=8\n", "#SBATCH --signal=B:USR1@120\n",
              "#SBATCH --requeue\n", "#SBATCH --qos=long\n", "#SBATCH --exclusive\n", "#SBATCH --nice=5\n", "export A='it'\\''s $HOME'\n",
              "module load 'cuda/13.0' || exit 5\n", "set -e\necho ready\nset +e\n", "mapfile -t runs <'/home/a b/p/jobs/j-1/runs'\n",
              "'/opt/faceter' attend --ranks 2 \"$run\" &\n"})
            QVERIFY2(has(script, line), (script + "  lacks  " + line).c_str());
        for (const char* place : {"@directives@", "@runs@", "@preparation@", "@command@", "@end@"}) QVERIFY(!has(script, place));
        QVERIFY(!has(script, "mail-type"));
        QVERIFY(script.starts_with("#!/usr/bin/env bash\n#SBATCH"));
    }
    void several_nodes_go_through_srun_and_a_container_wraps_the_command() {
        const std::string many = slurm_script(slurm("nodes: 2\ntasks_per_node: 4\n"), sample_job());
        QVERIFY2(has(many, "srun --kill-on-bad-exit=1 --output=\"$run/logs/$attempt/rank-%t.log\" '/opt/faceter-worker' run \"$run\" &\n"),
                 many.c_str());
        QVERIFY(has(many, "attempt=$('/opt/faceter' attend --begin \"$run\") || exit\n"));
        QVERIFY(has(many, "'/opt/faceter' attend --end \"$code\" --attempt \"$attempt\" \"$run\"\n"));
        const std::string boxed = slurm_script(
            slurm("gpus_per_node: 1\nfaceter: /usr/bin/faceter\ncontainer: {image: /i/f.sif, binds: [/scratch]}\n"), sample_job());
        QVERIFY2(
            has(boxed,
                "apptainer exec --nv --bind '/home/a b/p' --bind '/scratch' '/i/f.sif' '/usr/bin/faceter' attend --ranks 1 \"$run\" &\n"),
            boxed.c_str());
        EXPECT_ERROR(slurm("nodes: 2\ncontainer: {image: /i/f.sif}\n"), "a container on more than one node");
        SlurmJob odd = sample_job();
        odd.folder = "/p%A/j";
        EXPECT_ERROR(slurm_script(slurm(), odd), "'%'");
    }
    void a_word_of_the_shell_is_whatever_it_holds() {
        for (const std::string text : {"a b", "it's", "$(id)", "`id`", "\"", "\\", "a\nb", ""}) {
            const CommandResult result = run_command({"sh", "-s"}, "printf %s " + shell_word(text));
            QCOMPARE(result.output, text);
        }
    }
    void a_command_gives_its_code_and_complaint_and_is_ended_at_its_limit() {
        const CommandResult result = run_command({"sh", "-c", "cat; echo no >&2; exit 3"}, std::string(300'000, 'x'));
        QCOMPARE(result.code, 3);
        QCOMPARE(result.output.size(), std::size_t{300'000});
        QCOMPARE(result.complaint, std::string("no"));
        EXPECT_ERROR(run_command({"faceter-no-such-program"}), "cannot start");
        QCOMPARE(run_command({"sleep", "1000"}, {}, 1).code, 124);
    }
    void lines_of_squeue_and_sacct_are_read_and_others_left_out() {
        const auto job = parse_job_line("12_3|PENDING|Resources|");
        QVERIFY(job);
        QCOMPARE(*job, (JobState{"12_3", "PENDING", "Resources", "", 0}));
        QCOMPARE(parse_job_line("12_3|CANCELLED by 1000")->phase(), JobPhase::cancelled);
        for (const char* line : {"", "12_3", "12|PENDING|x|", "12_[0-5]|PENDING|x|", "a_b|RUNNING|x|", "error: x"})
            QVERIFY2(!parse_job_line(line), line);
        QCOMPARE(parse_job_line("12|CANCELLED|None|")->job, std::string("12"));  // an array that was cancelled before any element began
        QCOMPARE(parse_job_line("12_[2-5]|CANCELLED by 1000")->job, std::string("12"));  // and where some had begun, in accounts
        QVERIFY(!parse_job_line("x_[2-5]|CANCELLED by 1000"));
        QCOMPARE(job_phase("NODE_FAIL"), JobPhase::node_failed);
        QCOMPARE(job_phase("OUT_OF_MEMORY"), JobPhase::out_of_memory);
        QCOMPARE(job_phase("COMPLETING"), JobPhase::running);
        QCOMPARE(job_phase("SOMETHING_NEW"), JobPhase::running);
    }
    void what_slurm_no_longer_knows_is_not_forgotten_here() {
        const TemporaryDirectory project;
        const FakePrograms programs;
        qputenv("FACETER_WORKER", "/opt/faceter-worker");
        std::vector<RunDirectory> runs;
        for (std::size_t i = 0; i < 3; ++i) runs.push_back(sample_run(project.path(), i));
        const Project opened(project.path(), false);
        programs.answers("sbatch", "echo 12");
        QCOMPARE(submit_to_slurm(opened, slurm(), runs), std::string("12"));
        programs.answers("sacct", "echo 'sacct: error: Slurm accounting storage is disabled' >&2; exit 1");
        programs.answers("squeue", "printf '12_0|CANCELLED|None|\\n12_1|RUNNING|None|n1\\n12_2|PENDING|Priority|\\n'");
        QVERIFY(refresh_slurm_jobs(opened).empty());
        QCOMPARE(read_state(runs[0]).phase, RunPhase::stopped);
        // SLURM forgets an element some minutes after its end, and this cluster keeps no accounts.
        programs.answers("squeue", "printf '12_1|RUNNING|None|n1\\n12_2|PENDING|Priority|\\n'");
        QVERIFY(refresh_slurm_jobs(opened).empty());
        QCOMPARE(read_job(runs[0])->word, std::string("CANCELLED"));
        // Accounts that do not answer say nothing of what is missing.
        programs.answers("sacct", "echo 'sacct: error: Connection refused' >&2; exit 1");
        programs.answers("squeue", "printf '12_2|RUNNING|None|n1\\n'");
        const std::vector<std::string> warnings = refresh_slurm_jobs(opened);
        QCOMPARE(warnings.size(), std::size_t{1});
        QVERIFY2(has(warnings[0], "Connection refused"), warnings[0].c_str());
        QCOMPARE(read_job(runs[1])->word, std::string("RUNNING"));
        QCOMPARE(read_job(runs[2])->word, std::string("RUNNING"));
        programs.answers("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
        programs.answers("sacct", "printf '12_1|COMPLETED\\n12_2|CANCELLED by 1000\\n'");
        QVERIFY(refresh_slurm_jobs(opened).empty());
        QCOMPARE(read_state(runs[2]).phase, RunPhase::stopped);
        QVERIFY(fs::exists(read_launch(runs[0])->folder / "over"));
        programs.answers("squeue", "exit 9");  // nothing is asked about what is over
        QVERIFY(refresh_slurm_jobs(opened).empty());
        qunsetenv("FACETER_WORKER");
    }
    void a_job_that_cannot_be_read_is_told_and_stops_no_other() {
        const TemporaryDirectory project;
        const FakePrograms programs;
        qputenv("FACETER_WORKER", "/opt/faceter-worker");
        const auto restore = qScopeGuard([] { qunsetenv("FACETER_WORKER"); });
        const RunDirectory run = sample_run(project.path());
        const Project opened(project.path(), false);
        programs.answers("sbatch", "echo 12");
        submit_to_slurm(opened, slurm(), {run});
        for (const auto& [folder, content] :
             std::map<std::string, std::string>{{"torn", "{"}, {"other", "{\"job\": \"x\", \"runs\": []}"}}) {
            make_directories(project.path() / "jobs" / folder);
            write_file_atomic(project.path() / "jobs" / folder / "job.json", content);
        }
        programs.answers("squeue", "echo '12_0|RUNNING|None|n1'");
        const std::vector<std::string> warnings = refresh_slurm_jobs(opened);
        QCOMPARE(warnings.size(), std::size_t{2});
        for (const std::string& warning : warnings) QVERIFY2(has(warning, "job.json"), warning.c_str());
        QCOMPARE(read_job(run)->word, std::string("RUNNING"));
    }
    void what_slurm_says_and_what_the_journal_says_make_one_state() {
        // Attempt 1 is history (attempts_before), attempt 2 this job's.
        QCOMPARE(judged("PENDING", RunPhase::failed, 1, {true, false, false}).phase, RunPhase::queued);
        QVERIFY(has(judged("PENDING", RunPhase::queued, 0).cause, "12_3: Priority"));
        QCOMPARE(judged("PENDING", RunPhase::stopped, 2, {true, false, false}).phase, RunPhase::queued);
        QCOMPARE(judged("PENDING", RunPhase::dead, 2).phase, RunPhase::queued);
        QCOMPARE(judged("PENDING", RunPhase::stopped, 2, {true, true, false}).phase, RunPhase::stopped);
        QCOMPARE(judged("PENDING", RunPhase::running, 2, {false, false, true}).phase, RunPhase::running);
        QCOMPARE(judged("RUNNING", RunPhase::failed, 1, {true, false, false}).phase, RunPhase::running);
        QCOMPARE(judged("RUNNING", RunPhase::stopped, 2, {true, false, false}).phase, RunPhase::queued);
        QCOMPARE(judged("RUNNING", RunPhase::stopped, 2, {true, true, false}).phase, RunPhase::stopped);
        QCOMPARE(judged("RUNNING", RunPhase::failed, 2, {true, false, false}).phase, RunPhase::failed);
        QCOMPARE(judged("CANCELLED", RunPhase::running, 2).phase, RunPhase::stopped);
        QCOMPARE(judged("TIMEOUT", RunPhase::running, 2).phase, RunPhase::failed);
        QVERIFY(has(judged("TIMEOUT", RunPhase::silent, 2).cause, "its time was up"));
        QCOMPARE(judged("OUT_OF_MEMORY", RunPhase::dead, 2).exit_code, 7);
        QVERIFY(has(judged("NODE_FAIL", RunPhase::running, 2).cause, "its node failed"));
        QCOMPARE(judged("FAILED", RunPhase::queued, 1).phase, RunPhase::failed);
        QCOMPARE(judged("FAILED", RunPhase::stopped, 2, {true, false, false}).phase, RunPhase::stopped);
        QCOMPARE(judged("FAILED", RunPhase::stopped, 1, {true, true, false}).phase, RunPhase::stopped);  // code 6 of what was not begun
        QCOMPARE(judged("FAILED", RunPhase::queued, 0, {false, true, false}).cause,
                 std::string("stopped before it began (SLURM job 12_3)"));
        QCOMPARE(judged("UNKNOWN", RunPhase::running, 2).phase, RunPhase::dead);
        QCOMPARE(judged("COMPLETED", RunPhase::running, 2).phase, RunPhase::running);
    }
    void the_state_of_a_run_takes_its_job_in() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        write_launch(run, {"slurm", "gpu", "7_0", "/p/jobs/j"});
        write_job(run, {"7_0", "PENDING", "Resources", "", 0});
        QCOMPARE(read_launch(run)->job, std::string("7_0"));
        QVERIFY(has(read_state(run).cause, "7_0: Resources"));
        EXPECT_ERROR(prepare_resume({run}), "waits in SLURM");
        EXPECT_ERROR(Project(project.path(), false).trash(run.info().id), "waiting in a queue");
        write_attempt(run, 1, 5, "stopped");
        write_job(run, {"7_0", "PENDING", "BeginTime", "", 0});
        QCOMPARE(read_state(run).phase, RunPhase::queued);
        write_attempt(run, 6, 9, "finished");
        QCOMPARE(read_state(run).phase, RunPhase::done);
        write_file_atomic(run.control() / "job.json", "{\"job\": 7, \"state\": [");
        QVERIFY(!read_job(run));
        for (const char* job :
             {"--user=me", "", "7", "7_0 8", "7_0\n", "../7_0"}) {  // of a folder that came from somebody else, and goes to scancel
            write_file_atomic(run.control() / "launch.json",
                              Json{{"launcher", "slurm"}, {"profile", "gpu"}, {"job", job}, {"folder", "/p"}}.dump());
            QVERIFY2(!read_launch(run), job);
        }
        clear_launch(run);
        QVERIFY(!read_launch(run));
    }
    void a_script_for_ssh_quotes_every_value() {
        const Profile profile = ssh("environment: {A: \"$(id)'\"}\n");
        const std::string script = remote_script(profile, {"stop", "it's"}, "line\n");
        QVERIFY2(has(script, "export A='$(id)'\\'''\n"), script.c_str());
        QVERIFY(has(script, "cd '/data/p' || exit 5\n"));
        QVERIFY(has(script, "exec 'faceter' 'stop' 'it'\\''s' <<'FACETER_END'\nline\nFACETER_END\n"));
        const std::vector<std::string> command = ssh_command(profile);
        QCOMPARE(command[command.size() - 4], std::string("--"));
        QCOMPARE(command[command.size() - 3], std::string("box"));
        const Experiment experiment = parse_sample(std::string(sample_experiment()) + "description: \"\n  FACETER_END\n  \"\n");
        const std::string submission = remote_submission(profile, experiment, {{"training.steps=3"}, {1, 2}, true});
        QVERIFY2(has(submission, "<<'FACETER_END_'\n"), submission.c_str());
        QVERIFY(has(submission, "'--set' 'training.steps=3' '--seeds' '1,2' '--smoke'"));
        QVERIFY(has(remote_submission(profile, experiment, {}, {"EM", "Mix/seed=2"}), "'--only' 'EM' '--only' 'Mix/seed=2'"));
    }
    void a_stop_over_there_is_answered_with_the_name_that_the_run_has_here() {
        const TemporaryDirectory config, project;
        const QByteArray before = qgetenv("XDG_CONFIG_HOME");
        const auto restore = qScopeGuard([&] { before.isEmpty() ? qunsetenv("XDG_CONFIG_HOME") : qputenv("XDG_CONFIG_HOME", before); });
        qputenv("XDG_CONFIG_HOME", config.path().c_str());
        make_directories(profile_folder());
        write_file_atomic(profile_folder() / "box.yaml", "kind: ssh\nhost: box\nfolder: /data/p\n");
        ::chmod((profile_folder() / "box.yaml").c_str(), 0600);
        const RunDirectory run = sample_run(project.path());
        write_launch(run, {"ssh", "box", "", "/data/p"});
        const FakePrograms programs;
        programs.answers("ssh",
                         "cat > /dev/null; echo 'warning: squeue is slow' >&2\n"
                         "echo 'EM-7 will stop with a checkpoint; faceter resume EM-7 goes on' >&2");
        QCOMPARE(stop_run(run), "will stop with a checkpoint; faceter resume " + run.info().name + " goes on");
        programs.answers("ssh", "cat > /dev/null; echo 'EM-7 is done already' >&2");
        QCOMPARE(stop_run(run), std::string("is done already"));
    }
    void a_run_goes_on_over_there_with_the_processes_of_its_profile() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path());
        const FakePrograms programs;
        const fs::path script = project.path() / "script";
        programs.answers("ssh", "cat > '" + script.string() + "'");
        const auto sent = [&](const std::string& more) {
            resume_through(Project(project.path(), false), ssh(more), {run});
            return read_file(script);
        };
        QVERIFY(has(sent("jobs: 3\ndevices: 2\n"), "'--jobs' '3' '--devices' '2' '" + run.info().id + "'"));
        QVERIFY(!has(sent("profile: gpu\n"), "--jobs"));  // a job array there
    }
    void a_connection_that_breaks_after_a_submission_does_not_ask_for_another() {
        const TemporaryDirectory here;
        const Project project(here.path(), true);
        const Experiment experiment = parse_sample();
        const FakePrograms programs;
        const std::string once = "cat > /dev/null\n[ -e '" + (here.path() / "made").string() + "' ] && exit 255\n";
        programs.answers("ssh", once + "echo 'faceter: the experiment has arrived'; echo 'Connection reset' >&2; exit 255");
        EXPECT_ERROR(submit_experiment(project, ssh(), experiment, {}), "box: the connection was lost when the experiment had arrived",
                     "Connection reset", "faceter list --project '/data/p'");
        programs.answers("ssh", "cat > /dev/null; echo 'Connection reset' >&2; exit 255");
        EXPECT_ERROR(submit_experiment(project, ssh(), experiment, {}), "box: cannot be reached: Connection reset");
        programs.answers("ssh", once + "touch '" + (here.path() / "made").string() +
                                    "'; echo 'faceter: the experiment has arrived'; echo '{\"runs\": [{\"id\": \"quick-1\"}]}'");
        EXPECT_ERROR(submit_experiment(project, ssh(), experiment, {}), "the runs were made, and go on there (quick-1)",
                     "would start them twice");
        QVERIFY(project.run_ids().empty());
    }
    void what_a_shell_there_says_at_its_start_hides_nothing() {
        const TemporaryDirectory here, there;
        const Project project(here.path(), true);
        const FakePrograms programs;
        programs.answers("ssh", "cat > /dev/null; printf Welcome\necho 'faceter: the experiment has arrived'; exit 255");
        EXPECT_ERROR(submit_experiment(project, ssh(), parse_sample(), {}), "box: the connection was lost when the experiment had arrived");
        programs.answers("ssh", "printf 'Welcome {to} the machine'\nexec sh -s");
        programs.answers("far-faceter", "cat > /dev/null; echo '{\"beat\": true}'");
        RemoteFollower follower(project, parse("kind: ssh\nhost: box\nfolder: " + there.path().string() + "\nfaceter: far-faceter\n"),
                                {"quick-1"});
        follower.catch_up();
        QVERIFY(follower.has_heard());
    }
    void a_mirror_takes_what_the_feed_sends_and_refuses_the_rest() {
        const TemporaryDirectory there, here;
        const RunDirectory run = sample_run(there.path());
        write_attempt(run, 1, 5, "stopped");
        write_results(run, 1, 1);
        const std::string id = run.info().id;
        const Project project(here.path(), true);
        Mirror mirror(project, ssh(), {id});
        for (const std::string& path : fed_files(run.folder())) {
            Json head = {{"run", id}, {"file", path}};
            if (is_growing_file(path)) head["offset"] = 0;
            mirror.take({head, read_file(run.folder() / path)});
        }
        const RunDirectory copy = project.find_run(id);
        QCOMPARE(read_state(copy).phase, RunPhase::stopped);
        QCOMPARE(read_launch(copy)->launcher, std::string("ssh"));
        QCOMPARE(read_file(copy.attempt_journal(1)), read_file(run.attempt_journal(1)));
        const Json request = Json::parse(mirror.request(true));
        QCOMPARE(request["runs"][id]["journal/1/rank-0.jsonl"].get<std::uint64_t>(), std::uint64_t{fs::file_size(run.attempt_journal(1))});
        QCOMPARE(request["runs"][id]["run.json"].get<std::uint64_t>(), std::uint64_t{crc32c(read_file(run.folder() / "run.json"))});
        EXPECT_ERROR(mirror.take({{{"run", id}, {"file", "journal/1/rank-0.jsonl"}, {"offset", 3}}, "x"}), "goes on at byte 3");
        EXPECT_ERROR(mirror.take({{{"run", "other"}, {"file", "run.json"}}, "x"}), "was not asked for");
        for (const char* path : {"../../x", "/etc/passwd", "user.jsonl", "control/stop", "control/launch.json", "checkpoints/a",
                                 "results/../run.json", "results/.x.json", "logs/1/rank-0.log"})
            EXPECT_ERROR(mirror.take({{{"run", id}, {"file", path}}, "x"}), "is no file of a run's record");
        EXPECT_ERROR(Mirror(project, ssh(), {"../x"}), "names a run");
        mirror.take({{{"run", id}, {"over", true}, {"exit_code", 6}, {"cause", "stopped"}}, ""});
        QVERIFY(mirror.all_ended());
        QCOMPARE(mirror.ended().at(id).exit_code, 6);
    }
    void a_run_that_was_stopped_over_there_before_it_began_is_stopped_here_until_it_goes_on() {
        const TemporaryDirectory there, here;
        const RunDirectory run = sample_run(there.path());
        const std::string id = run.info().id;
        const Project project(here.path(), true);
        Mirror mirror(project, ssh(), {id});
        mirror.take({{{"run", id}, {"file", "run.json"}}, read_file(run.folder() / "run.json")});
        QCOMPARE(read_state(project.find_run(id)).phase, RunPhase::queued);
        mirror.take({{{"run", id}, {"over", true}, {"exit_code", 6}, {"cause", "stopped before it began"}}, ""});
        QCOMPARE(read_state(project.find_run(id)).phase, RunPhase::stopped);
        write_attempt(run, 1, 5, "");
        Mirror again(project, ssh(), {id});
        again.take({{{"run", id}, {"file", "journal/1/rank-0.jsonl"}, {"offset", 0}}, read_file(run.attempt_journal(1))});
        QCOMPARE(read_state(project.find_run(id)).phase, RunPhase::running);
        QVERIFY(!project.find_run(id).requested("stop"));
    }
    void a_mirror_that_was_deleted_here_is_not_made_anew_by_what_still_comes() {
        const TemporaryDirectory there, here;
        const RunDirectory run = sample_run(there.path());
        write_attempt(run, 1, 5, "");
        const std::string id = run.info().id;
        const Project project(here.path(), true);
        Mirror mirror(project, ssh(), {id});
        mirror.take({{{"run", id}, {"file", "run.json"}}, read_file(run.folder() / "run.json")});
        fs::remove_all(project.runs_folder() / id);
        mirror.take({{{"run", id}, {"file", "journal/1/rank-0.jsonl"}, {"offset", 0}}, read_file(run.attempt_journal(1))});
        mirror.take({{{"run", id}, {"over", true}, {"exit_code", 0}, {"cause", ""}}, ""});
        QVERIFY(!fs::exists(project.runs_folder() / id));
    }
    void a_run_that_was_deleted_over_there_does_not_end_the_feed_of_the_others() {
        const TemporaryDirectory there;
        const RunDirectory deleted = sample_run(there.path(), 1), done = sample_run(there.path(), 2);
        write_attempt(done, 1, 5, "finished");
        fs::rename(deleted.folder(), there.path() / "elsewhere");
        const Json known = {{deleted.info().id, Json::object()}, {done.info().id, Json::object()}};
        FrameReader reader;
        reader.add(fed(Project(there.path(), false), {{"runs", known}, {"once", true}}));
        std::map<std::string, int> ended;
        while (const auto frame = reader.next())
            if (frame->head.contains("over")) ended[frame->head["run"].get<std::string>()] = frame->head["exit_code"].get<int>();
        QCOMPARE(ended, (std::map<std::string, int>{{deleted.info().id, 5}, {done.info().id, 0}}));
        overwrite(done.folder() / "run.json", "{");  // which is no end of it
        EXPECT_ERROR(fed(Project(there.path(), false), {{"runs", known}, {"once", true}}), "run.json");
    }
    void a_mirror_forgets_the_job_of_a_run_that_goes_on_without_slurm() {
        const TemporaryDirectory there, here;
        const RunDirectory run = sample_run(there.path());
        const std::string id = run.info().id;
        const Project project(here.path(), true);
        const auto follow = [&] {
            Mirror mirror(project, ssh(), {id});
            FrameReader reader;
            reader.add(fed(Project(there.path(), false), Json::parse(mirror.request(true))));
            int jobs = 0;
            while (const auto frame = reader.next()) {
                jobs += frame->head.value("file", "") == "control/job.json";
                mirror.take(*frame);
            }
            return jobs;
        };
        write_job(run, {"12_0", "CANCELLED", "", "n1", 0});
        QCOMPARE(follow(), 1);
        QCOMPARE(read_state(project.find_run(id)).phase, RunPhase::stopped);
        clear_launch(run);
        write_attempt(run, 1, 5, "");
        QCOMPARE(follow(), 1);
        QVERIFY(!read_job(project.find_run(id)));
        QCOMPARE(read_state(project.find_run(id)).phase, RunPhase::running);
        QCOMPARE(follow(), 0);
        write_job(run, {"13_0", "PENDING", "Priority", "", 0});
        QCOMPARE(follow(), 1);
        QCOMPARE(read_job(project.find_run(id))->job, std::string("13_0"));
    }
    void two_that_follow_one_run_bring_its_log_once() {
        const TemporaryDirectory there, here;
        const RunDirectory run = sample_run(there.path());
        write_attempt(run, 1, 5, "stopped");
        const std::string id = run.info().id;
        const Project project(here.path(), true);
        Mirror workbench(project, ssh(), {id});
        workbench.take({{{"run", id}, {"file", "run.json"}}, read_file(run.folder() / "run.json")});
        Mirror command(project, ssh(), {id});
        const auto log = [&](std::uint64_t offset) { return Json{{"run", id}, {"file", "logs/1/rank-0.log"}, {"offset", offset}}; };
        workbench.take({log(0), "one\ntwo\n"});
        command.take({log(0), "one\n"});
        command.take({log(4), "two\nthree\n"});
        workbench.take({log(8), "three\n"});
        QCOMPARE(read_file(project.find_run(id).attempt_log(1)), std::string("one\ntwo\nthree\n"));
        EXPECT_ERROR(command.take({log(4), "TWO\n"}), "goes on at byte 4, but 14 are here");
        EXPECT_ERROR(command.take({log(15), "four\n"}), "goes on at byte 15, but 14 are here");
    }
    void a_mirror_never_touches_a_run_that_did_not_come_through_its_profile() {
        const TemporaryDirectory here;
        const Project project(here.path(), true);
        const RunDirectory own = sample_run(here.path(), 1), others = sample_run(here.path(), 2), same = sample_run(here.path(), 3);
        for (const RunDirectory& run : {own, others, same}) write_results(run, 1, 1);
        write_launch(others, {"ssh", "elsewhere", "", "/data/p"});
        write_launch(same, {"ssh", "gpu", "", "/data/p"});
        EXPECT_ERROR(Mirror(project, ssh(), {own.info().id}), own.info().id.c_str(), "did not come from there");
        EXPECT_ERROR(Mirror(project, ssh(), {others.info().id}), "did not come from there");
        Mirror mirror(project, ssh(), {same.info().id});
        Json forged = read_json(same.folder() / "run.json");
        forged["id"] = own.info().id;
        EXPECT_ERROR(mirror.take({{{"run", same.info().id}, {"file", "run.json"}}, forged.dump()}), "under the name");
        QCOMPARE(RunDirectory(same.folder()).info().id, same.info().id);
    }
    void frames_are_taken_apart_at_any_cut() {
        const std::string stream = "{\"run\":\"a\",\"file\":\"run.json\",\"size\":5}\nab\ncd{\"beat\":true}\n";
        for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
            FrameReader reader;
            std::vector<FeedFrame> frames;
            for (const std::string& part : {stream.substr(0, cut), stream.substr(cut)}) {
                reader.add(part);
                while (auto frame = reader.next()) frames.push_back(*frame);
            }
            QCOMPARE(frames.size(), std::size_t{2});
            QCOMPARE(frames[0].bytes, std::string("ab\ncd"));
        }
        FrameReader wrong;
        wrong.add("Welcome to the machine!\n");
        for (const char* size : {"18446744073709551616", "-1", "1.5", "[]"}) {
            FrameReader numbers;
            numbers.add(fmt::format("{{\"size\": {}}}\n", size));
            EXPECT_ERROR(numbers.next(), "a frame of the other machine: member 'size' ");
        }
        EXPECT_ERROR(wrong.next(), "sends no frames but 'Welcome");
        FrameReader greeted("frames follow\n");
        greeted.add("{Welcome} frames");
        QVERIFY(!greeted.next());
        greeted.add(" follow\n{\"beat\": true}\n");
        QVERIFY(greeted.next());
        greeted = FrameReader("frames follow\n");
        greeted.add(std::string(100'000, 'x'));
        EXPECT_ERROR(greeted.next(), "sends no frames but 'xxx");
        FrameReader large;
        large.add("{\"size\": 99999999999}\n");
        EXPECT_ERROR(large.next(), "a run's files are smaller");
    }
};

FACETER_TEST(TestCluster)
#include "test_cluster.moc"
