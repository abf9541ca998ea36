#pragma once
#include <QProcess>
#include <fstream>

#include "support/checkout.h"
#include "support/test.h"

namespace faceter::testing {

/// Really trained, tiny runs (start and IC, one step) of two tasks on the reference model, scored on a retrieval set of 30 documents and a
/// classification set of 24 texts: what needs models to ask. `variants`: others, as lines of YAML, and what stands behind them. Returns why
/// there is none; empty: it is there.
inline std::string make_explored_project(const fs::path& folder, const std::string& variants = "  IC: {method: instruction}\n") {
    make_directories(folder / "animals");
    make_directories(folder / "topics");
    std::ofstream pairs(folder / "pairs.jsonl"), corpus(folder / "animals/corpus.jsonl"), queries(folder / "animals/queries.jsonl");
    make_directories(folder / "animals/qrels");
    std::ofstream qrels(folder / "animals/qrels/test.tsv");
    qrels << "query-id\tcorpus-id\tscore\n";
    const char* animals[] = {"cat", "dog", "fish", "bird", "horse", "cow"};
    for (int i = 0; i < 30; ++i) {
        const std::string animal = animals[i % 6];
        pairs << Json{{"query", fmt::format("{} {}", animal, i)}, {"document", fmt::format("text {} of a {}", i, animal)}}.dump() << "\n";
        corpus
            << Json{{"_id", fmt::format("d{}", i)}, {"title", ""}, {"text", fmt::format("text {} speaks of a <b>{}</b>", i, animal)}}.dump()
            << "\n";
        if (i >= 6) continue;
        queries << Json{{"_id", fmt::format("q{}", i)}, {"text", fmt::format("what is a {}", animal)}}.dump() << "\n";
        for (int d = i; d < 30; d += 6) qrels << fmt::format("q{}\td{}\t1\n", i, d);
    }
    std::ofstream train(folder / "topics/train.jsonl"), test(folder / "topics/test.jsonl");
    for (int i = 0; i < 24; ++i)
        for (std::ofstream* out : {&train, &test})
            *out << Json{{"text", fmt::format("{} number {}", animals[i % 6], i)}, {"label", i % 2 ? "odd" : "even"}}.dump() << "\n";
    std::ofstream(folder / "e.yaml") << "name: explored\nmodel: " << (shared_folder() / "fixtures/bert").string()
                                     << "\nmax_length: 32\nthreads: 1\nseeds: [1]\n"
                                        "tasks:\n  retrieval:\n    instructions: {query: \"query: \", document: \"document: \"}\n"
                                        "    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
                                        "  classification:\n    instructions: {text: \"classification: \"}\n"
                                        "variants:\n"
                                     << variants
                                     << "training: {batch_size: 8, steps: 1}\n"
                                        "evaluation:\n  baseline: true\n  datasets:\n"
                                        "    - {name: animals, source: folder, path: animals, task: retrieval}\n"
                                        "    - {name: topics, source: folder, path: topics, task: classification}\n";
    for (std::ofstream* out : {&pairs, &corpus, &queries, &qrels, &train, &test}) out->close();
    QProcess run;
    run.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"),
              {QStringLiteral("run"), QString::fromStdString((folder / "e.yaml").string()), QStringLiteral("--project"),
               QString::fromStdString((folder / "project").string())});
    if (!run.waitForFinished(300'000)) return "faceter run took too long";
    return run.exitCode() == 0 ? "" : run.readAllStandardError().toStdString();
}

}  // namespace faceter::testing
