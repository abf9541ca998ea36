#include "text/utf8.h"

#include "support/test.h"

using namespace faceter;

class TestUtf8 : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_scalar_value_survives_encoding_and_decoding() {
        for (char32_t c = 0; c < 0x110000; ++c) {
            if (c >= 0xD800 && c < 0xE000) continue;
            const std::string bytes = utf32_to_utf8({&c, 1});
            const DecodedChar decoded = decode_utf8(bytes.data(), bytes.data() + bytes.size());
            QVERIFY(decoded.valid && decoded.code_point == c && std::size_t(decoded.length) == bytes.size());
        }
    }
    /// The right sides are what Python's bytes.decode("utf-8", "replace") gives.
    void invalid_bytes_become_replacement_characters_as_in_python() {
        QCOMPARE(replace_invalid_utf8("a\xFFz"), std::string("a\uFFFDz"));
        QCOMPARE(replace_invalid_utf8("\xE2\x82"), std::string("\uFFFD"));                  // cut short
        QCOMPARE(replace_invalid_utf8("\xC0\xAF"), std::string("\uFFFD\uFFFD"));            // overlong
        QCOMPARE(replace_invalid_utf8("\xED\xA0\x80"), std::string("\uFFFD\uFFFD\uFFFD"));  // surrogate
        QCOMPARE(replace_invalid_utf8("\xF0\x90\x80x"), std::string("\uFFFDx"));
        QCOMPARE(replace_invalid_utf8("\xF4\x90\x80\x80"), std::string("\uFFFD\uFFFD\uFFFD\uFFFD"));  // beyond U+10FFFF
    }
};

FACETER_TEST(TestUtf8)
#include "test_utf8.moc"
