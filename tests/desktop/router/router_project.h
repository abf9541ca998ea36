#pragma once
#include <fmt/format.h>

#include <QProcess>
#include <fstream>

#include "common/file.h"
#include "common/json.h"
#include "support/checkout.h"
#include "support/test.h"

namespace faceter::testing {

/// A really trained, tiny run of three gates on the reference model with the study of its router. Returns why there is none; empty: it is
/// there.
inline std::string make_router_project(const fs::path& folder) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> domains{
        {"nature", {"river", "stone", "water", "boat", "fish", "lake"}},
        {"music", {"music", "song", "guitar", "drum", "voice", "dance"}},
        {"food", {"bread", "salt", "sugar", "milk", "egg", "cake"}}};
    std::string tasks, sets;
    for (const auto& [name, all] : domains) {
        const auto words = [&all = all](int i, int count) {
            std::string text;
            for (int k = 0; k < count; ++k) text += all[static_cast<std::size_t>(i * 7 + k * (i % 5 + 1)) % all.size()] + " ";
            return text + std::to_string(i);
        };
        const fs::path test = folder / (name + "_test");
        make_directories(test / "qrels");
        std::ofstream pairs(folder / (name + ".jsonl")), corpus(test / "corpus.jsonl"), queries(test / "queries.jsonl"),
            qrels(test / "qrels/test.tsv");
        qrels << "query-id\tcorpus-id\tscore\n";
        for (int i = 0; i < 40; ++i) pairs << Json{{"query", words(i, 2)}, {"document", words(i, 6)}}.dump() << "\n";
        for (int i = 40; i < 55; ++i) {
            corpus << Json{{"_id", fmt::format("d{}", i)}, {"title", ""}, {"text", words(i, 6)}}.dump() << "\n";
            queries << Json{{"_id", fmt::format("q{}", i)}, {"text", words(i, 2)}}.dump() << "\n";
            qrels << fmt::format("q{}\td{}\t1\n", i, i);
        }
        tasks += fmt::format("  {}:\n    type: retrieval\n    train: [{{name: {}, source: file, path: {}.jsonl}}]\n", name, name, name);
        sets += fmt::format("    - {{name: {}, path: {}_test, as: {}}}\n", name, name, name);
    }
    std::ofstream(folder / "e.yaml") << "name: routed\nmodel: " << (shared_folder() / "fixtures/bert").string()
                                     << "\nmax_length: 24\nthreads: 1\nseeds: [1]\ntasks:\n"
                                     << tasks << "variants:\n  RR: {method: router_retriever, rank: 2, library_examples: 20}\n"
                                     << "training: {batch_size: 8, steps: 2, learning_rate: 1.0e-2}\n"
                                     << "evaluation:\n  baseline: false\n  datasets:\n"
                                     << sets << "analyses: [{method: router_study, clusters: [1, 2], orders: 2}]\n";
    QProcess run;
    run.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter"),
              {QStringLiteral("run"), QString::fromStdString((folder / "e.yaml").string()), QStringLiteral("--project"),
               QString::fromStdString((folder / "project").string())});
    if (!run.waitForFinished(300'000)) return "faceter run took too long";
    return run.exitCode() == 0 ? "" : run.readAllStandardError().toStdString();
}

}  // namespace faceter::testing
