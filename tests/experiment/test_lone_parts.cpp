#include "experiment/lone_parts.h"

#include <map>

#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Catalogue catalogue() {
    Catalogue made = sample_catalogue();
    const auto add = [&](const char* name, Parts parts) {
        const Field shared = choice("shared", {"none", "named"}, "none", "What shares a part.");
        const Field form = choice("final_form", {"parts", "averaged"}, "parts", "What is left.");
        made.add(ExtensionKind::variant, {name, "", {name, "", {shared, form}}, false, "", LearnsFrom::anything, std::move(parts)}, "demo");
    };
    add("experts", {"expert", false, "shared"});
    add("adapters", {"adapter", true, "shared"});
    made.add(ExtensionKind::variant,
             {"encoders", "", {"encoders", "", {}}, false, "", LearnsFrom::anything, {}, {Training::What::encoder_a_task, "always"}},
             "demo");
    return made;
}

std::string task(const std::string& name, const std::string& instructions) {
    return "  " + name + ":\n    type: retrieval\n" + (instructions.empty() ? "" : "    instructions: " + instructions + "\n") +
           "    train: [{source: file, path: a.tsv}]\n";
}

using Remarks = std::vector<std::string> (*)(const Experiment&, const Catalogue&);

std::vector<std::string> remarks(const std::string& tasks, const std::string& variant, Remarks of = lone_parts,
                                 const std::string& more = "") {
    const Catalogue known = catalogue();
    const std::string text = "name: x\nseeds: [1, 2]\ntasks:\n" + tasks + "variants: {V: {" + variant + "}}\n" + more;
    return of(Experiment::parse(text, "/base/x.yaml", known), known);
}
std::vector<std::string> untrained(const std::string& tasks, const std::string& variant, const std::string& more = "") {
    return remarks(tasks, variant, untrained_parts, more);
}
/// Of a task that is there to be scored.
std::string bare(const std::string& name, const std::string& instructions) {
    return "  " + name + ":\n    type: retrieval\n    instructions: " + instructions + "\n";
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
    void a_task_that_nothing_trains_keeps_an_untrained_part_and_is_told_once() {
        for (const auto& [variant, part] :
             std::map<std::string, std::string>{{"experts", "expert"}, {"adapters", "adapter"}, {"encoders", "encoder"}}) {
            const auto told = untrained(task("a", same) + bare("b", apart), "method: " + variant);
            QCOMPARE(told.size(), std::size_t{1});
            const std::string words = "nothing trains task 'b': its " + part + " stays as the start model is; give it training data";
            QVERIFY2(told[0].find(words) != std::string::npos, told[0].c_str());
            QVERIFY(untrained(task("a", same) + task("b", apart), "method: " + variant).empty());
        }
        QVERIFY(untrained(task("a", same) + bare("b", apart), "method: dense").empty());
        QVERIFY(untrained(task("a", same) + bare("b", apart), "method: experts, shared: named").empty());
    }
    void an_expert_of_a_trained_instruction_is_trained() {
        QVERIFY(untrained(task("a", same) + bare("b", same), "method: experts").empty());
        QCOMPARE(untrained(task("a", same) + bare("b", same), "method: adapters").size(), std::size_t{1});
    }
    void tasks_that_no_stage_names_are_counted_and_the_average_with_them() {
        const std::string stage = "stages: [{name: one, tasks: [a]}]\n";
        const auto told = untrained(task("a", same) + task("b", apart) + task("c", apart), "method: experts, final_form: averaged", stage);
        QCOMPARE(told.size(), std::size_t{1});
        const std::string words =
            "nothing trains tasks 'b', 'c': their experts stay as the start model is, and the average at the end counts them";
        QVERIFY2(told[0].find(words) != std::string::npos, told[0].c_str());
    }
};

FACETER_TEST(TestLoneParts)
#include "test_lone_parts.moc"
