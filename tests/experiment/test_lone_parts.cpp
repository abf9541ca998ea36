#include "experiment/lone_parts.h"

#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Catalogue catalogue() {
    Catalogue made = sample_catalogue();
    const auto add = [&](const char* name, Parts parts) {
        const Field shared = choice("shared", {"none", "named"}, "none", "What shares a part.");
        made.add(ExtensionKind::variant, {name, "", {name, "", {shared}}, false, "", LearnsFrom::anything, std::move(parts)}, "demo");
    };
    add("experts", {"expert", false, "shared"});
    add("adapters", {"adapter", true, "shared"});
    return made;
}

std::string task(const std::string& name, const std::string& instructions) {
    return "  " + name + ":\n    type: retrieval\n" + (instructions.empty() ? "" : "    instructions: " + instructions + "\n") +
           "    train: [{source: file, path: a.tsv}]\n";
}

std::vector<std::string> remarks(const std::string& tasks, const std::string& variant) {
    const Catalogue known = catalogue();
    return lone_parts(
        Experiment::parse("name: x\nseeds: [1, 2]\ntasks:\n" + tasks + "variants: {V: {" + variant + "}}\n", "/base/x.yaml", known), known);
}

const std::string same = "{text: \"find: \"}", apart = "{query: \"query: \", document: \"document: \"}";

}  // namespace

/// Variants of experts or adapters, in experiments that need one.
class TestLoneParts : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void one_instruction_makes_one_expert_and_is_told_once() {
        const auto told = remarks(task("a", same) + task("b", same), "method: experts");
        QCOMPARE(told.size(), std::size_t{1});
        QVERIFY2(told[0].starts_with("/base/x.yaml: variant 'V' (experts) has one expert for all texts"), told[0].c_str());
        QVERIFY2(told[0].find("'find: '") != std::string::npos, told[0].c_str());
        const auto bare = remarks(task("a", ""), "method: experts");
        QCOMPARE(bare.size(), std::size_t{1});
        QVERIFY2(bare[0].find("none has an instruction") != std::string::npos, bare[0].c_str());
    }
    void two_instructions_make_two() {
        for (const std::string& tasks :
             {task("a", apart), task("a", same) + task("b", "{text: \"group: \"}"), task("a", same) + task("b", "")})
            QVERIFY(remarks(tasks, "method: experts").empty());
    }
    void a_task_has_an_adapter_of_its_own() {
        QCOMPARE(remarks(task("a", same), "method: adapters").size(), std::size_t{1});
        QVERIFY(remarks(task("a", same) + task("b", same), "method: adapters").empty());
        QVERIFY(remarks(task("a", apart), "method: adapters").empty());
    }
    void who_says_what_shares_a_part_is_not_warned() {
        QVERIFY(remarks(task("a", same), "method: experts, shared: named").empty());
        QVERIFY(remarks(task("a", same), "method: dense").empty());
    }
};

FACETER_TEST(TestLoneParts)
#include "test_lone_parts.moc"
