#include "cli/program.h"
#include "common/file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What `faceter check` refuses before anything starts: a start model that a variant cannot begin with, a setting that several processes
/// cannot compute.
class TestStartModels : public QObject {
    Q_OBJECT

    Outcome check(const fs::path& model, const std::string& method, const std::vector<std::string>& options = {},
                  const std::string& more = "") const {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "pairs.jsonl", "{\"query\": \"a\", \"document\": \"b\"}\n");
        write_file_atomic(folder.path() / "x.yaml",
                          "name: x\nmodel: " + model.string() +
                              "\ntasks:\n  retrieval:\n    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
                              "variants:\n  V: {method: " +
                              method + "}\nevaluation: {baseline: false, datasets: []}\n" + more);
        std::vector<std::string> arguments = {"check", (folder.path() / "x.yaml").string()};
        arguments.insert(arguments.end(), options.begin(), options.end());
        return faceter::testing::faceter(arguments);
    }

  private Q_SLOTS:
    void task_experts_on_token_routed_blocks_are_refused_before_anything_starts() {
        NEED_SHARED();
        const Outcome outcome = check(shared_folder() / "fixtures/nomic_moe", "mote");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "variant 'V' (mote) needs a dense start model");
        HAS(outcome.err, "token-routed blocks");
        HAS(outcome.err, "name a dense model under 'model'");
        QCOMPARE(check(shared_folder() / "fixtures/nomic_moe", "token_routed_moe").code, 0);
        QCOMPARE(check(shared_folder() / "fixtures/nomic_bert", "mote").code, 0);
    }

    void a_release_with_adapters_of_its_tasks_starts_without_them_and_says_so() {
        NEED_SHARED();
        const Outcome outcome = check(shared_folder() / "fixtures/jina_embeddings_v3/released_layout", "dense");
        QCOMPARE(outcome.code, 0);
        HAS(outcome.err, "without the adapters of its tasks (retrieval.query, retrieval.passage");
        HAS(outcome.err, "has no tokenizer; that of");
    }

    void a_model_of_one_block_is_refused_where_experts_begin_at_the_second() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        fs::copy(shared_folder() / "fixtures/bert", folder.path() / "one", fs::copy_options::recursive);
        Json config = read_json(folder.path() / "one/config.json");
        config["num_hidden_layers"] = 1;
        write_file_atomic(folder.path() / "one/config.json", config.dump());
        for (const std::string method : {"mote", "token_routed_moe"}) {
            const Outcome outcome = check(folder.path() / "one", method);
            QCOMPARE(outcome.code, 3);
            HAS(outcome.err, "variant 'V' (" + method + ") begins at the second block (placement=every_other)");
            QCOMPARE(check(folder.path() / "one", method + ", placement: every").code, 0);
        }
    }

    void a_folder_whose_parts_are_of_several_models_is_refused_data() {
        QTest::addColumn<QString>("changed");
        QTest::addColumn<QString>("said");
        QTest::newRow("no tokenizer") << "tokenizer"
                                      << "tokenizer";
        QTest::newRow("a tokenizer of more words") << "words"
                                                   << "the tokenizer beside it gives ids up to";
        QTest::newRow("a layer of another width") << "width"
                                                  << "layer '2_Dense' behind pooling takes 7 features";
    }
    void a_folder_whose_parts_are_of_several_models_is_refused() {
        NEED_SHARED();
        QFETCH(QString, changed);
        QFETCH(QString, said);
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "model";
        fs::copy(shared_folder() / "fixtures/bert", model, fs::copy_options::recursive);
        QCOMPARE(check(model, "dense").code, 0);
        if (changed == "tokenizer")
            for (const char* file : {"tokenizer.json", "vocab.txt"}) fs::remove(model / file);
        if (changed == "words") {
            Json config = read_json(model / "config.json");
            config["vocab_size"] = 100;
            write_file_atomic(model / "config.json", config.dump());
        }
        if (changed == "width") {
            Json modules = read_json(model / "modules.json");
            const Json layer = {{"idx", 2}, {"path", "2_Dense"}, {"type", "sentence_transformers.models.Dense"}};
            modules.insert(modules.begin() + 2, layer);
            write_file_atomic(model / "modules.json", modules.dump());
            fs::copy(shared_folder() / "fixtures/distilbert/2_Dense", model / "2_Dense");
            Json dense = read_json(model / "2_Dense/config.json");
            dense["in_features"] = 7;
            write_file_atomic(model / "2_Dense/config.json", dense.dump());
        }
        const Outcome outcome = check(model, "dense");
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, said.toStdString());
    }

    void a_limit_on_a_batch_is_refused_in_several_processes() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        const Outcome outcome = check(model, "token_routed_moe, capacity: 1.5", {"--devices", "2"});
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "variants.V.capacity is 1.5, and 2 processes shall train together");
        HAS(outcome.err, "(--devices 1)");
        QCOMPARE(check(model, "token_routed_moe, capacity: 1.5").code, 0);
        QCOMPARE(check(model, "token_routed_moe", {"--devices", "2"}).code, 0);
    }

    void texts_longer_than_the_model_takes_are_refused_before_anything_starts() {
        NEED_SHARED();
        const fs::path model = fs::canonical(shared_folder() / "fixtures/bert");
        const auto positions = json_at<int>(read_json(model / "config.json"), "max_position_embeddings", "config.json");
        const Outcome outcome = check(model, "instruction", {}, "max_length: " + std::to_string(positions + 1) + "\n");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "max_length is " + std::to_string(positions + 1) + ", and the model in " + model.string() + " takes at most");
        HAS(outcome.err, "or leave it out");
        QCOMPARE(check(model, "instruction", {}, "max_length: 8\n").code, 0);
    }

    void a_model_of_several_is_refused_as_a_start_and_as_a_teacher() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        fs::copy(shared_folder() / "fixtures/bert", folder.path() / "experts", fs::copy_options::recursive);
        write_file_atomic(folder.path() / "experts/faceter.json",
                          R"({"faceter_model": 1, "encoders": 1, "blocks": [{}, {"task_experts": 2}]})");
        const Outcome outcome = check(folder.path() / "experts", "instruction");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "has task experts");
        HAS(outcome.err, "faceter export RUN DIR --task");

        const std::string teacher = "objective: {method: gist, teacher: " + (folder.path() / "experts").string() + "}\n";
        const Outcome taught = check(shared_folder() / "fixtures/bert", "instruction", {}, teacher);
        QCOMPARE(taught.code, 3);
        HAS(taught.err, "has task experts, and a teacher is one model");
    }
};

FACETER_TEST(TestStartModels)
#include "test_start_models.moc"
