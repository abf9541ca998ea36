#include "common/error.h"
#include "settings/yaml.h"
#include "support/test.h"

using namespace faceter;

namespace {

Json value_of(const std::string& text) { return yaml_to_json(parse_yaml("x: " + text + "\n", "t.yaml")).at("x"); }

}  // namespace

class TestYaml : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_key_that_stands_twice_is_found_among_thousands() {
        std::string text;
        for (int i = 0; i < 30'000; ++i) text += fmt::format("k{}: 1\n", i);
        QCOMPARE(parse_yaml(text, "f.yaml").entries.size(), std::size_t{30'000});
        EXPECT_ERROR(parse_yaml(text + "k7: 2\n", "f.yaml"), "f.yaml:30001:1", "'k7' stands twice", "first in line 8");
    }
    void every_value_knows_its_line_and_column() {
        const YamlNode root = parse_yaml("a: 1\nb:\n  - c: x\n    d: [2, 3]\n", "t.yaml");
        const YamlNode* list = root.find("b");
        QVERIFY(list);
        QCOMPARE(list->items[0].find("d")->items[1].line, std::size_t{4});
        QCOMPARE(list->items[0].find("d")->items[1].column, std::size_t{12});
        QCOMPARE(list->items[0].entry("d")->column, std::size_t{5});
        QCOMPARE(root.find("a")->position().text(), std::string("t.yaml:1:4"));
    }
    void numbers_are_decimal_and_exponents_are_numbers() {
        QCOMPARE(value_of("010").get<int>(), 10);
        QCOMPARE(value_of("-3").get<int>(), -3);
        QCOMPARE(value_of("1e3").get<double>(), 1000.0);
        QCOMPARE(value_of("2.0e-5").get<double>(), 2.0e-5);
        QCOMPARE(value_of(".5").get<double>(), 0.5);
    }
    void only_true_false_and_null_are_words_with_a_meaning() {
        QVERIFY(value_of("no").is_string());
        QVERIFY(value_of("Yes").is_string());
        QVERIFY(value_of("inf").is_string());
        QVERIFY(value_of("0x10").is_string());
        QVERIFY(value_of("1.2.3").is_string());
        QCOMPARE(value_of("false").get<bool>(), false);
        QVERIFY(value_of("~").is_null());
        QVERIFY(value_of("null").is_null());
        QVERIFY(value_of("").is_null());
    }
    void quoted_values_are_text() {
        for (const char* text : {"'1'", "\"true\"", "'null'", "\"\""}) QVERIFY2(value_of(text).is_string(), text);
        QCOMPARE(value_of("\"search query: \"").get<std::string>(), std::string("search query: "));
    }
    void a_duplicate_key_is_refused_with_both_places() {
        EXPECT_ERROR(parse_yaml("a: 1\nb: 2\na: 3\n", "t.yaml"), "t.yaml:3:1", "'a'", "line 1");
    }
    void an_alias_stands_for_its_value() {
        const Json json = yaml_to_json(parse_yaml("base: &b {x: 1}\nuse: *b\n", "t.yaml"));
        QCOMPARE(json.at("use").at("x").get<int>(), 1);
    }
    void a_merge_key_is_refused_with_what_to_write() {
        EXPECT_ERROR(parse_yaml("base: &b {x: 1}\nuse:\n  <<: *b\n  y: 2\n", "t.yaml"), "t.yaml:3:3", "merge keys",
                     "write the settings out");
        QCOMPARE(yaml_to_json(parse_yaml("'<<': 1\n", "t.yaml")).at("<<").get<int>(), 1);
    }
    /// In the name of a file it ended what was said of the file.
    void a_zero_byte_that_is_escaped_is_refused() {
        EXPECT_ERROR(parse_yaml("a: 1\npath: \"pa\\0irs.jsonl\"\n", "t.yaml"), "t.yaml:2:7", "zero byte", "leave the escape");
        EXPECT_ERROR(parse_yaml("\"a\\0\": 1\n", "t.yaml"), "t.yaml:1:1", "zero byte");
    }
    void an_alias_bomb_is_refused_at_once() {
        std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
        for (int i = 1; i < 12; ++i) {
            bomb += fmt::format("a{}: &a{} [", i, i);
            for (int j = 0; j < 10; ++j) bomb += fmt::format("{}*a{}", j ? ", " : "", i - 1);
            bomb += "]\n";
        }
        EXPECT_ERROR(parse_yaml(bomb, "bomb.yaml"), "bomb.yaml", "grows beyond");
    }
    void a_long_text_behind_many_aliases_is_refused() {
        std::string bomb = "a: &a " + std::string(100'000, 'x') + "\nb: [";
        for (int i = 0; i < 100; ++i) bomb += i ? ", *a" : "*a";
        EXPECT_ERROR(parse_yaml(bomb + "]\n", "bomb.yaml"), "grows beyond");
    }
    void anchors_within_anchors_count_as_the_copies_that_they_are() {
        std::string bomb;
        for (int i = 0; i < 60; ++i) bomb += fmt::format("{}a{}: &x{}\n", std::string(static_cast<std::size_t>(i), ' '), i, i);
        bomb += std::string(60, ' ') + "b: [x";
        for (int i = 0; i < 3000; ++i) bomb += ", x";
        EXPECT_ERROR(parse_yaml(bomb + "]\n", "bomb.yaml"), "bomb.yaml", "grows beyond");
    }
    void a_text_that_is_not_utf8_is_an_error_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("next line") << QByteArray(R"("a\N")");
        QTest::newRow("space without break") << QByteArray(R"("a\_")");
    }
    void a_text_that_is_not_utf8_is_an_error() {
        QFETCH(QByteArray, text);
        EXPECT_ERROR(parse_yaml("a: 1\nb: " + text.toStdString() + "\n", "t.yaml"), "t.yaml:2", "not UTF-8");
        QCOMPARE(parse_yaml("a: \"\\x85\"\n", "t.yaml").entry("a")->value.text, std::string("\xc2\x85"));
    }

    void an_alias_to_itself_is_an_error() { EXPECT_ERROR(parse_yaml("a: &a [1, *a]\n", "t.yaml"), "t.yaml:1"); }
    void deep_nesting_is_refused() {
        EXPECT_ERROR(parse_yaml(std::string(100'000, '['), "t.yaml"), "nested deeper");
        std::string lists, maps;
        for (int i = 0; i < 500; ++i) lists += "- ", maps += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
        EXPECT_ERROR(parse_yaml(lists, "t.yaml"), "nested deeper");
        EXPECT_ERROR(parse_yaml(maps, "t.yaml"), "nested deeper");
    }
    void a_file_that_is_no_yaml_is_told_what_to_look_at() {
        EXPECT_ERROR(parse_yaml("training:\n\tbatch_size: 8\n  steps: 3\n", "t.yaml"), "t.yaml:2:", "a tab indents line 2");
        EXPECT_ERROR(parse_yaml("training:\n batch_size: 8\n  steps: 3\n", "t.yaml"), "t.yaml:3:", "begin in one column");
        EXPECT_ERROR(parse_yaml("a: {text: task: }\n", "t.yaml"), "t.yaml:1:", "put it in quotes");
    }
    void broken_files_name_their_place() {
        EXPECT_ERROR(parse_yaml("a: [1, 2\nb: 3\n", "t.yaml"), "t.yaml:", "not valid YAML");
        EXPECT_ERROR(parse_yaml("a: \"open\n", "t.yaml"), "t.yaml:", "not valid YAML");
        EXPECT_ERROR(parse_yaml("a: 'open\nb: 3\n", "t.yaml"), "t.yaml:", "not valid YAML");
        EXPECT_ERROR(parse_yaml("a: 1\n---\nb: 2\n", "t.yaml"), "second document");
        EXPECT_ERROR(parse_yaml("a: !!python/object x\n", "t.yaml"), "t.yaml:1:", "tags");
        EXPECT_ERROR(parse_yaml("? [a, b]\n: 1\n", "t.yaml"), "key must be plain text");
        EXPECT_ERROR(parse_yaml("a: \xff\xfe\n", "t.yaml"), "UTF-8");
        EXPECT_ERROR(parse_yaml(std::string("a: b\0c\n", 7), "t.yaml"), "zero byte");
        EXPECT_ERROR(parse_yaml(std::string(2 << 20, 'a'), "t.yaml"), "larger than");
    }
    void truncated_files_never_crash() {
        const std::string whole =
            "name: q\ntasks: &t\n  a: {x: [1, 2, {y: \"z\\n\"}], k: 'v'}\nother: *t\nblock: |\n  line\n  line\n# end\n";
        for (std::size_t length = 0; length <= whole.size(); ++length) {
            try {
                yaml_to_json(parse_yaml(whole.substr(0, length), "t.yaml"));
            } catch (const Error& error) {
                QCOMPARE(error.code(), ExitCode::settings);
            }
        }
    }
    void an_empty_file_is_nothing() {
        QCOMPARE(parse_yaml("", "t.yaml").kind, YamlNode::Kind::null);
        QCOMPARE(parse_yaml("# only a comment\n", "t.yaml").kind, YamlNode::Kind::null);
    }
    void what_is_written_reads_back_the_same() {
        const Json json = {{"name", "a b"},         {"number", "12"},
                           {"yes", "no"},           {"colon", "search query: "},
                           {"empty", ""},           {"null", nullptr},
                           {"real", 1.0},           {"tiny", 2e-5},
                           {"list", {1, 2, "x"}},   {"none", Json::array()},
                           {"map", Json::object()}, {"nested", {{"maps", {{{"a", 1}, {"b", {{"c", "\xc3\xa9\n\t\"q\""}}}}, {{"a", 2}}}}}}};
        QCOMPARE(yaml_to_json(parse_yaml(to_yaml(json), "t.yaml")), json);
        QCOMPARE(yaml_to_json(yaml_from_json(json, "x")), json);
    }
    void an_override_sets_makes_and_names_its_place() {
        YamlNode root = parse_yaml("training: {batch_size: 8}\ntasks:\n  r:\n    train: [{max: 1}, {max: 2}]\n", "t.yaml");
        apply_override(root, "training.batch_size=16");
        apply_override(root, "tasks.r.train[1].max=5");
        apply_override(root, "sweep={a.b: [1, 2]}");
        apply_override(root, "evaluation.baseline=false");
        const Json json = yaml_to_json(root);
        QCOMPARE(json.at("training").at("batch_size").get<int>(), 16);
        QCOMPARE(json.at("tasks").at("r").at("train")[1].at("max").get<int>(), 5);
        QCOMPARE(json.at("sweep").at("a.b").size(), std::size_t{2});
        QCOMPARE(json.at("evaluation").at("baseline").get<bool>(), false);
        QCOMPARE(root.find("training")->find("batch_size")->position().text(), std::string("--set training.batch_size"));
    }
    void a_wrong_override_says_why() {
        YamlNode root = parse_yaml("a: 1\nb: [1]\n", "t.yaml");
        EXPECT_ERROR(apply_override(root, "novalue"), "expected key=value");
        EXPECT_ERROR(apply_override(root, "a.b=1"), "--set a.b", "'a' is a single value");
        EXPECT_ERROR(apply_override(root, "b[3]=1"), "no item 3");
        EXPECT_ERROR(apply_override(root, "b[x]=1"), "not a setting's path");
        EXPECT_ERROR(apply_override(root, "b[0=1"), "not a setting's path");
        EXPECT_ERROR(apply_override(root, "..=1"), "not a setting's path");
        EXPECT_ERROR(apply_override(root, "a=[1"), "--set a:1:1");
    }
};

FACETER_TEST(TestYaml)
#include "test_yaml.moc"
