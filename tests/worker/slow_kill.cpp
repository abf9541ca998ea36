#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "common/file.h"
#include "common/hash.h"
#include "common/random.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "record/journal.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// A run on the tiny reference model, killed again and again.
class SlowKill : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

    std::string experiment_text() const {
        return "name: kill\nmodel: " + (shared_folder() / "fixtures/bert").string() +
               "\nmax_length: 32\nthreads: 1\n"
               "tasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n"
               "    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
               "variants:\n  MoTE: {method: mote}\n"
               "training: {batch_size: 8, steps: 30, learning_rate: 1.0e-3, checkpoint_every_steps: 2, keep_checkpoints: 2}\n"
               "evaluation: {baseline: false, datasets: []}\n";
    }

    void write_pairs() const {
        std::ofstream out(project_.path() / "pairs.jsonl");
        for (int i = 0; i < 120; ++i)
            out << "{\"query\": \"question number " << i << " about " << i * 7 % 13 << "\", \"document\": \"an answer to " << i
                << " that speaks of " << i * 7 % 13 << " and more\"}\n";
    }

    RunDirectory make_run() const {
        const fs::path file = project_.path() / "kill.yaml";
        const Experiment experiment =
            Experiment::parse(experiment_text(), file, Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        return RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
    }

    static pid_t start(const RunDirectory& run) {
        const std::string worker = FACETER_BINARY_DIR "/bin/faceter-worker", log = (run.folder() / "worker.log").string();
        const pid_t pid = ::fork();
        if (pid == 0) {
            if (!std::freopen(log.c_str(), "a", stderr)) ::_exit(127);
            ::execl(worker.c_str(), worker.c_str(), "run", run.folder().c_str(), nullptr);
            ::_exit(127);
        }
        return pid;
    }

    /// The exit code, or -1 where it was killed after `milliseconds`.
    static int finish_or_kill(pid_t pid, int milliseconds) {
        int status = 0;
        for (int waited = 0; waited < milliseconds; ++waited) {
            if (::waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
            ::usleep(1000);
        }
        ::kill(pid, SIGKILL);
        ::waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    static std::string final_hash(const RunDirectory& run) { return sha256_file(run.folder() / "model/model.safetensors"); }

  private Q_SLOTS:
    void a_run_killed_at_any_moment_ends_with_the_same_weights_bit_for_bit() {
        NEED_SHARED();
        write_pairs();
        const RunDirectory whole = make_run();
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(finish_or_kill(start(whole), 300000), 0);
        const int duration = static_cast<int>(timer.elapsed());
        const std::string expected = final_hash(whole);
        RandomStream random(17, "kill");
        const char* wanted = std::getenv("FACETER_KILLS");
        const int kills_wanted = wanted ? std::atoi(wanted) : 20;
        int kills = 0, runs = 0;
        while (kills < kills_wanted) {
            const RunDirectory run = make_run();
            for (int attempt = 0;; ++attempt) {
                QVERIFY2(attempt < 100, "no progress between kills");
                const int code = finish_or_kill(start(run), static_cast<int>(random.below(static_cast<std::uint64_t>(duration) + 200)));
                if (code == 0) break;
                QVERIFY2(code == -1, ("exit code " + std::to_string(code) + "\n" + read_file(run.folder() / "worker.log")).c_str());
                ++kills;
            }
            ++runs;
            QCOMPARE(QString::fromStdString(final_hash(run)), QString::fromStdString(expected));
            std::int64_t last_step = 0;
            for (const int attempt : run.attempts()) {
                const JournalContent journal = read_journal(run.attempt_journal(attempt));
                for (const JournalEvent& event : journal.events)
                    if (event.type == "step") last_step = std::max(last_step, event.fields.at("step").get<std::int64_t>());
            }
            QCOMPARE(last_step, std::int64_t{30});
        }
        qInfo("%d kills over %d runs", kills, runs);
    }

    void stopping_writes_a_checkpoint_and_says_so_with_its_exit_code() {
        NEED_SHARED();
        write_pairs();
        const RunDirectory run = make_run();
        const pid_t pid = start(run);
        while (!fs::exists(run.attempt_journal(1)) || read_journal(run.attempt_journal(1)).events.size() < 6) ::usleep(1000);
        ::kill(pid, SIGTERM);
        const int code = finish_or_kill(pid, 60000);
        QVERIFY2(code == 6 || code == 0, std::to_string(code).c_str());
        QVERIFY(!fs::is_empty(run.checkpoints()));
    }
};

FACETER_TEST(SlowKill)
#include "slow_kill.moc"
