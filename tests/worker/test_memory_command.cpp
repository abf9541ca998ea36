#include <cmath>
#include <fstream>

#include "common/file.h"
#include "common/json.h"
#include "data/child_process.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What `faceter memory` says of an experiment: no data is read, nothing is trained, no GPU is needed.
class TestMemoryCommand : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    std::string file(const std::string& variants, const std::string& training = "{batch_size: 64}") const {
        const fs::path path = folder_.path() / "m.yaml";
        std::ofstream(path)
            << "name: memory\nmax_length: 48\nmodel: " << (shared_folder() / "fixtures/bert").string()
            << "\ntasks:\n  weak: {type: retrieval, instructions: {query: 'find: ', document: 'text: '}, train: [{name: weak, "
               "source: file, path: weak.jsonl}]}\nvariants:\n"
            << variants << "training: " << training << "\nevaluation: {baseline: false, datasets: [{path: sts}]}\n";
        return path.string();
    }
    static ChildResult run(std::vector<std::string> words) {
        words.insert(words.begin(), {FACETER_BINARY_DIR "/bin/faceter", "memory"});
        return run_child(words, std::chrono::seconds(100), 1 << 20);
    }
    static Json stages(const std::vector<std::string>& words) {
        const ChildResult result = run(words);
        if (result.exit_code != 0) throw std::runtime_error(result.last_lines);
        return Json::parse(result.output);
    }

  private Q_SLOTS:
    void every_variant_and_stage_is_said() {
        NEED_SHARED();
        const Json all =
            stages({file("  IC: {method: instruction}\n  MoTE: {method: mote}\n  L: {method: task_lora}\n"), "--gib", "1", "--json"});
        QCOMPARE(all.size(), std::size_t{3});
        for (const Json& one : all) {
            const Json& stage = one.at("stages").at(0);
            QCOMPARE(stage.at("pairs").get<int>(), 64);
            QVERIFY(stage.at("weights").get<std::int64_t>() > (1 << 20));
            QVERIFY(stage.at("bytes_recomputed").get<std::int64_t>() <= stage.at("bytes_kept").get<std::int64_t>());
            QVERIFY(stage.at("largest_batch").get<std::int64_t>() > 64);
            QVERIFY(stage.at("largest_batch_recomputed").get<std::int64_t>() >= stage.at("largest_batch").get<std::int64_t>());
            QCOMPARE(stage.at("device_bytes").get<std::int64_t>(), std::int64_t{1} << 30);
        }
        const auto moments = [&](std::size_t i) { return all.at(i).at("stages").at(0).at("moments").get<std::int64_t>(); };
        QVERIFY(moments(1) > moments(0) && moments(2) < moments(0) / 4);
    }
    void a_larger_batch_longer_texts_and_negatives_take_more() {
        NEED_SHARED();
        const auto bytes = [&](std::vector<std::string> words) {
            words.insert(words.begin(), file("  IC: {method: instruction}\n"));
            words.emplace_back("--json");
            return stages(words).at(0).at("stages").at(0).at("bytes").get<std::int64_t>();
        };
        const std::int64_t small = bytes({});
        QVERIFY(bytes({"--set", "training.batch_size=128"}) > small);
        QVERIFY(bytes({"--set", "max_length=64"}) > small);
        QVERIFY(bytes({"--negatives", "3"}) > small);
        QVERIFY(bytes({"--set", "training.activation_checkpointing=true"}) < small);
        QVERIFY(bytes({"--devices", "2"}) < small);
        QVERIFY(bytes({"--devices", "2", "--set", "training.sharding=zero2"}) < bytes({"--devices", "2"}));
    }
    void a_guide_takes_its_part() {
        NEED_SHARED();
        const auto stage = [&](const std::string& objective) {
            return stages({file("  IC: {method: instruction}\n", "{batch_size: 64}\n" + objective), "--gib", "1", "--json"})
                .at(0)
                .at("stages")
                .at(0);
        };
        const std::string guide = (shared_folder() / "fixtures/bert").string();
        const auto of = [](const Json& one, const char* name) { return one.at(name).get<double>(); };
        const Json alone = stage("");
        for (const char* method : {"gist", "cosine_to_teacher"}) {
            const Json guided = stage(std::string("objective: {method: ") + method + ", teacher: " + guide + "}");
            QVERIFY2(std::abs(of(guided, "weights") / of(alone, "weights") - 2) < 0.05, guided.dump().c_str());  // it is the same model
            QVERIFY2(of(guided, "bytes") > of(alone, "bytes") + 0.9 * of(alone, "weights"), guided.dump().c_str());
            QVERIFY2(of(guided, "largest_batch") > 64, guided.dump().c_str());
        }
    }
    void check_says_it_too() {
        NEED_SHARED();
        std::ofstream(folder_.path() / "weak.jsonl") << R"({"query": "a", "document": "b"})"
                                                     << "\n";
        fs::create_directories(folder_.path() / "sts");
        std::ofstream(folder_.path() / "sts/dataset.json") << R"({"name": "similar", "task": "sts"})";
        std::ofstream(folder_.path() / "sts/test.jsonl") << R"({"sentence1": "a", "sentence2": "b", "score": 1})"
                                                         << "\n";
        const ChildResult result =
            run_child({FACETER_BINARY_DIR "/bin/faceter", "check", file("  IC: {method: instruction}\n"), "--memory", "--devices", "2"},
                      std::chrono::seconds(100), 1 << 20);
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        for (const char* part : {"makes 1 run\n", "in a batch of 64 pairs on 2 GPUs", "with activation checkpointing", "weights"})
            QVERIFY2(result.output.find(part) != std::string::npos, result.output.c_str());
    }
};

FACETER_TEST(TestMemoryCommand)
#include "test_memory_command.moc"
