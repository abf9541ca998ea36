#include "common/json_document.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/untrusted_json.h"
#include "support/test.h"

using namespace faceter;

namespace {

std::string members(int count) {
    std::string text = "{\"0\":0";
    for (int i = 1; i < count; ++i) text += ",\"" + std::to_string(i) + "\":0";
    return text + "}";
}

}  // namespace

class TestJson : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_document_within_the_limits_is_read() {
        const Json json = parse_untrusted_json("{\"a\": [1, {\"b\": \"]}[{:\\\\\\\"\"}]}");
        QCOMPARE(json.at("a")[1].at("b").get<std::string>(), std::string("]}[{:\\\""));
        QCOMPARE(parse_untrusted_json(members(20'000)).size(), std::size_t{20'000});
        const std::string deep = std::string(64, '[') + std::string(64, ']');
        QVERIFY(parse_untrusted_json(deep).is_array() && parse_json(deep, "d").is_array());
    }
    void what_is_no_document_is_discarded() {
        for (const char* text : {"", "{", "nul", "{\"a\":1}x", "\"\xff\"", "[1,]"})
            QVERIFY2(parse_untrusted_json(text).is_discarded(), text);
    }
    void a_zero_byte_ends_no_document() {
        const std::string_view hidden("{\"a\": 1}\n\0{\"a\": 2}", 18);
        QVERIFY(parse_untrusted_json(hidden).is_discarded());
        EXPECT_ERROR(parse_json(hidden, "z.json"), "z.json:2:1: not valid JSON (byte 9)");
        EXPECT_ERROR(parse_json(std::string_view("\0", 1), "z.json"), "z.json:1:1: not valid JSON");
    }
    void parsed_a_document_takes_a_small_multiple_of_its_length() {
        const auto list = [](std::string_view of, int count) {
            std::string text = "[";
            for (int i = 0; i < count; ++i) text += of;
            return text + "0]";
        };
        QCOMPARE(parse_json(list("0.125,", 3'000'000), "numbers").size(), std::size_t{3'000'001});
        QCOMPARE(parse_json(list("[],", 700'000), "short").size(), std::size_t{700'001});
        QCOMPARE(parse_json(list("[0,1,2,3],", 1'000'000), "a plan of so many steps").size(), std::size_t{1'000'001});
        for (const char* small : {"[],", "{},", "0,", "\"\","}) {
            const std::string text = list(small, 12'000'000);
            EXPECT_ERROR(parse_json(text, "small.json"), "small.json: holds too many small values for its length");
            QVERIFY(parse_untrusted_json(text).is_discarded());
        }
    }
    void depth_is_limited() {
        const std::string deep = std::string(65, '[') + std::string(65, ']');
        QVERIFY(parse_untrusted_json(deep).is_discarded());
        EXPECT_ERROR(parse_json(deep, "d.json"), "d.json", "64 levels");
        QVERIFY(parse_untrusted_json(std::string(3'000'000, '[')).is_discarded());
        QVERIFY(parse_untrusted_json("[\"" + std::string(1000, '[') + "\"]").is_array());
    }
    void members_are_limited_of_each_object_and_of_all() {
        QVERIFY(parse_untrusted_json(members(20'001)).is_discarded());
        EXPECT_ERROR(parse_json(members(20'001), "m.json"), "m.json", "20000 members");
        std::string many = "[" + members(15'000);
        for (int i = 0; i < 50; ++i) many += "," + members(15'000);
        QVERIFY(parse_untrusted_json(many + "]").is_discarded());
        EXPECT_ERROR(parse_json(many + "]", "m.json"), "m.json", "thousands of members");
    }
    void a_number_beyond_a_double_is_said_in_our_words() {
        EXPECT_ERROR(parse_json(R"({"a": 1e400})", "n.json"), "n.json: holds a number that is too large");
    }
    void a_large_document_holds_whole_numbers_beyond_64_bits_as_doubles() {
        const auto length_of = [](std::string_view text) {
            double length = 0;
            with_json_document(text, "t.json", [&](simdjson::dom::element root) {
                if (root["length"].get(length)) throw_json_member("t.json", "length", "is no number");
            });
            return length;
        };
        // What transformers writes as model_max_length of a tokenizer without a limit.
        const std::string text = Json("a \"1000000000000000019884624838656\" \\").dump();
        QCOMPARE(length_of("{\"text\": " + text + ", \"length\": 1000000000000000019884624838656, \"id\": 7}"), 1e30);
        QCOMPARE(length_of(R"({"length":-1000000000000000019884624838656})"), -1e30);
        QCOMPARE(length_of(R"({"length": 0.1000000000000000000000000005, "large": 99999999999999999999999})"), 0.1);
        EXPECT_ERROR(length_of(R"({"length": 1000000000000000019884624838656)"), "t.json:1:", "not valid JSON");
        EXPECT_ERROR(length_of(R"({"length": 10000000000000000198846248386-56})"), "t.json:1:", "not valid JSON");
    }
    void whole_numbers_are_taken_however_they_are_written() {
        const Json json = parse_json(R"({"a": 12, "b": 12.0, "c": 1e3, "list": [1, 2.0], "least": -9223372036854775808})", "j");
        QCOMPARE(json_at<int>(json, "a", "j"), 12);
        QCOMPARE(json_at<std::size_t>(json, "b", "j"), std::size_t{12});
        QCOMPARE(json_or<std::uint16_t>(json, "c", 7, "j"), std::uint16_t{1000});
        QCOMPARE(json_or<int>(json, "missing", 7, "j"), 7);
        QCOMPARE(json_at<std::vector<int>>(json, "list", "j"), (std::vector<int>{1, 2}));
        QCOMPARE(json_at<std::int64_t>(json, "least", "j"), std::numeric_limits<std::int64_t>::min());
    }
    void what_is_no_whole_number_of_its_type_is_refused() {
        const Json json = parse_json(
            R"({"cut": 12.5, "below": -1, "beyond": 18446744073709551616, "large": 3000000000, "truth": true, "list": [1, -2]})", "j");
        EXPECT_ERROR(json_at<int>(json, "cut", "j"), "j: member 'cut' is 12.5, not a whole number from -2147483648 to 2147483647");
        EXPECT_ERROR(json_at<std::size_t>(json, "below", "j"), "'below' is -1");
        EXPECT_ERROR(json_or<std::uint64_t>(json, "beyond", 0, "j"), "'beyond' is 1.8446744073709552e+19");
        EXPECT_ERROR(json_at<int>(json, "large", "j"), "'large' is 3000000000");
        EXPECT_ERROR(json_at<int>(json, "truth", "j"), "'truth' has the wrong type");
        EXPECT_ERROR(json_at<std::vector<std::uint32_t>>(json, "list", "j"), "'list' is -2");
        QCOMPARE(json_at<double>(json, "cut", "j"), 12.5);
        QVERIFY(json_at<bool>(json, "truth", "j"));
    }
    void no_terminal_takes_a_part_of_a_document_for_a_command() {
        for (const char* piece : {"\x1b[31m", "\x07", "\x7f", "\xc2\x9b", "\xc2\x85", "\u202e", "\u2066", "\u200f", "\u061c", "\u2028"}) {
            const Json json = {{std::string("key ") + piece, std::string("ü") + piece + "🙂"}};
            for (const int indent : {-1, 1}) {
                const std::string text = json_text(json, indent);
                QVERIFY2(text.find(piece) == std::string::npos, text.c_str());
                QCOMPARE(printable_lines(text), text);
                QCOMPARE(Json::parse(text), json);
            }
        }
        QCOMPARE(json_text({{"a", "b\xff\n\xc2\x9b"}}), std::string("{\"a\":\"b\uFFFD\\n\\u009b\"}"));
        QCOMPARE(json_text({"ü", 1.5}), std::string("[\"ü\",1.5]"));
    }
};

FACETER_TEST(TestJson)
#include "test_json.moc"
