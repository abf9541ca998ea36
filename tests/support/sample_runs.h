#pragma once
#include <string>
#include <vector>

#include "common/file.h"
#include "experiment/experiment.h"
#include "record/journal.h"
#include "record/run_directory.h"

namespace faceter::testing {

/// A catalogue with two methods of a plugin "demo", as its manifest would offer them.
inline Catalogue sample_catalogue() {
    Catalogue catalogue;
    add_builtin_extensions(catalogue);
    catalogue.add(ExtensionKind::variant, {"dense", "Dense.", {"dense", "", {}}}, "demo");
    catalogue.add(ExtensionKind::variant,
                  {"mixture", "Mixture.", {"mixture", "", {choice("placement", {"every", "every_other"}, "every", "Which blocks.")}}},
                  "demo");
    return catalogue;
}

inline const char* sample_experiment() {
    return R"(name: quick
seeds: [1, 2]
tasks:
  retrieval:
    instructions: {query: "search query: ", document: "search document: "}
    train:
      - {name: pairs, source: file, path: pairs.tsv, format: pairs, max_examples: 100}
  clustering:
    instructions: {text: "clustering: "}
variants:
  EM: {method: dense}
  Mix: {method: mixture, placement: every_other}
evaluation:
  datasets:
    - {source: folder, path: scifact}
)";
}

/// The folder of the data set that it is scored on.
inline void write_scifact(const fs::path& folder) {
    make_directories(folder / "scifact/qrels");
    write_file_atomic(folder / "scifact/corpus.jsonl", "{\"_id\": \"d\", \"text\": \"a\"}\n");
    write_file_atomic(folder / "scifact/queries.jsonl", "{\"_id\": \"q\", \"text\": \"b\"}\n");
    write_file_atomic(folder / "scifact/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n");
}

inline Experiment parse_sample(const std::string& text = sample_experiment(), const ExperimentOptions& options = {}) {
    return Experiment::parse(text, "/base/quick.yaml", sample_catalogue(), options);
}

/// A run of the sample experiment: the `index`th.
inline RunDirectory sample_run(const fs::path& project, std::size_t index = 1) {
    const Experiment experiment = parse_sample();
    return RunDirectory::create(project, experiment, experiment.runs().at(index), false);
}

/// Writes without waiting for the disk, which a test that tears a file at every byte would notice.
inline void overwrite(const fs::path& file, std::string_view content) { OutputFile(file, OutputFile::Mode::truncate).write(content); }

/// An attempt of `steps` steps that ends with `ending` (empty: not at all).
inline void write_attempt(const RunDirectory& run, int first_step, int last_step, const std::string& ending, double loss = 1.0) {
    JournalWriter journal(run, run.begin_attempt(), {first_step > 1 ? "checkpoints/step" : "", first_step - 1, Json::object(), 0});
    journal.event("stage_started", {{"stage", "train"}, {"total_steps", 100}});
    for (int step = first_step; step <= last_step; ++step)
        journal.step({{"step", step}, {"total_steps", 100}, {"loss", loss / step}, {"lr", 1e-5 * step}});
    if (!ending.empty()) journal.event(ending, {{"step", last_step}, {"message", "the reason"}, {"code", 7}});
}

inline void write_results(const RunDirectory& run, double shift, int num_sets = 3) {
    const char* types[] = {"retrieval", "classification", "clustering", "sts"};
    for (int i = 0; i < num_sets; ++i) {
        const double score = 40 + 5 * i + shift * (1 + 0.1 * i);
        Json examples = Json::array();
        for (int j = 0; j < 20; ++j) examples.push_back(score - 18 + 4 * ((j * 7 + i) % 10));  // the score is their mean
        run.write_result(fmt::format("set{}", i), {{"name", fmt::format("set{}", i)},
                                                   {"task", types[i % 4]},
                                                   {"task_type", types[i % 4]},
                                                   {"metric", "score"},
                                                   {"score", score},
                                                   {"n", 20},
                                                   {"metrics", {{"score", 0.4}}},
                                                   {"per_example", examples},
                                                   {"settings", Json::object()}});
    }
    run.write_result("_model", {{"total_parameters", 22713216},
                                {"active_parameters", 22713216},
                                {"multiply_adds_per_token", 21233664},
                                {"encode_latency_ms", 12.5},
                                {"peak_memory_bytes", 1073741824}});
}

inline void write_similarity(const RunDirectory& run, double level) {
    Json values = Json::array();
    for (int i = 0; i < 64; ++i) values.push_back(level + 0.01 * ((i * 37) % 11) + 0.001 * ((i * 13) % 7) * level);
    run.write_result("inter_task_similarity",
                     {{"pairs", {{{"a", "retrieval"}, {"b", "clustering"}, {"values", values}, {"mean", level}}}}, {"texts", 64}});
}

}  // namespace faceter::testing
