#include <fstream>

#include "checkpoint/adapter_folder.h"
#include "checkpoint/safetensors.h"
#include "common/file.h"
#include "common/json.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// PEFT folders from outside: what is not plain LoRA, torn or of a wrong size is an error that says which file and what.
class TestAdapterFolder : public QObject {
    Q_OBJECT

    TemporaryDirectory folder_;

    static Json plain() {
        return {{"peft_type", "LORA"}, {"r", 2}, {"lora_alpha", 8}, {"target_modules", {"query"}}, {"bias", "none"}, {"use_dora", false}};
    }
    void write(const Json& config, std::vector<std::pair<std::string, std::vector<std::int64_t>>> tensors) {
        std::ofstream(folder_.path() / "adapter_config.json") << config.dump();
        static const std::vector<float> zeros(4096, 0.0f);
        SafetensorsWriter writer;
        for (auto& [name, shape] : tensors) writer.add(name, DType::f32, shape, zeros.data());
        writer.write(folder_.path() / "adapter_model.safetensors");
    }
    static std::vector<std::pair<std::string, std::vector<std::int64_t>>> one_layer() {
        return {{"base_model.model.encoder.layer.0.attention.self.query.lora_A.weight", {2, 6}},
                {"base_model.model.encoder.layer.0.attention.self.query.lora_B.weight", {6, 2}}};
    }

  private Q_SLOTS:
    void an_adapter_is_read_by_its_tensors() {
        write(plain(), one_layer());
        const AdapterFolder opened = AdapterFolder::open(folder_.path());
        QCOMPARE(opened.modules, std::vector<std::string>{"encoder.layer.0.attention.self.query"});
        QCOMPARE(opened.config.scale(), 4.0);
    }

    void a_beginning_that_leaves_the_base_as_it_is_is_read() {
        for (const Json& init : {Json(true), Json(false), Json(nullptr), Json("gaussian"), Json("orthogonal"), Json("eva")}) {
            Json config = plain();
            config["init_lora_weights"] = init;
            write(config, one_layer());
            QCOMPARE(AdapterFolder::open(folder_.path()).config.scale(), 4.0);
        }
    }

    void rank_stabilised_adapters_scale_by_the_root_of_the_rank() {
        Json config = plain();
        config["use_rslora"] = true;
        config["r"] = 2;
        write(config, one_layer());
        QVERIFY(std::abs(AdapterFolder::open(folder_.path()).config.scale() - 8 / std::sqrt(2.0)) < 1e-12);
    }

    void a_form_that_is_not_plain_lora_is_refused_by_name_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        QTest::newRow("kind") << "peft_type"
                              << "\"IA3\"";
        QTest::newRow("dora") << "use_dora"
                              << "true";
        QTest::newRow("biases") << "bias"
                                << "\"all\"";
        QTest::newRow("ranks by layer") << "rank_pattern"
                                        << "{\"query\": 4}";
        QTest::newRow("further modules") << "modules_to_save"
                                         << "[\"pooler\"]";
        QTest::newRow("pissa") << "init_lora_weights"
                               << "\"pissa_niter_16\"";
        QTest::newRow("olora") << "init_lora_weights"
                               << "\"olora\"";
        QTest::newRow("loftq") << "init_lora_weights"
                               << "\"loftq\"";
        QTest::newRow("activated later") << "alora_invocation_tokens"
                                         << "[5, 6]";
        QTest::newRow("rank") << "r"
                              << "0";
        QTest::newRow("rank of a bomb") << "r"
                                        << "99999999999";
        QTest::newRow("dropout") << "lora_dropout"
                                 << "1.5";
        QTest::newRow("type") << "lora_alpha"
                              << "\"eight\"";
    }
    void a_form_that_is_not_plain_lora_is_refused_by_name() {
        QFETCH(QString, key);
        QFETCH(QString, value);
        Json config = plain();
        config[key.toStdString()] = Json::parse(value.toStdString());
        write(config, one_layer());
        EXPECT_ERROR(AdapterFolder::open(folder_.path()), std::string("adapter_config.json"), key.toStdString());
    }

    void tensors_that_do_not_fit_are_named() {
        auto tensors = one_layer();
        tensors[1].second = {6, 3};
        write(plain(), tensors);
        EXPECT_ERROR(AdapterFolder::open(folder_.path()), "lora_B.weight", "[6, 3]", "second size");
        tensors = one_layer();
        tensors.pop_back();
        write(plain(), tensors);
        EXPECT_ERROR(AdapterFolder::open(folder_.path()), "lora_B.weight");
        tensors = one_layer();
        tensors.push_back({"base_model.model.pooler.dense.weight", {6, 6}});
        write(plain(), tensors);
        EXPECT_ERROR(AdapterFolder::open(folder_.path()), "pooler.dense.weight", "no part of a plain LoRA");
    }

    void a_pickle_is_refused_with_the_reason() {
        TemporaryDirectory other;
        std::ofstream(other.path() / "adapter_config.json") << plain().dump();
        std::ofstream(other.path() / "adapter_model.bin") << "x";
        EXPECT_ERROR(AdapterFolder::open(other.path()), "adapter_model.bin", "pickle");
        EXPECT_ERROR(AdapterFolder::open(other.path() / "nowhere"), "nowhere", "no folder");
    }

    void targets_match_as_peft_matches_them() {
        QVERIFY(is_adapter_target("encoder.layer.0.attention.self.query", {"query"}));
        QVERIFY(is_adapter_target("encoder.layer.0.attention.self.query", {"key", "self.query"}));
        QVERIFY(!is_adapter_target("encoder.layer.0.attention.self.my_query", {"query"}));
        QVERIFY(is_adapter_target("anything", {"all-linear"}));
    }
};

FACETER_TEST(TestAdapterFolder)
#include "test_adapter_folder.moc"
