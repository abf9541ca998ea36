#include "common/hash.h"
#include "support/test.h"
#include "text/bert_normalizer.h"
#include "text/bert_unicode.h"
#include "text/utf8.h"

using namespace faceter;

namespace {

/// SHA-256 of what `describe` says of every scalar value, in order.
template <typename Describe>
QString digest(const Describe& describe) {
    Sha256 hash;
    for (char32_t c = 0; c < 0x110000; ++c)
        if (c < 0xD800 || c >= 0xE000) hash.update(describe(c));
    return QString::fromStdString(hash.finish());
}

std::string normalized(char32_t c, const BertNormalizer& normalizer) { return normalizer.normalize(utf32_to_utf8({&c, 1})) + "\n"; }

}  // namespace

/// The digests were computed from Hugging Face tokenizers 0.23.3: each property was read off by feeding it every code point.
class TestBertUnicode : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void clean_text_treats_every_code_point_as_the_peer_does() {
        const auto kind = [](char32_t c) { return bert_unicode::is_removed(c) ? "d" : bert_unicode::is_whitespace(c) ? "s" : "k"; };
        QCOMPARE(digest(kind), "c5eb5b02590e9e375f50320f8044e35d4e2dcd46e61c1de7784206a991e55c46");
    }
    void the_pre_tokenizer_splits_every_code_point_as_the_peer_does() {
        const auto kind = [](char32_t c) { return bert_unicode::is_whitespace(c) ? "s" : bert_unicode::is_punctuation(c) ? "p" : "l"; };
        QCOMPARE(digest(kind), "854dcae77435687eb6b3c2030bd97179d07adb2b8de5113e3d3bd250ce4146c1");
    }
    void decompositions_equal_the_peers() {
        const auto decomposed = [](char32_t c) {
            std::u32string text;
            bert_unicode::append_decomposition(c, text);
            return utf32_to_utf8(text) + "\n";
        };
        QCOMPARE(digest(decomposed), "34c986f61cb6f6d682995fecf92e27dccdcd867a8eb8358cb155ab1047757fa1");
    }
    void stripped_accents_equal_the_peers() {
        const BertNormalizer strip{false, false, true, false};
        QCOMPARE(digest([&](char32_t c) { return normalized(c, strip); }),
                 "1a9615da86c82660dd89515ffe048568232087782440b153d7725619df54fd1e");
    }
    void lower_case_equals_the_peers() {
        const BertNormalizer lower{false, false, false, true};
        QCOMPARE(digest([&](char32_t c) { return normalized(c, lower); }),
                 "62a955092f4341ca841e803dc5d73e6df6210c1d7a8046780af533dc63ec2bd1");
    }
    void chinese_characters_and_word_characters_equal_the_peers() {
        QCOMPARE(digest([](char32_t c) { return bert_unicode::is_chinese(c) ? "1" : "0"; }),
                 "89d8670fb14862a5a0fc68f15a5a217b2eabd7c183bd6012037fa04620dbf745");
        QCOMPARE(digest([](char32_t c) { return bert_unicode::is_word_character(c) ? "1" : "0"; }),
                 "a311b60aead90cd4917547ac3ce4b283b24c043a127b2df67e31fdac4107ed28");
    }
    void the_table_normalises_every_code_point_as_the_plain_way_does() {
        for (const BertNormalizer& normalizer :
             {BertNormalizer{}, BertNormalizer{true, true, false, false}, BertNormalizer{false, true, true, false}}) {
            const CharTable table(normalizer);
            for (char32_t c = 0; c < 0x110000; ++c) {
                if (c >= 0xD800 && c < 0xE000) continue;
                const std::string text = utf32_to_utf8(std::u32string{U'A', c, U'b'});
                QVERIFY2(table.normalize(text) == normalizer.normalize(text), std::to_string(c).c_str());
            }
        }
    }
    void marks_are_reordered_before_they_are_stripped() {
        const BertNormalizer strip{false, false, true, false};
        // U+1DCE is a nonspacing mark; U+302E (class 224) and U+1D165 (class 216) are not stripped, and come out in the order of their
        // classes.
        QCOMPARE(strip.normalize("a\u302E\u0301\U0001D165b"), std::string("a\U0001D165\u302Eb"));
    }
};

FACETER_TEST(TestBertUnicode)
#include "test_bert_unicode.moc"
