#include <fmt/format.h>
#include <fmt/ranges.h>

#include "small_tokenizer.h"
#include "support/test.h"
#include "text/tokenizer_ends.h"

using namespace faceter;
using namespace faceter::testing;

using Ids = std::vector<std::int32_t>;

/// The tokenizers of the encoders that people fine-tune now, against the ids of Hugging Face's and of the sentencepiece library.
class TestModernTokenizers : public QObject {
    Q_OBJECT
  private:
    static void compare_all(const Tokenizer& tokenizer, const Json& texts, const Json& expected, std::size_t max_length) {
        QCOMPARE(texts.size(), expected.size());
        QVERIFY(!texts.empty());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto text = texts[i].get<std::string>();
            const auto ids = encode(tokenizer, text, max_length), wanted = expected[i].get<Ids>();
            QVERIFY2(ids == wanted, fmt::format("text {}: {}: {} for {}", i, text, fmt::join(ids, " "), fmt::join(wanted, " ")).c_str());
        }
    }

  private Q_SLOTS:
    void nasty_texts_have_the_ids_of_hugging_face_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"qwen3", "llama3", "gemma", "llama2", "xlmr", "mdeberta", "roberta", "mpnet"}) QTest::newRow(kind) << kind;
    }
    void nasty_texts_have_the_ids_of_hugging_face() {
        NEED_SHARED();
        QFETCH(QString, kind);
        const fs::path folder = shared_folder() / "fixtures/tokenizers_modern";
        const Json expected = read_json(folder / "expected.json");
        compare_all(*load_tokenizer(folder / kind.toStdString()), expected["texts"], expected["ids"][kind.toStdString()], 0);
    }

    void the_model_file_of_mdeberta_alone_gives_the_ids_of_the_sentencepiece_library() {
        NEED_SHARED();
        const fs::path fixtures = shared_folder() / "fixtures/tokenizers_modern";
        const Json expected = read_json(fixtures / "expected.json");
        TemporaryDirectory folder;
        for (const char* name : {"spm.model", "tokenizer_config.json"}) fs::copy(fixtures / "mdeberta" / name, folder.path() / name);
        const auto own = load_tokenizer(folder.path()), converted = load_tokenizer(fixtures / "mdeberta");
        compare_all(*own, expected["texts"], expected["ids"]["mdeberta_sentencepiece"], 0);
        QCOMPARE(own->special().mask, converted->special().mask);
        QCOMPARE(own->special().pad, converted->special().pad);
        QCOMPARE(own->vocab_size(), converted->vocab_size());
        for (int id = 0; id < int(own->vocab_size()); ++id) QCOMPARE(own->id_to_piece(id), converted->id_to_piece(id));
        write_file_atomic(folder.path() / "tokenizer_config.json", R"({"do_lower_case": false, "vocab_type": "spm"})");  // the release's
        compare_all(*load_tokenizer(folder.path()), expected["texts"], expected["ids"]["mdeberta_sentencepiece"], 0);
        QCOMPARE(load_tokenizer(folder.path())->special().mask, converted->special().mask);
    }

    void ends_that_only_the_configuration_asks_for_are_written_into_the_template_data() {
        QTest::addColumn<QString>("processor");
        QTest::newRow("of its own") << R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},
            {"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2],"tokens":["[CLS]"]}}})";
        QTest::newRow("null") << "null";
        QTest::newRow("none") << "";
    }
    void ends_that_only_the_configuration_asks_for_are_written_into_the_template() {
        QFETCH(QString, processor);
        Json json = small_tokenizer_json();
        json["normalizer"] = {{"type", "Lowercase"}};
        json["pre_tokenizer"] = {{"type", "Whitespace"}};
        json.erase("post_processor");
        if (!processor.isEmpty()) json["post_processor"] = Json::parse(processor.toStdString());
        TokenizerFolder asked(json);
        asked.write("tokenizer_config.json",
                    R"({"tokenizer_class": "LlamaTokenizer", "bos_token": "[CLS]", "eos_token": "[SEP]", "add_bos_token": true,
                            "add_eos_token": true})");
        const TokenizerFolder written(Json::parse(tokenizer_json_with_ends(asked.path())));
        for (const char* text : {"a b", "", "unaffable a"}) {
            const Ids ids = encode(*asked.load(), text);
            QCOMPARE(ids.front(), 2);
            QCOMPARE(ids.back(), 3);
            QCOMPARE(encode(*written.load(), text), ids);
        }
        QCOMPARE(tokenizer_json_with_ends(written.path()), read_file(written.path() / "tokenizer.json"));
        // A router's gates were made for the model that both are.
        const std::string fingerprint = asked.load()->fingerprint();
        asked.write("tokenizer.json", tokenizer_json_with_ends(asked.path()));
        QCOMPARE(asked.load()->fingerprint(), fingerprint);
    }

    /// tokenization_qwen.py, update_post_processor; its tokenizer.json has a ByteLevel alone.
    void the_end_that_the_code_of_gte_qwen2_puts_there_is_put_there() {
        NEED_SHARED();
        const fs::path qwen = shared_folder() / "fixtures/qwen3_embedding";
        Json json = read_json(qwen / "tokenizer.json");
        json["post_processor"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
        TokenizerFolder release(json);
        Json config = {{"tokenizer_class", "Qwen2Tokenizer"}, {"eos_token", "<|endoftext|>"}, {"add_eos_token", true}};
        release.write("tokenizer_config.json", config.dump());
        const Ids without = encode(*release.load(), "two words");
        config["auto_map"]["AutoTokenizer"] =
            Json::array({"tokenization_qwen.Qwen2Tokenizer", "org/name--tokenization_qwen.Qwen2TokenizerFast"});
        release.write("tokenizer_config.json", config.dump());
        Ids wanted = encode(*load_tokenizer(qwen), "two words");  // whose template has the end
        QCOMPARE(encode(*release.load(), "two words"), wanted);
        wanted.pop_back();
        QCOMPARE(without, wanted);
        const TokenizerFolder written(Json::parse(tokenizer_json_with_ends(release.path())));
        QCOMPARE(encode(*written.load(), "two words"), encode(*release.load(), "two words"));
    }

    void truncated_texts_of_the_model_fixtures_have_the_ids_of_hugging_face_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"qwen3_embedding", "qwen3_bidirectional", "embedding_gemma", "eurobert", "mistral", "gte",
                                  "jina_embeddings_v3", "mmbert", "deberta_v2", "mpnet", "distilbert", "roberta"})
            QTest::newRow(model) << model;
    }
    void truncated_texts_of_the_model_fixtures_have_the_ids_of_hugging_face() {
        NEED_SHARED();
        QFETCH(QString, model);
        const fs::path folder = shared_folder() / "fixtures" / model.toStdString();
        const Json expected = read_json(folder / "expected.json");
        compare_all(*load_tokenizer(folder), expected["texts"], expected["token_ids"], expected["max_length"]);
        // As exported: its own file says all, whatever reads it.
        const TokenizerFolder alone(Json::parse(tokenizer_json_with_ends(folder)));
        compare_all(*alone.load(), expected["texts"], expected["token_ids"], expected["max_length"]);
    }
};

FACETER_TEST(TestModernTokenizers)
#include "test_modern_tokenizers.moc"
