#include "text/sentencepiece_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "small_tokenizer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

using Ids = std::vector<std::int32_t>;

namespace {

/// The folder's model file and configuration alone, and the tokenizer.json that is made of them.
fs::path convert(const fs::path& from, const TemporaryDirectory& to) {
    for (const char* name : {"sentencepiece.bpe.model", "spiece.model", "tokenizer.model", "tokenizer_config.json"})
        if (fs::exists(from / name)) fs::copy(from / name, to.path() / name);
    const auto model = lone_sentencepiece_model(to.path());
    write_file_atomic(to.path() / "tokenizer.json", sentencepiece_tokenizer_json(*model));
    return to.path() / "tokenizer.json";
}

}  // namespace

/// tokenizer.json made of a model of sentencepiece, against what transformers made of the same model.
class TestSentencePieceJson : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void it_is_what_transformers_writes_data() {
        QTest::addColumn<QString>("kind");
        QTest::newRow("XLM-R") << "xlmr_unigram";
        QTest::newRow("T5") << "t5_unigram";
    }
    void it_is_what_transformers_writes() {
        NEED_SHARED();
        QFETCH(QString, kind);
        const fs::path theirs = shared_folder() / "fixtures/tokenizers" / kind.toStdString();
        const TemporaryDirectory folder;
        const Json own = read_json(convert(theirs, folder)), wanted = read_json(theirs / "tokenizer.json");
        for (const char* part : {"version", "added_tokens", "normalizer", "pre_tokenizer", "decoder"})
            QVERIFY2(Json::diff(own.at(part), wanted.at(part)).empty(), part);
        for (const char* part : {"single", "special_tokens"})
            QVERIFY2(Json::diff(own.at("post_processor").at(part), wanted.at("post_processor").at(part)).empty(), part);
        QCOMPARE(own.at("model").at("unk_id").get<int>(), wanted.at("model").at("unk_id").get<int>());
        const Json &pieces = own.at("model").at("vocab"), &their_pieces = wanted.at("model").at("vocab");
        QCOMPARE(pieces.size(), their_pieces.size());
        for (std::size_t i = 0; i < pieces.size(); ++i) QVERIFY2(pieces[i] == their_pieces[i], pieces[i].dump().c_str());
    }
    void texts_have_the_ids_of_hugging_face_data() { it_is_what_transformers_writes_data(); }
    void texts_have_the_ids_of_hugging_face() {
        NEED_SHARED();
        QFETCH(QString, kind);
        const fs::path fixtures = shared_folder() / "fixtures/tokenizers";
        const TemporaryDirectory folder;
        convert(fixtures / kind.toStdString(), folder);
        const auto tokenizer = load_tokenizer(folder.path());
        const Json expected = read_json(fixtures / "expected.json");
        for (std::size_t i = 0; i < expected["texts"].size(); ++i) {
            const auto text = expected["texts"][i].get<std::string>();
            const Ids ids = encode(*tokenizer, text, 0), wanted = expected["ids"][kind.toStdString()][i].get<Ids>();
            QVERIFY2(ids == wanted, fmt::format("{}: {} for {}", text, fmt::join(ids, " "), fmt::join(wanted, " ")).c_str());
        }
    }
    void merges_of_a_bpe_give_the_ids_of_the_model() {
        NEED_SHARED();
        const fs::path theirs = shared_folder() / "fixtures/mistral";
        const TemporaryDirectory lone, folder;
        for (const char* name : {"tokenizer.model", "tokenizer_config.json"}) fs::copy(theirs / name, lone.path() / name);
        convert(theirs, folder);
        const auto own = load_tokenizer(lone.path()), converted = load_tokenizer(folder.path());
        const Json texts = read_json(theirs / "expected.json").at("texts");
        for (const Json& text : texts)
            QVERIFY2(encode(*own, text.get<std::string>(), 0) == encode(*converted, text.get<std::string>(), 0),
                     text.get<std::string>().c_str());
    }
    void a_folder_with_other_files_has_no_lone_model() {
        const TemporaryDirectory folder;
        QVERIFY(!lone_sentencepiece_model(folder.path()));
        write_file_atomic(folder.path() / "spiece.model", "x");
        QCOMPARE(lone_sentencepiece_model(folder.path())->filename().string(), std::string("spiece.model"));
        EXPECT_ERROR(sentencepiece_tokenizer_json(folder.path() / "spiece.model"), "spiece.model", "is not a model of sentencepiece");
        write_file_atomic(folder.path() / "tokenizer.json", "{}");
        QVERIFY(!lone_sentencepiece_model(folder.path()));
    }
};

FACETER_TEST(TestSentencePieceJson)
#include "test_sentencepiece_json.moc"
