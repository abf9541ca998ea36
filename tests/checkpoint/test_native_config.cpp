#include "checkpoint/native_config.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/error.h"
#include "support/test.h"

using namespace faceter;

class TestNativeConfig : public QObject {
    Q_OBJECT

    /// What matters of the file that Qwen's models come with.
    static Json qwen_tokenizer() {
        const std::string split =
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
            "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
        const Json splits = {{"type", "Split"}, {"behavior", "Isolated"}, {"invert", false}, {"pattern", {{"Regex", split}}}};
        const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
        return {{"normalizer", {{"type", "NFC"}}},
                {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {splits, bytes}}}},
                {"model", {{"type", "BPE"}}}};
    }

  private Q_SLOTS:
    void qwen2_with_its_own_tokenizer_is_within_what_transformers_holds() {
        QCOMPARE(beyond_native_tokenizer("qwen2", qwen_tokenizer()), std::string());
    }

    void qwen2_with_another_tokenizer_is_not() {
        Json spaced = qwen_tokenizer(), plain = qwen_tokenizer(), none;
        spaced["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true;
        plain["normalizer"] = nullptr;
        none = {{"model", {{"type", "WordPiece"}}}};
        for (const Json& other : {spaced, plain, none})
            QVERIFY(beyond_native_tokenizer("qwen2", other).starts_with("its tokenizer is not"));
        QCOMPARE(beyond_native_tokenizer("qwen3", spaced), std::string());  // takes the file as it is
    }

    void stretched_positions_are_beyond_the_native_code_of_nomic_bert() {
        EncoderConfig encoder;
        encoder.gated = true;
        encoder.qkv_bias = encoder.attention_output_bias = encoder.up_bias = encoder.down_bias = false;
        encoder.num_token_types = 2;
        encoder.trained_positions = encoder.length_limit = 64;
        encoder.rotary_scaling = 2;
        QCOMPARE(beyond_native_code("nomic_bert", encoder, 64), std::string());  // no text is longer
        QVERIFY(beyond_native_code("nomic_bert", encoder, 200).starts_with("its rotary positions are stretched"));
        encoder.length_limit = 200;
        QVERIFY(beyond_native_code("nomic_bert", encoder, 64).starts_with("its rotary positions are stretched"));
        QCOMPARE(beyond_native_code("llama", encoder, 200), std::string());
        encoder.rotary_scaling = 0;
        QCOMPARE(beyond_native_code("nomic_bert", encoder, 200), std::string());
    }

    void what_transformers_own_nomic_bert_says_is_written_as_it_was_read_data() {
        QTest::addColumn<QString>("activation");
        QTest::addColumn<double>("factor");
        for (const char* activation : {"silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu"})
            QTest::newRow(activation) << activation << 1.0;
        QTest::newRow("linear") << "silu" << 2.5;
    }
    /// A run's own model is written by it: what it lost, the run would be read, scored and served without.
    void what_transformers_own_nomic_bert_says_is_written_as_it_was_read() {
        QFETCH(QString, activation);
        QFETCH(double, factor);
        const Json rotary = factor == 1 ? Json{{"rope_theta", 70.0}, {"rope_type", "default"}}
                                        : Json{{"rope_theta", 70.0}, {"rope_type", "linear"}, {"factor", factor}};
        const Json config = {{"model_type", "nomic_bert"},    {"vocab_size", 100},       {"hidden_size", 24},
                             {"num_hidden_layers", 2},        {"intermediate_size", 40}, {"num_attention_heads", 3},
                             {"max_position_embeddings", 64}, {"type_vocab_size", 2},    {"hidden_act", activation.toStdString()},
                             {"rope_parameters", rotary}};
        const Weights none(std::vector<std::filesystem::path>{});
        const EncoderConfig read = EncoderConfig::from_json(config, "first", none);
        const Json written = with_native_members(config, read);
        const EncoderConfig again = EncoderConfig::from_json(written, "written", none);
        QVERIFY(again.activation == read.activation);
        QVERIFY(again.gated);
        QVERIFY(again.rotary == read.rotary);
        QCOMPARE(again.rotary.stretch, factor);
        QVERIFY(written.at("rope_parameters") == rotary);  // as transformers reads it
    }

    /// 151,643 in Qwen2's own file; Json takes 20,000 members of an object at most.
    void the_rules_are_read_beside_a_vocabulary_of_any_size() {
        std::string text = qwen_tokenizer().dump();
        std::string vocabulary = R"("vocab":{"piece":0)";
        for (int i = 1; i < 30'000; ++i) vocabulary += fmt::format(R"(,"piece {}":{})", i, i);
        text.insert(text.find(R"("type":"BPE")"), vocabulary + "},");
        const Json rules = tokenizer_rules(text, "tokenizer.json");
        QCOMPARE(beyond_native_tokenizer("qwen2", rules), std::string());
        QVERIFY(!rules.contains("model"));
        QVERIFY_THROWS_EXCEPTION(Error, tokenizer_rules("{\"normalizer\": ", "tokenizer.json"));
        QVERIFY(beyond_native_tokenizer("qwen2", tokenizer_rules("[]", "tokenizer.json")).starts_with("its tokenizer is not"));
    }
};

FACETER_TEST(TestNativeConfig)
#include "test_native_config.moc"
