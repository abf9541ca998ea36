#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "checkpoint/weights.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/random.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "launch/run_processes.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// Runs of several worker processes on the tiny reference model, as a supervisor starts them.
class SlowRanks : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

    RunDirectory make_run(const std::string& training = "", int steps = 30, const std::string& rest = "") const {
        const std::string text = "name: ranks\nmodel: " + (shared_folder() / "fixtures/bert").string() +
                                 "\nmax_length: 32\nthreads: 2\n"
                                 "tasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n"
                                 "    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
                                 "variants:\n  MoTE: {method: mote}\n"
                                 "training: {batch_size: 9, steps: " +
                                 std::to_string(steps) + ", learning_rate: 1.0e-3, checkpoint_every_steps: 3" + training +
                                 "}\n"
                                 "evaluation: {baseline: false, datasets: [{path: sts, name: similar}]}\n" +
                                 rest;
        const Experiment experiment =
            Experiment::parse(text, project_.path() / "ranks.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        return RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
    }

    static std::unique_ptr<RunProcesses> start(const RunDirectory& run, int ranks) {
        return std::make_unique<RunProcesses>(run, FACETER_BINARY_DIR "/bin/faceter-worker", ranks);
    }

    /// Until all have ended; `act` is called in between, at most some `patience_ms`: then everything is killed and the code is -1.
    static WorkerExit finish(RunProcesses& processes, const std::function<void(int waited_ms)>& act = {}, int patience_ms = 200'000) {
        int status = 0;
        for (int waited = 0; !processes.over(); waited += 2) {
            for (pid_t child; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) processes.ended(child, status);
            processes.end_stragglers();
            if (act) act(waited);
            if (waited > patience_ms) {
                for (int rank = 0; rank < 8; ++rank)
                    if (const pid_t process = processes.process(rank)) ::kill(process, SIGKILL), ::waitpid(process, &status, 0);
                return {-1, 0, "it hung"};
            }
            ::usleep(2000);
        }
        const WorkerExit exit = processes.exit();
        const RunDirectory run(processes.run());
        if (!run.attempts().empty()) write_worker_exit(run, run.attempts().back(), exit);
        return exit;
    }
    static WorkerExit finish(const RunDirectory& run, int ranks) { return finish(*start(run, ranks)); }

    static std::vector<float> final_values(const RunDirectory& run) {
        const Weights weights(std::vector<fs::path>{run.folder() / "model/model.safetensors"});
        std::vector<float> all;
        for (const std::string& name : weights.names()) {
            std::vector<float> values(weights.at(name).numel());
            weights.read_float(name, values);
            all.insert(all.end(), values.begin(), values.end());
        }
        return all;
    }

    static std::int64_t last_step(const RunDirectory& run) { return read_state(run).step; }

  private Q_SLOTS:
    void initTestCase() {
        std::ofstream out(project_.path() / "pairs.jsonl");
        for (int i = 0; i < 120; ++i)
            out << "{\"query\": \"question number " << i << " about " << i * 7 % 13 << "\", \"document\": \"an answer to " << i
                << " that speaks of " << i * 7 % 13 << " and more\"}\n";
        make_directories(project_.path() / "sts");
        std::ofstream(project_.path() / "sts/dataset.json") << R"({"name": "similar", "task": "sts"})";
        std::ofstream scored(project_.path() / "sts/test.jsonl");
        for (int i = 0; i < 60; ++i)  // more texts than rank 0 would embed alone
            scored << "{\"sentence1\": \"a cat number " << i << "\", \"sentence2\": \"the cat " << i * i % 47
                   << "\", \"score\": " << i * 7 % 5 << "}\n";
    }

    void two_processes_leave_the_model_and_the_scores_of_one() {
        NEED_SHARED();
        const std::string scored = ", evaluate_every_steps: 10";
        const RunDirectory alone = make_run(scored), together = make_run(scored + ", sharding: zero2, activation_checkpointing: true");
        const WorkerExit one = finish(alone, 1), two = finish(together, 2);
        QVERIFY2(one.code == 0, one.message.c_str());
        QVERIFY2(two.code == 0, two.message.c_str());
        const auto a = final_values(alone), b = final_values(together);
        QCOMPARE(a.size(), b.size());
        double squares = 0, norm = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            squares += (a[i] - b[i]) * (a[i] - b[i]);
            norm += a[i] * a[i];
        }
        qInfo("relative difference of the weights %.2g", std::sqrt(squares / norm));
        QVERIFY2(std::sqrt(squares / norm) < 1e-4, std::to_string(std::sqrt(squares / norm)).c_str());
        const auto scores = [](const RunDirectory& run) {
            std::vector<double> all{read_json(run.results() / "similar.json").at("score").get<double>()};
            for (const JournalEvent& event : read_journal(run.attempt_journal(1, 0)).events)
                if (event.type == "evaluation") all.push_back(event.fields.at("scores").at("similar").get<double>());
            return all;
        };
        const auto scores_of_one = scores(alone), scores_of_two = scores(together);
        QCOMPARE(scores_of_two.size(), std::size_t{4});  // at steps 10, 20 and 30, and of the final model
        for (std::size_t i = 0; i < scores_of_one.size(); ++i) QVERIFY(std::abs(scores_of_one[i] - scores_of_two[i]) < 0.2);
        const JournalContent second = read_journal(together.attempt_journal(1, 1));
        QVERIFY(second.problem.empty());
        QCOMPARE(second.events.back().type, std::string("finished"));
        QVERIFY(fs::exists(together.attempt_log(1, 1)));
    }

    void two_processes_choose_data_and_plan_batches_as_one_does() {
        NEED_SHARED();
        const std::string teacher = (shared_folder() / "fixtures/bert").string();
        const std::string rest =
            "curriculum: {method: data_cube, annealing_steps: 50, restarts: 1}\nstages:\n  - {name: first, filter: {top_k: 40, shard: "
            "70, teacher: " +
            teacher + "}, mine: {negatives: 2}}\n";
        std::map<int, Json> seen;
        for (const int ranks : {1, 2}) {
            const TemporaryDirectory cache;  // what one has measured is not there for the other
            const QByteArray before = qgetenv("FACETER_CACHE");
            qputenv("FACETER_CACHE", cache.path().c_str());
            const RunDirectory run = make_run("", 6, rest);
            const WorkerExit exit = finish(run, ranks);
            before.isEmpty() ? qunsetenv("FACETER_CACHE") : qputenv("FACETER_CACHE", before);
            QVERIFY2(exit.code == 0, exit.message.c_str());
            for (const char* file : {"stage-0-filter-0.jsonl", "stage-0-mine-0.jsonl"})
                seen[ranks].push_back(read_file(run.folder() / "data" / file));
            for (const JournalEvent& event : read_journal(run.attempt_journal(1, 0)).events)
                if (event.type == "stage_started") seen[ranks].push_back(event.fields.at("examples"));
        }
        QCOMPARE(seen[1].size(), std::size_t{3});
        QVERIFY(seen[1] == seen[2]);
        QVERIFY(seen[1][0].get<std::string>().size() > 100);
    }

    void a_rank_killed_at_any_moment_is_named_and_the_run_goes_on_to_the_same_bits() {
        NEED_SHARED();
        const RunDirectory whole = make_run();
        QElapsedTimer timer;
        timer.start();
        const WorkerExit undisturbed = finish(whole, 2);
        QVERIFY2(undisturbed.code == 0, undisturbed.message.c_str());
        const int duration = static_cast<int>(timer.elapsed());
        const std::string expected = sha256_file(whole.folder() / "model/model.safetensors");
        RandomStream random(23, "ranks");
        const char* wanted = std::getenv("FACETER_KILLS");
        const int kills_wanted = wanted ? std::atoi(wanted) : 6;
        int kills = 0;
        while (kills < kills_wanted) {
            const RunDirectory run = make_run();
            for (int attempt = 0;; ++attempt) {
                QVERIFY2(attempt < 60, "no progress between kills");
                const auto processes = start(run, 2);
                const int victim = static_cast<int>(random.below(2)),
                          moment = static_cast<int>(random.below(static_cast<std::uint64_t>(duration)));
                bool killed = false;
                const WorkerExit exit = finish(*processes, [&](int waited) {
                    if (killed || waited < moment) return;
                    killed = true;
                    const pid_t process = processes->process(victim);
                    if (process > 0 && ::kill(process, SIGKILL) == 0) ++kills;
                });
                if (exit.code == 0) break;
                const std::string rank = "rank " + std::to_string(victim) + " of 2 was killed by signal 9";
                QVERIFY2(exit.message.find(rank) != std::string::npos, exit.message.c_str());
                if (run.attempts().empty()) continue;
                if (read_state(run).phase == RunPhase::done) break;  // rank 0 was killed behind the last line of its record
                QCOMPARE(read_state(run).phase, RunPhase::failed);
            }
            QCOMPARE(QString::fromStdString(sha256_file(run.folder() / "model/model.safetensors")), QString::fromStdString(expected));
        }
        qInfo("%d kills", kills);
    }

    void a_rank_that_hangs_is_named_within_the_time_limit() {
        NEED_SHARED();
        const RunDirectory run = make_run(", rank_timeout_s: 8", 100000);
        const auto processes = start(run, 2);
        bool stopped = false;
        const WorkerExit exit = finish(*processes, [&](int) {
            if (stopped || run.attempts().empty() || last_step(run) < 3) return;
            stopped = true;
            ::kill(processes->process(1), SIGSTOP);
        });
        QVERIFY(stopped);
        QCOMPARE(exit.code, 8);
        QVERIFY2(exit.message.find("rank 1 of 2 did not come within 8 s") != std::string::npos, exit.message.c_str());
        const RunState state = read_state(run);
        QCOMPARE(state.phase, RunPhase::failed);
        QVERIFY2(state.cause.find("rank 1 of 2 did not come") != std::string::npos, state.cause.c_str());
    }

    void a_stop_reaches_all_ranks_and_another_number_of_them_goes_on() {
        NEED_SHARED();
        const RunDirectory run = make_run();
        const auto processes = start(run, 2);
        const WorkerExit stopped = finish(*processes, [&](int) {
            if (!run.attempts().empty() && last_step(run) >= 4) processes->stop();
        });
        QVERIFY2(stopped.code == 6, stopped.message.c_str());
        QCOMPARE(read_state(run).phase, RunPhase::stopped);
        const WorkerExit resumed = finish(run, 3);
        QVERIFY2(resumed.code == 0, resumed.message.c_str());
        QCOMPARE(read_state(run).phase, RunPhase::done);
        QCOMPARE(last_step(run), std::int64_t{30});
    }
};

FACETER_TEST(SlowRanks)
#include "slow_ranks.moc"
