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
};

FACETER_TEST(TestJson)
#include "test_json.moc"
