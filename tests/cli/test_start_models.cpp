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

    void a_model_of_several_is_refused_as_a_start() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        fs::copy(shared_folder() / "fixtures/bert", folder.path() / "experts", fs::copy_options::recursive);
        write_file_atomic(folder.path() / "experts/faceter.json",
                          R"({"faceter_model": 1, "encoders": 1, "blocks": [{}, {"task_experts": 2}]})");
        const Outcome outcome = check(folder.path() / "experts", "instruction");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "has task experts");
        HAS(outcome.err, "faceter export RUN DIR --task");
    }
};

FACETER_TEST(TestStartModels)
#include "test_start_models.moc"
