#include <fmt/format.h>

#include "small_tokenizer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

using Ids = std::vector<std::int32_t>;

/// Tokenizers of steps against the ids that Hugging Face's gave (fixtures of ../shared).
class TestPipelineFixtures : public QObject {
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
        for (const char* kind : {"xlmr_unigram", "xlmr_unigram_spmconverter", "t5_unigram", "bytelevel_bpe"}) QTest::newRow(kind) << kind;
    }
    void nasty_texts_have_the_ids_of_hugging_face() {
        NEED_SHARED();
        QFETCH(QString, kind);
        const fs::path folder = shared_folder() / "fixtures/tokenizers";
        const Json expected = read_json(folder / "expected.json");
        compare_all(*load_tokenizer(folder / kind.toStdString()), expected["texts"], expected["ids"][kind.toStdString()], 0);
    }
    void truncated_texts_of_the_model_fixtures_have_the_ids_of_hugging_face_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"nomic_moe", "t5", "t5_gated", "modernbert", "xlm_roberta", "nomic_bert"}) QTest::newRow(model) << model;
    }
    void truncated_texts_of_the_model_fixtures_have_the_ids_of_hugging_face() {
        NEED_SHARED();
        QFETCH(QString, model);
        const fs::path folder = shared_folder() / "fixtures" / model.toStdString();
        const Json expected = read_json(folder / "expected.json");
        compare_all(*load_tokenizer(folder), expected["texts"], expected["token_ids"], expected["max_length"]);
    }
    void a_model_file_alone_gives_the_ids_of_the_sentencepiece_library_data() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("expected");
        QTest::newRow("xlmr") << "xlmr_unigram"
                              << "sentencepiece.bpe.model"
                              << "xlmr_sentencepiece";
        QTest::newRow("t5") << "t5_unigram"
                            << "spiece.model"
                            << "t5_sentencepiece";
    }
    void a_model_file_alone_gives_the_ids_of_the_sentencepiece_library() {
        NEED_SHARED();
        QFETCH(QString, kind);
        QFETCH(QString, file);
        QFETCH(QString, expected);
        const fs::path fixtures = shared_folder() / "fixtures/tokenizers";
        TemporaryDirectory folder;
        for (const std::string& name : {file.toStdString(), std::string("tokenizer_config.json")})
            fs::copy(fixtures / kind.toStdString() / name, folder.path() / name);
        const Json all = read_json(fixtures / "expected.json");
        const auto own = load_tokenizer(folder.path()), converted = load_tokenizer(fixtures / kind.toStdString());
        compare_all(*own, all["texts"], all["ids"][expected.toStdString()], 0);
        fs::remove(folder.path() / "tokenizer_config.json");  // the file's name tells as much
        compare_all(*load_tokenizer(folder.path()), all["texts"], all["ids"][expected.toStdString()], 0);
        QCOMPARE(own->special().mask, converted->special().mask);
        QCOMPARE(own->special().pad, converted->special().pad);
        QCOMPARE(own->vocab_size(), converted->vocab_size());
        for (int id = 0; id < int(own->vocab_size()); ++id) QCOMPARE(own->id_to_piece(id), converted->id_to_piece(id));
    }
    void special_tokens_have_their_ids() {
        NEED_SHARED();
        const fs::path folder = shared_folder() / "fixtures/tokenizers";
        const auto xlmr = load_tokenizer(folder / "xlmr_unigram"), t5 = load_tokenizer(folder / "t5_unigram"),
                   bpe = load_tokenizer(folder / "bytelevel_bpe");
        const SpecialTokens of_xlmr = xlmr->special(), of_t5 = t5->special(), of_bpe = bpe->special();
        QCOMPARE((Ids{of_xlmr.cls, of_xlmr.pad, of_xlmr.sep, of_xlmr.unk}), (Ids{0, 1, 2, 3}));
        QCOMPARE(xlmr->id_to_piece(of_xlmr.mask), std::string("<mask>"));
        QCOMPARE((Ids{of_t5.pad, of_t5.unk, of_t5.cls, of_t5.sep, of_t5.mask}), (Ids{0, 2, -1, -1, -1}));
        QCOMPARE(bpe->id_to_piece(of_bpe.cls), std::string("[CLS]"));
        QCOMPARE(bpe->id_to_piece(of_bpe.mask), std::string("[MASK]"));
        QCOMPARE(t5->num_special(), std::size_t{1});
    }
};

FACETER_TEST(TestPipelineFixtures)
#include "test_pipeline_fixtures.moc"
