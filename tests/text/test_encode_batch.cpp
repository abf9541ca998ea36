#include "text/encode_batch.h"

#include "small_tokenizer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestEncodeBatch : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_batch_equals_its_texts_one_by_one_on_any_number_of_threads() {
        const auto tokenizer = TokenizerFolder().load();
        std::vector<std::string> texts;
        for (int i = 0; i < 3000; ++i) texts.push_back(std::string(std::size_t(i % 120), 'a') + " unaffable é" + std::to_string(i));
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const TokenBatch one = encode_batch(*tokenizer, views, "un ", 40, 1), many = encode_batch(*tokenizer, views, "un ", 40, 7);
        QCOMPARE(one.ids, many.ids);
        QCOMPARE(one.offsets, many.offsets);
        QCOMPARE(one.size(), texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto ids = encode(*tokenizer, "un " + texts[i], 40);
            QVERIFY(std::equal(ids.begin(), ids.end(), one[i].begin(), one[i].end()));
        }
    }
    void no_texts_make_an_empty_batch() {
        const TokenBatch batch = encode_batch(*TokenizerFolder().load(), {}, "", 0, 4);
        QCOMPARE(batch.size(), std::size_t{0});
        QVERIFY(batch.ids.empty());
    }
    void an_error_in_a_thread_reaches_the_caller() {
        const auto tokenizer = TokenizerFolder().load();
        const std::vector<std::string_view> texts(2000, "a");
        EXPECT_ERROR(encode_batch(*tokenizer, texts, "", 1, 3), "max_length 1");
    }
};

FACETER_TEST(TestEncodeBatch)
#include "test_encode_batch.moc"
