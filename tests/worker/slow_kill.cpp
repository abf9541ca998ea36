#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>

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

/// A run on the tiny reference model, killed again and again: while it trains, writes checkpoints, is scored and analysed.
class SlowKill : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

    std::string experiment_text() const {
        return "name: kill\nmodel: " + (shared_folder() / "fixtures/bert").string() +
               "\nmax_length: 32\nthreads: 1\n"
               "tasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n"
               "    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
               "  sts:\n    instructions: {text: \"same meaning: \"}\n"
               "variants:\n  MoTE: {method: mote}\n"
               "training: {batch_size: 8, steps: 30, learning_rate: 1.0e-3, checkpoint_every_steps: 2, keep_checkpoints: 2}\n"
               "evaluation: {baseline: false, datasets: [{path: sts, name: similar}]}\n"
               "analyses:\n  - {method: inter_task_similarity, texts: {source: file, path: texts.txt}}\n"
               "  - {method: embedding_forms, prefixes: [8]}\n";
    }

    void write_data() const {
        std::ofstream out(project_.path() / "pairs.jsonl");
        for (int i = 0; i < 120; ++i)
            out << "{\"query\": \"question number " << i << " about " << i * 7 % 13 << "\", \"document\": \"an answer to " << i
                << " that speaks of " << i * 7 % 13 << " and more\"}\n";
        fs::create_directories(project_.path() / "sts");
        std::ofstream sts(project_.path() / "sts/test.jsonl"), texts(project_.path() / "texts.txt");
        for (int i = 0; i < 24; ++i) {
            sts << "{\"sentence1\": \"number " << i << "\", \"sentence2\": \"it is " << i * 5 % 7 << "\", \"score\": " << i % 6 << "}\n";
            texts << "text " << i << " of " << i % 5 << "\n";
        }
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

    /// What does not depend on the time that it took.
    static std::string findings(const RunDirectory& run) {
        std::string all;
        for (const char* file : {"results/similar.json", "results/inter_task_similarity.json", "results/embedding_forms.json"})
            all += read_file(run.folder() / file);
        return all;
    }

    /// The last word of a killed attempt: the stage of the run that it was at.
    static std::string moment_of(const RunDirectory& run) {
        const std::vector<int> attempts = run.attempts();
        if (attempts.empty() || !fs::exists(run.attempt_journal(attempts.back()))) return "before its first word";
        const JournalContent journal = read_journal(run.attempt_journal(attempts.back()));
        return journal.events.empty() ? "before its first word" : journal.events.back().type;
    }

  private Q_SLOTS:
    void a_run_killed_at_any_moment_ends_with_the_same_weights_bit_for_bit() {
        NEED_SHARED();
        write_data();
        const RunDirectory whole = make_run();
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(finish_or_kill(start(whole), 300000), 0);
        const int duration = static_cast<int>(timer.elapsed());
        const std::string expected = final_hash(whole), found = findings(whole);
        RandomStream random(17, "kill");
        const char* wanted = std::getenv("FACETER_KILLS");
        const int kills_wanted = wanted ? std::atoi(wanted) : 20;
        int kills = 0, runs = 0;
        std::map<std::string, int> moments;
        while (kills < kills_wanted) {
            const RunDirectory run = make_run();
            for (int attempt = 0;; ++attempt) {
                QVERIFY2(attempt < 100, "no progress between kills");
                const int code = finish_or_kill(start(run), static_cast<int>(random.below(static_cast<std::uint64_t>(duration) + 200)));
                if (code == 0) break;
                QVERIFY2(code == -1, ("exit code " + std::to_string(code) + "\n" + read_file(run.folder() / "worker.log")).c_str());
                ++kills;
                ++moments[moment_of(run)];
            }
            ++runs;
            QCOMPARE(QString::fromStdString(final_hash(run)), QString::fromStdString(expected));
            QCOMPARE(QString::fromStdString(findings(run)), QString::fromStdString(found));
            std::int64_t last_step = 0;
            for (const int attempt : run.attempts()) {
                const JournalContent journal = read_journal(run.attempt_journal(attempt));
                for (const JournalEvent& event : journal.events)
                    if (event.type == "step") last_step = std::max(last_step, event.fields.at("step").get<std::int64_t>());
            }
            QCOMPARE(last_step, std::int64_t{30});
        }
        std::string met;
        for (const auto& [moment, count] : moments) met += fmt::format("{}{} {}", met.empty() ? "" : ", ", moment, count);
        qInfo("%d kills over %d runs: %s", kills, runs, met.c_str());
    }

    void stopping_writes_a_checkpoint_and_says_so_with_its_exit_code() {
        NEED_SHARED();
        write_data();
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
