#pragma once
#include <algorithm>
#include <fstream>
#include <set>

#include "common/file.h"
#include "data/child_process.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/test.h"

namespace faceter::testing {

/// What is wrong with a made run; as it stands nothing is.
struct Made {
    std::string name;
    std::string variant = "{method: instruction}";
    std::string learning_rate = "2.0e-4", stages{}, more_tasks{};
    int max_length = 48, steps = 40, seed = 1;
    double temperature = 0.05;
    bool shuffled = false, leaked = false;
    std::string scores{}, objective{};  ///< of pairs that share one to four words: "right" or "shuffled"; empty: pairs without scores
};

inline const std::vector<std::string> subjects = {"river",  "music",  "garden", "engine", "winter", "market", "doctor", "planet",
                                                  "bridge", "letter", "forest", "school", "island", "window", "battle", "castle"};

/// Two of the subjects, and a word for the text: pair `i` of a task.
inline std::string subject(int i) { return subjects[i % 16] + " " + subjects[(i / 16 + i * 3 + 1) % 16]; }
inline std::string query_of(int i, const std::string& task) { return fmt::format("what do we know about the {} in {}", subject(i), task); }
inline std::string document_of(int i, const std::string& task) {
    return fmt::format("the {} is what this text on {} speaks of", subject(i), task);
}

/// Pair `i` of a task, of 128 different ones: four words each, of which `shared` are the same.
inline std::string some_words(int i, int shared, const std::string& front) {
    std::string text = front;
    for (int j = 0; j < 4; ++j) {
        const int place = j < shared ? j : j + 4;
        text += " " + subjects[static_cast<std::size_t>((i * 7 + place * (2 * (i / 16) + 1)) % 16)];
    }
    return text;
}

/// Runs that are really trained on the tiny reference model in a project of their own, and what `faceter diagnose` says of them.
class DiagnosedRuns {
    TemporaryDirectory project_;

    void write_pairs(const Made& made, const std::string& task) const {
        std::ofstream out(project_.path() / (made.name + "-" + task + ".jsonl"));
        for (int i = 0; i < 128; ++i) {
            const int other = made.shuffled ? (i * 37 + 61) % 128 : i;
            if (!made.scores.empty()) {
                const int shared = i % 4 + 1, points = made.scores == "right" ? shared : i / 4 % 4 + 1;
                out << Json{{"query", some_words(i, 4, "words of " + task)},
                            {"document", some_words(i, shared, "about " + task)},
                            {"score", points / 4.0}}
                           .dump()
                    << "\n";
                continue;
            }
            const std::string query = made.leaked && i < 16 ? test_query(i) : query_of(i, task);
            out << Json{{"query", query}, {"document", document_of(other, task)}}.dump() << "\n";
        }
    }
    static std::string test_query(int i) { return fmt::format("tell me of {} and {}", subjects[i], subjects[15 - i]); }

  public:
    const fs::path& folder() const { return project_.path(); }
    void write_test_set() const {
        const fs::path folder = project_.path() / "held";
        make_directories(folder / "qrels");
        std::ofstream corpus(folder / "corpus.jsonl"), queries(folder / "queries.jsonl"), qrels(folder / "qrels/test.tsv");
        qrels << "query-id\tcorpus-id\tscore\n";
        for (int i = 0; i < 16; ++i) {
            corpus << Json{{"_id", fmt::format("d{}", i)},
                           {"title", ""},
                           {"text", fmt::format("a report of {} with {}", subjects[i], subjects[15 - i])}}
                          .dump()
                   << "\n";
            queries << Json{{"_id", fmt::format("q{}", i)}, {"text", test_query(i)}}.dump() << "\n";
            qrels << fmt::format("q{}\td{}\t1\n", i, i);
        }
    }
    static std::string text_of(const Made& made) {
        std::string text = fmt::format("name: {}\nmodel: {}\nmax_length: {}\nthreads: 1\nseeds: [{}]\ntasks:\n", made.name,
                                       (shared_folder() / "fixtures/bert").string(), made.max_length, made.seed);
        for (const std::string task : {"first", "second"})
            text += fmt::format("  {}: {{type: retrieval, temperature: {}, train: [{{name: {}-{}, source: file, path: {}-{}.jsonl}}]}}\n",
                                task, made.temperature, made.name, task, made.name, task);
        text += made.more_tasks;
        return text + fmt::format(
                          "variants:\n  V: {}\ntraining: {{batch_size: 16, steps: {}, learning_rate: {}}}\n{}{}"
                          "evaluation: {{baseline: true, datasets: [{{path: held, name: held}}]}}\n",
                          made.variant, made.steps, made.learning_rate, made.objective, made.stages);
    }
    static std::string output_of(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), FACETER_BINARY_DIR "/bin/faceter-worker");
        const ChildResult result = run_child(arguments, std::chrono::seconds(200), 1 << 22);
        if (result.exit_code != 0) throw std::runtime_error(result.last_lines);
        return result.output;
    }
    /// Trains it and its baseline; what `diagnose` says as JSON.
    Json diagnosis_of(const Made& made) const {
        for (const std::string task : {"first", "second"}) write_pairs(made, task);
        const Experiment experiment = Experiment::parse(text_of(made), project_.path() / (made.name + ".yaml"),
                                                        Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        fs::path trained;
        for (const ResolvedRun& resolved : experiment.runs()) {
            const RunDirectory run = RunDirectory::create(project_.path(), experiment, resolved, false);
            output_of({"run", run.folder().string()});
            if (!run.info().is_baseline()) trained = run.folder();
        }
        return Json::parse(output_of({"diagnose", trained.string(), "--json", "--threads", "1"}));
    }
    /// "check: subject" of each alarm.
    static std::set<std::string> alarms_of(const Json& diagnosis) {
        std::set<std::string> alarms;
        for (const Json& finding : diagnosis.at("findings"))
            if (finding.at("state") == "alarm")
                alarms.insert(finding.at("check").get<std::string>() + ": " + finding.at("subject").get<std::string>());
        return alarms;
    }
    static QByteArray said(const Json& diagnosis) { return QByteArray::fromStdString(diagnosis.dump(1)); }
};

}  // namespace faceter::testing
