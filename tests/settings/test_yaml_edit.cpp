#include "common/file.h"
#include "common/strings.h"
#include "settings/yaml_edit.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;

namespace {

std::string set(std::string_view text, const YamlPath& path, std::string_view value) {
    return yaml_set(text, path, value).applied_to(text);
}
std::string removed(std::string_view text, const YamlPath& path) { return yaml_remove(text, path).applied_to(text); }
std::string appended(std::string_view text, const YamlPath& path, std::string_view value) {
    return yaml_append(text, path, value).applied_to(text);
}
std::string renamed(std::string_view text, const YamlPath& path, std::string_view key) {
    return yaml_rename(text, path, key).applied_to(text);
}
QString q(const std::string& text) { return QString::fromStdString(text); }

/// Every path of the tree, outer ones first.
void collect(const YamlNode& node, const YamlPath& at, std::vector<YamlPath>& paths) {
    for (const auto& entry : node.entries) {
        YamlPath inner = at;
        inner.push_back(YamlStep(entry.key));
        paths.push_back(inner);
        collect(entry.value, inner, paths);
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        YamlPath inner = at;
        inner.push_back(YamlStep::item(i));
        paths.push_back(inner);
        collect(node.items[i], inner, paths);
    }
}

std::vector<std::string> comments_of(const std::string& text) {
    std::vector<std::string> comments;
    for (const std::string_view line : split(text, '\n'))
        if (const std::size_t at = line.find("# "); at != std::string_view::npos) comments.emplace_back(line.substr(at));
    return comments;
}

std::vector<fs::path> shipped_experiments() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(FACETER_SOURCE_DIR) / "experiments"))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    return files;
}

}  // namespace

class TestYamlEdit : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_scalar_is_changed_in_its_place_and_its_comment_stays() {
        QCOMPARE(q(set("a: 1   # one\nb: 2\n", {"a"}, "10")), q("a: 10   # one\nb: 2\n"));
        QCOMPARE(q(set("t:\n  rate: 2.0e-5\n", {"t", "rate"}, "1.0e-5")), q("t:\n  rate: 1.0e-5\n"));
        QCOMPARE(q(set("v: {method: mote, placement: every}  # x\n", {"v", "placement"}, "every_other")),
                 q("v: {method: mote, placement: every_other}  # x\n"));
        QCOMPARE(q(set("l: [1, 2, 3]\n", {"l", YamlStep::item(1)}, "20")), q("l: [1, 20, 3]\n"));
        QCOMPARE(q(set("i: {query: \"search query: \", document: ''}\n", {"i", "query"}, "\"q, {x}: \"")),
                 q("i: {query: \"q, {x}: \", document: ''}\n"));
        QCOMPARE(q(set("a: 'it''s'  # c\nb: 1\n", {"a"}, "x")), q("a: x  # c\nb: 1\n"));
        QCOMPARE(q(set("a: |\n  long\n  text\nb: 1\n", {"a"}, "short")), q("a: short\nb: 1\n"));
        QCOMPARE(q(set("a: two\n  lines\nb: 1\n", {"a"}, "one")), q("a: one\nb: 1\n"));
    }

    void an_empty_value_is_filled() {
        QCOMPARE(q(set("a:   # empty\nb: 1\n", {"a"}, "5")), q("a: 5   # empty\nb: 1\n"));
        QCOMPARE(q(set("a: ~\nb: 1\n", {"a"}, "5")), q("a: 5\nb: 1\n"));
        QCOMPARE(q(set("t:\nb: 1\n", {"t", "x"}, "5")), q("t:\n  x: 5\nb: 1\n"));
        QCOMPARE(q(set("t: {}\n", {"t", "x"}, "5")), q("t: {x: 5}\n"));
        QCOMPARE(q(set("", {"name"}, "x")), q("name: x\n"));
        QCOMPARE(q(set("# only a comment\n", {"name"}, "x")), q("# only a comment\nname: x\n"));
    }

    void a_key_is_added_behind_the_last_of_its_map() {
        QCOMPARE(q(set("t:\n  a: 1   # one\n\n# next\nu: 2\n", {"t", "b"}, "2")), q("t:\n  a: 1   # one\n  b: 2\n\n# next\nu: 2\n"));
        QCOMPARE(q(set("v: {m: x}   # y\n", {"v", "k"}, "1")), q("v: {m: x, k: 1}   # y\n"));
        QCOMPARE(q(set("v:\n  - {a: 1}\n  - name: n\n    b: 2\nz: 1\n", {"v", YamlStep::item(1), "c"}, "3")),
                 q("v:\n  - {a: 1}\n  - name: n\n    b: 2\n    c: 3\nz: 1\n"));
        QCOMPARE(q(set("name: x", {"training", "batch_size"}, "64")), q("name: x\ntraining:\n  batch_size: 64"));
        QCOMPARE(q(set("tasks:\n  r:\n    w: 1\n", {"tasks", "s", "instructions", "text"}, "x")),
                 q("tasks:\n  r:\n    w: 1\n  s: {instructions: {text: x}}\n"));
    }

    void line_breaks_of_the_file_are_kept() {
        QCOMPARE(q(set("t:\r\n  a: 1\r\nu: 2\r\n", {"t", "b"}, "2")), q("t:\r\n  a: 1\r\n  b: 2\r\nu: 2\r\n"));
        QCOMPARE(q(removed("t:\r\n  a: 1\r\n  b: 2\r\n", {"t", "a"})), q("t:\r\n  b: 2\r\n"));
    }

    void a_key_goes_with_its_line() {
        QCOMPARE(q(removed("# head\na: 1   # one\n# two\nb: 2\n", {"a"})), q("# head\n# two\nb: 2\n"));
        QCOMPARE(q(removed("v: {a: 1, b: 2, c: 3}\n", {"v", "b"})), q("v: {a: 1, c: 3}\n"));
        QCOMPARE(q(removed("v: {a: 1, b: 2}\n", {"v", "b"})), q("v: {a: 1}\n"));
        QCOMPARE(q(removed("v: {a: 1}  # c\n", {"v", "a"})), q("v: {}  # c\n"));
        QCOMPARE(q(removed("v:   # c\n  a: 1\nw: 2\n", {"v", "a"})), q("v: {}   # c\nw: 2\n"));
        QCOMPARE(q(removed("l:\n  - name: n\n    b: 2\n", {"l", YamlStep::item(0), "name"})), q("l:\n  - b: 2\n"));
        QCOMPARE(q(removed("t:\n  deep:\n    x: 1\n    y: 2\nu: 1\n", {"t", "deep"})), q("t: {}\nu: 1\n"));
        QCOMPARE(q(removed("a: 1\n", {"a"})), q(""));
    }

    void list_items_come_and_go() {
        QCOMPARE(q(appended("l: [1, 2]  # c\n", {"l"}, "3")), q("l: [1, 2, 3]  # c\n"));
        QCOMPARE(q(appended("l: []\n", {"l"}, "3")), q("l: [3]\n"));
        QCOMPARE(q(appended("t:\n  l:\n    - a   # first\n    # end\nu: 1\n", {"t", "l"}, "{b: 1}")),
                 q("t:\n  l:\n    - a   # first\n    - {b: 1}\n    # end\nu: 1\n"));
        QCOMPARE(q(appended("l:\n- a\n- b: 1\n  c: 2\n", {"l"}, "d")), q("l:\n- a\n- b: 1\n  c: 2\n- d\n"));
        QCOMPARE(q(appended("a: 1\n", {"l"}, "x")), q("a: 1\nl: [x]\n"));
        QCOMPARE(q(appended("l:\nb: 1\n", {"l"}, "x")), q("l:\n  - x\nb: 1\n"));
        QCOMPARE(q(removed("l: [1, 2, 3]\n", {"l", YamlStep::item(0)})), q("l: [2, 3]\n"));
        QCOMPARE(q(removed("l:\n  - a\n  - b: 1\n    c: 2\n  - d\n", {"l", YamlStep::item(1)})), q("l:\n  - a\n  - d\n"));
        QCOMPARE(q(removed("l:\n  - a\n", {"l", YamlStep::item(0)})), q("l: []\n"));
    }

    void a_zero_byte_in_a_key_does_not_end_the_message() {
        EXPECT_ERROR(yaml_remove("a: 1\n", {YamlStep(std::string("\0b", 2))}), "\uFFFDb", "is not in the file");
    }
    void a_key_is_renamed_in_its_place() {
        QCOMPARE(q(renamed("variants:\n  EM: {method: dense}   # one\n", {"variants", "EM"}, "Plain")),
                 q("variants:\n  Plain: {method: dense}   # one\n"));
        QCOMPARE(q(renamed("a: 1\n", {"a"}, "x: y")), q("\"x: y\": 1\n"));
        EXPECT_ERROR(yaml_rename("a: 1\nb: 2\n", {"a"}, "b"), "is there already");
    }

    void text_keeps_its_quotes_and_gets_them_where_it_needs_them() {
        QCOMPARE(q(yaml_text("plain words")), q("plain words"));
        QCOMPARE(q(yaml_text("search query: ")), q("\"search query: \""));
        QCOMPARE(q(yaml_text("true")), q("\"true\""));
        QCOMPARE(q(yaml_text("12")), q("\"12\""));
        QCOMPARE(q(yaml_text("")), q("\"\""));
        QCOMPARE(q(yaml_text("it's", "'x'")), q("'it''s'"));
        QCOMPARE(q(yaml_text("word", "\"x\"")), q("\"word\""));
        QCOMPARE(q(yaml_inline(Json{{"a", {1, 2.5, "x, y"}}, {"b", nullptr}})), q("{a: [1, 2.5, \"x, y\"], b: null}"));
    }

    void what_cannot_be_changed_in_place_is_refused_and_not_guessed() {
        const std::string aliased = "base: &b {x: 1}\nother: *b\n";
        EXPECT_ERROR(yaml_set(aliased, {"other", "x"}, "2"), "other.x", "edit the text");
        EXPECT_ERROR(yaml_set("a: [\n", {"a"}, "2"), "not valid YAML");
        EXPECT_ERROR(yaml_remove("a: 1\n", {"b"}), "b: is not in the file");
    }

    void a_place_of_the_file_tells_its_setting() {
        const std::string text = "name: x\ntraining:\n  batch_size: 3\n  rate: 2\nl:\n  - {a: 1, b: 2}\n";
        const YamlNode root = parse_yaml(text, "f");
        QCOMPARE(q(yaml_path_text(yaml_path_at(root, 3, 3))), q("training.batch_size"));
        QCOMPARE(q(yaml_path_text(yaml_path_at(root, 4, 9))), q("training.rate"));
        QCOMPARE(q(yaml_path_text(yaml_path_at(root, 6, 12))), q("l[0].b"));
        QVERIFY(yaml_path_at(root, 0, 0).empty());
    }

    void every_value_of_every_shipped_experiment_can_be_changed_and_the_comments_stay() {
        for (const fs::path& file : shipped_experiments()) {
            const std::string text = read_file(file);
            const auto comments = comments_of(text);
            const YamlNode tree = parse_yaml(text, "f");
            std::vector<YamlPath> paths;
            collect(tree, {}, paths);
            QVERIFY(paths.size() > 20);
            for (const YamlPath& path : paths) {
                if (const YamlNode* node = yaml_at(tree, path);
                    node->kind == YamlNode::Kind::scalar || node->kind == YamlNode::Kind::null) {
                    const std::string changed = set(text, path, "\"changed: #1\"");
                    QVERIFY2(comments_of(changed).size() >= comments.size(), yaml_path_text(path).c_str());
                }
                removed(text, path);
                if (!path.back().is_item) renamed(text, path, "another");
                YamlPath deeper = path;
                deeper.push_back(YamlStep("a_new_key"));
                if (yaml_at(tree, path)->kind == YamlNode::Kind::map)
                    QCOMPARE(comments_of(set(text, deeper, "[1, {b: 2}]")).size(), comments.size());
            }
        }
    }

    void no_prefix_of_a_file_makes_an_edit_do_anything_else() {
        const std::string text = read_file(fs::path(FACETER_SOURCE_DIR) / "experiments/quickstart.yaml");
        int done = 0, refused = 0;
        for (std::size_t size = 0; size <= text.size(); ++size) try {
                const std::string part = text.substr(0, size);
                set(part, {"training", "batch_size"}, "64");
                ++done;
            } catch (const Error&) {
                ++refused;  // not YAML at this length
            }
        QVERIFY(done > 500 && refused > 100);
    }
};

FACETER_TEST(TestYamlEdit)
#include "test_yaml_edit.moc"
