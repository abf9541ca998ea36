#include <fstream>

#include "common/file.h"
#include "data/child_process.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "model/embedding_model.h"
#include "record/journal.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// How a backbone is made: conversion to rotary positions, masked-language modelling as a stage, and what both leave.
class TestPretraining : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

    static ChildResult worker(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), FACETER_BINARY_DIR "/bin/faceter-worker");
        return run_child(arguments, std::chrono::seconds(200), 1 << 20);
    }
    std::string converted() const { return (project_.path() / "converted").string(); }

    RunDirectory run(const std::string& model, const std::string& file = "texts.txt", const std::string& task = "",
                     const std::string& length = "steps: 4") const {
        const std::string text = "name: pretraining\nmodel: " + model +
                                 "\nmax_length: 24\nthreads: 1\n"
                                 "tasks:\n  texts: {" +
                                 task + "type: retrieval, train: [{name: texts, source: file, format: texts, path: " + file +
                                 "}]}\n"
                                 "variants:\n  V: {method: " +
                                 (task.empty() ? "dense" : "instruction") +
                                 "}\n"
                                 "training: {batch_size: 8, " +
                                 length +
                                 ", learning_rate: 1.0e-3, warmup_ratio: 0}\n"
                                 "stages:\n  - {name: masked language, objective: {method: masked_language}}\n"
                                 "  - {name: contrastive, training: {steps: 2}}\n"
                                 "evaluation: {baseline: false, datasets: [{path: sts, name: similar}]}\n";
        const Experiment experiment =
            Experiment::parse(text, project_.path() / "p.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        const RunDirectory made = RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
        const ChildResult result = worker({"run", made.folder().string()});
        if (result.exit_code != 0) throw std::runtime_error(result.last_lines);
        return made;
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        std::ofstream texts(project_.path() / "texts.txt");
        for (int i = 0; i < 60; ++i) texts << "this is text number " << i << " of some that speak about " << i * 7 % 13 << "\n";
        std::ofstream document(project_.path() / "long.txt");
        for (int i = 0; i < 12; ++i) {
            for (int k = 0; k < 60; ++k) document << "word " << (i * k) % 13 << " ";
            document << "\n";
        }
        make_directories(project_.path() / "sts");
        std::ofstream(project_.path() / "sts/dataset.json") << R"({"name": "similar", "task": "sts"})";
        std::ofstream pairs(project_.path() / "sts/test.jsonl");
        for (int i = 0; i < 12; ++i)
            pairs << Json{{"sentence1", fmt::format("a cat number {}", i)},
                          {"sentence2", fmt::format("the cat {}", i * i % 7)},
                          {"score", i % 5}}
                         .dump()
                  << "\n";
        const ChildResult result =
            worker({"convert", (shared_folder() / "fixtures/xlm_roberta").string(), converted(), "--max-positions", "512"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
    }
    void a_converted_folder_loads_with_all_weights_but_the_positions() {
        NEED_SHARED();
        const ModelFolder folder = ModelFolder::open(converted()), before = ModelFolder::open(shared_folder() / "fixtures/xlm_roberta");
        QCOMPARE(folder.model_type, std::string("nomic_bert"));
        QCOMPARE(folder.max_seq_length, std::size_t{512});
        const auto model = EmbeddingModel::open(folder);
        const EncoderConfig& config = model->encoders.front()->config();
        QVERIFY(config.max_positions == 0 && config.rotary_dim == config.head_dim && config.rotary.base == 10000);
        const Weights old = before.weights(), now = folder.weights();
        for (const std::string& name : now.names()) QVERIFY2(name.find("position") == std::string::npos, name.c_str());
        const auto read = [](const Weights& weights, const std::string& name) {
            const at::Tensor values = at::empty(weights.at(name).shape, at::kFloat);
            weights.read_float(name, {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
            return values;
        };
        QVERIFY(at::equal(read(now, "embeddings.word_embeddings.weight"), read(old, "roberta.embeddings.word_embeddings.weight")));
        const Weights head(std::vector<fs::path>{fs::path(converted()) / "mlm_head.safetensors"});
        QVERIFY(at::equal(read(head, "cls.predictions.transform.dense.weight"), read(old, "lm_head.dense.weight")));
        QVERIFY(at::equal(read(head, "cls.predictions.bias"), read(old, "lm_head.bias")));
    }
    void a_folder_with_something_in_it_and_a_model_without_such_positions_are_refused() {
        NEED_SHARED();
        const std::string fixtures = (shared_folder() / "fixtures").string();
        const ChildResult full = worker({"convert", fixtures + "/bert", converted()});
        QVERIFY2(full.exit_code == 2 && full.last_lines.find("is not empty") != std::string::npos, full.last_lines.c_str());
        const ChildResult t5 = worker({"convert", fixtures + "/t5", (project_.path() / "other").string()});
        QVERIFY2(t5.exit_code == 4 && t5.last_lines.find("no table of absolute positions") != std::string::npos, t5.last_lines.c_str());
    }
    /// Its head would be the one that the next pre-training starts from.
    void what_a_conversion_leaves_of_another_model_is_refused() {
        NEED_SHARED();
        const fs::path folder = project_.path() / "twice";
        const auto convert = [&](const char* model) {
            return worker({"convert", (shared_folder() / "fixtures" / model).string(), folder.string(), "--force"});
        };
        for (int i = 0; i < 2; ++i) {
            const ChildResult same = convert("xlm_roberta");
            QVERIFY2(same.exit_code == 0, same.last_lines.c_str());
        }
        const std::string config = read_file(folder / "config.json");
        const ChildResult other = convert("bert");
        QCOMPARE(other.exit_code, 2);
        QVERIFY2(other.last_lines.find("mlm_head.safetensors") != std::string::npos, other.last_lines.c_str());
        QCOMPARE(read_file(folder / "config.json"), config);
    }
    void texts_beyond_the_longest_length_are_read_in_segments_by_masked_language_modelling_alone() {
        NEED_SHARED();
        std::vector<std::size_t> examples;
        for (const JournalEvent& event : read_journal(run(converted(), "long.txt").attempt_journal(1)).events)
            if (event.type == "stage_started") examples.push_back(event.fields.at("examples"));
        QCOMPARE(examples.size(), std::size_t{2});
        QVERIFY2(examples[0] >= 12 * 5, fmt::format("{}", examples[0]).c_str());  // 120 words and more, 22 tokens at a time
        QCOMPARE(examples[1], std::size_t{12});
    }
    /// The instruction of the side that is not read counted.
    void the_tokens_of_a_batch_are_those_of_the_texts_that_are_read() {
        NEED_SHARED();
        const auto steps_with = [&](const std::string& task) {
            const RunDirectory done = run(converted(), "texts.txt", task, "epochs: 1, batch_tokens: 64");
            for (const JournalEvent& event : read_journal(done.attempt_journal(1)).events)
                if (event.type == "stage_started") return event.fields.at("total_steps").get<int>();
            return 0;
        };
        const int plain = steps_with("");
        QVERIFY(plain > 60 / 8 + 1);
        QCOMPARE(steps_with("instructions: {query: 'which of the texts speaks about this number of some that speak: '}, "), plain);
    }
    void a_stage_of_masked_language_modelling_leaves_its_head_beside_the_model_and_its_series_in_the_journal() {
        NEED_SHARED();
        const RunDirectory done = run(converted());
        int masked = 0, contrastive = 0;
        std::string source;
        for (const JournalEvent& event : read_journal(done.attempt_journal(1)).events) {
            if (event.type == "objective") source = event.fields.at("message");
            if (event.type != "step") continue;
            const bool second = json_or<int>(event.fields, "stage", 0, "step") == 1;
            QCOMPARE(event.fields.contains("masked_accuracy"), !second);
            ++(second ? contrastive : masked);
            if (!second) QVERIFY(event.fields.at("loss").get<double>() > 1 && event.fields.at("masked_tokens").get<double>() > 5);
        }
        QCOMPARE(masked, 4);
        QCOMPARE(contrastive, 2);
        QVERIFY2(source.find("mlm_head.safetensors") != std::string::npos, source.c_str());
        const Weights head(std::vector<fs::path>{done.folder() / "model/mlm_head.safetensors"}),
            start(std::vector<fs::path>{fs::path(converted()) / "mlm_head.safetensors"});
        const std::string name = "cls.predictions.transform.dense.weight";
        const std::vector<std::int64_t> shape = head.at(name).shape;
        const at::Tensor a = at::empty(shape, at::kFloat), b = at::empty(shape, at::kFloat);
        head.read_float(name, {a.data_ptr<float>(), static_cast<std::size_t>(a.numel())});
        start.read_float(name, {b.data_ptr<float>(), static_cast<std::size_t>(b.numel())});
        QVERIFY(max_difference(a, b) > 1e-4);
        const fs::path out = project_.path() / "exported";
        const ChildResult exported = worker({"export", done.folder().string(), out.string()});
        QVERIFY2(exported.exit_code == 0, exported.last_lines.c_str());
        QVERIFY(fs::exists(out / "mlm_head.safetensors"));
        // transformers' own NomicBERT has no such MLP, and would draw weights for one that it has.
        QVERIFY(read_json(out / "config.json").at("hidden_act").get<std::string>().find("trust_remote_code") != std::string::npos);
        QVERIFY(EmbeddingModel::open(ModelFolder::open(out))->encoders.front()->config().rotary_dim > 0);
    }
};

FACETER_TEST(TestPretraining)
#include "test_pretraining.moc"
