#include "checkpoint/native_config.h"
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
};

FACETER_TEST(TestNativeConfig)
#include "test_native_config.moc"
