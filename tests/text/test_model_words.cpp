#include "text/model_words.h"

#include "small_tokenizer.h"
#include "support/test.h"
#include "text/encode_batch.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr std::size_t words = 17;

/// The small tokenizer as each of its two kinds, with [X1] and [X2] named by tokenizer_config.json alone: ids 17 and 18.
std::vector<Json> both_kinds() {
    Json stepped = small_tokenizer_json();
    stepped["normalizer"] = {{"type", "Lowercase"}};
    return {small_tokenizer_json(), stepped};
}

}  // namespace

class TestModelWords : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void only_a_text_with_a_token_that_the_model_has_no_embedding_for_is_refused() {
        for (const Json& json : both_kinds()) {
            TokenizerFolder folder(json);
            const auto plain = encode(*folder.load(), "a b unaffable");
            folder.write("tokenizer_config.json", R"({"extra_special_tokens": ["[X1]", "[X2]"]})");
            const auto tokenizer = load_tokenizer_for(words + 1, "config.json", folder.path(), false);
            QCOMPARE(tokenizer->vocab_size(), words + 1);
            QCOMPARE(encode(*tokenizer, "a b unaffable"), plain);
            QCOMPARE(encode(*tokenizer, "a [X1] b"), (std::vector<std::int32_t>{2, 8, 17, 10, 3}));
            QCOMPARE(encode(*tokenizer, "a b [X2]", 4), (std::vector<std::int32_t>{2, 8, 10, 3}));  // cut before it
            EXPECT_ERROR(encode(*tokenizer, "a [X2] b"), "text 'a [X2] b' has the token '[X2]' (id 18)",
                         "config.json has embeddings for 18");
            const std::vector<std::string_view> texts = {"a", "b [X2]"};
            EXPECT_ERROR(encode_batch(*tokenizer, texts, "", 0), "[X2]");
            std::vector<std::int32_t> kept = {7};
            EXPECT_ERROR(tokenizer->encode("[X2]", 0, kept), "[X2]");
            QCOMPARE(kept, std::vector<std::int32_t>{7});
            QVERIFY(tokenizer->fingerprint() != folder.load()->fingerprint());
            QCOMPARE(load_tokenizer_for(words + 2, "config.json", folder.path(), false)->fingerprint(), folder.load()->fingerprint());
        }
    }
    void a_vocabulary_beyond_the_embeddings_belongs_to_another_model() {
        for (const Json& json : both_kinds())
            EXPECT_ERROR(load_tokenizer_for(words - 1, "config.json", TokenizerFolder(json).path(), false), "config.json",
                         "the tokenizer beside it gives ids up to 16, the model has embeddings for 16");
    }
    void a_token_around_every_text_needs_an_embedding() {
        for (Json& json : both_kinds()) {
            json["post_processor"]["special_tokens"]["[SEP]"]["ids"] = {17};
            json["added_tokens"].push_back({{"id", 17}, {"content", "[END]"}, {"special", true}});
            const TokenizerFolder folder(json);
            EXPECT_ERROR(load_tokenizer_for(words, "config.json", folder.path(), false),
                         "config.json: the tokenizer beside it puts the token '[END]' (id 17) around every text");
            QCOMPARE(encode(*load_tokenizer_for(words + 1, "config.json", folder.path(), false), "a"),
                     (std::vector<std::int32_t>{2, 8, 17}));
        }
    }
};

FACETER_TEST(TestModelWords)
#include "test_model_words.moc"
