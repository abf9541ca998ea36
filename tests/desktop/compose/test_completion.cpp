#include "pages/compose/check_report.h"
#include "pages/compose/completion.h"
#include "pages/compose/yaml_context.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

/// What is offered at the '|' of a text.
QStringList offered(const std::string& marked, const YamlNode* tree = nullptr) {
    static const SchemaGuide guide(sample_catalogue());
    const std::size_t at = marked.find('|');
    const std::string text = marked.substr(0, at) + marked.substr(at + 1);
    QStringList texts;
    for (const Completion& one : completeAt(text, at, guide, tree).items) texts << QString::fromStdString(one.text).trimmed();
    return texts;
}

QString pathAt(const std::string& marked) { return QString::fromStdString(yaml_path_text(yamlContext(marked, marked.find('|')).path)); }

}  // namespace

class TestCompletion : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_place_is_known_from_the_text_before_it() {
        QCOMPARE(pathAt("|"), QString());
        QCOMPARE(pathAt("training:\n  bat|"), QStringLiteral("training"));
        QCOMPARE(pathAt("training:\n  batch_size: |"), QStringLiteral("training.batch_size"));
        QCOMPARE(pathAt("tasks:\n  retrieval:\n    instructions: {query: x, doc|"), QStringLiteral("tasks.retrieval.instructions"));
        QCOMPARE(pathAt("tasks:\n  retrieval:\n    train:\n      - {source: debian}\n      - {source: |"),
                 QStringLiteral("tasks.retrieval.train[1].source"));
        QCOMPARE(pathAt("tasks:\n  a:\n    weight: 1\n  b:\n    wei|"), QStringLiteral("tasks.b"));
        QCOMPARE(pathAt("tasks:\n  a:\n    weight: 1\nmod|"), QString());
        QCOMPARE(pathAt("analyses:\n- method: x\n  te|"), QStringLiteral("analyses[0]"));
        QCOMPARE(pathAt("seeds: [1, |"), QStringLiteral("seeds[1]"));
        QCOMPARE(pathAt("a: \"x: {\"\nb: {c: |"), QStringLiteral("b.c"));
    }

    void keys_come_from_the_schema_and_those_that_are_there_do_not_come_again() {
        QVERIFY(offered("|").contains(QStringLiteral("training:")));
        const QStringList keys = offered("training:\n  batch_size: 3\n  |");
        QVERIFY(keys.contains(QStringLiteral("learning_rate:")));
        QVERIFY(!keys.contains(QStringLiteral("batch_size:")));
        QCOMPARE(offered("training:\n  learn|"), QStringList{QStringLiteral("learning_rate:")});
        QVERIFY(offered("tasks:\n  a:\n    train:\n      - {name: x, |").contains(QStringLiteral("source:")));
    }

    void values_are_choices_methods_and_names_of_the_file() {
        QCOMPARE(offered("training:\n  schedule: |"),
                 (QStringList{QStringLiteral("cosine"), QStringLiteral("linear"), QStringLiteral("constant")}));
        QCOMPARE(offered("training:\n  schedule: li|"), QStringList{QStringLiteral("linear")});
        QCOMPARE(offered("evaluation:\n  baseline: |"), (QStringList{QStringLiteral("true"), QStringLiteral("false")}));
        QVERIFY(offered("variants:\n  A: {method: |").contains(QStringLiteral("mixture")));
        const YamlNode tree = parse_yaml("tasks: {retrieval: {}, mine: {}}\n", "t");
        QCOMPARE(offered("evaluation:\n  datasets:\n    - {task: |", &tree),
                 (QStringList{QStringLiteral("retrieval"), QStringLiteral("mine")}));
    }

    void values_of_a_block_list_are_completed_as_those_in_brackets() {
        const YamlNode tree = parse_yaml("tasks: {retrieval: {}}\nevaluation: {datasets: [{name: synopses}, {name: sections}]}\n", "t");
        const QString block = QStringLiteral("training:\n  evaluate_datasets:\n    - %1|");
        QCOMPARE(offered(block.arg(QString()).toStdString(), &tree), (QStringList{QStringLiteral("synopses"), QStringLiteral("sections")}));
        QCOMPARE(offered(block.arg(QStringLiteral("syn")).toStdString(), &tree), QStringList{QStringLiteral("synopses")});
        QCOMPARE(offered("training:\n  evaluate_datasets: [sections, syn|", &tree), QStringList{QStringLiteral("synopses")});
        QVERIFY(
            offered("tasks:\n  a:\n    train:\n      - sou|").contains(QStringLiteral("source:")));  // of a list of sections it is a key
    }

    void a_method_brings_its_own_settings_without_a_line_of_the_desktop() {
        QCOMPARE(offered("variants:\n  A: {method: mixture, |"), QStringList{QStringLiteral("placement:")});
        QVERIFY(offered("variants:\n  A: {method: dense, |").isEmpty());
        QCOMPARE(offered("variants:\n  A:\n    method: mixture\n    placement: |"),
                 (QStringList{QStringLiteral("every"), QStringLiteral("every_other")}));
        const YamlNode tree = parse_yaml("variants: {A: {method: mixture}}\n", "t");
        QVERIFY(offered("sweep:\n  |", &tree).contains(QStringLiteral("variants.A.placement: [")));
        QVERIFY(offered("sweep:\n  training.lear|", &tree).contains(QStringLiteral("training.learning_rate: [")));
    }

    void prompts_of_the_start_model_are_offered_where_something_stands_in_front_of_texts() {
        const TemporaryDirectory folder;
        make_directories(folder.path() / "model");
        const auto write = [&](const char* name, const Json& json) { write_file_atomic(folder.path() / "model" / name, json.dump()); };
        write("config.json", {{"model_type", "bert"}});
        write("model.safetensors", {});
        write("config_sentence_transformers.json",
              {{"prompts", {{"query", "Instruct: find\nQuery:"}, {"document", ""}, {"sts", "same: "}}}});
        const Prompts prompts = promptsOf(parse_yaml("model: model", "e.yaml"), folder.path());
        QCOMPARE(prompts, (Prompts{{"query", "Instruct: find\nQuery:"}, {"sts", "same: "}}));
        QVERIFY(promptsOf(parse_yaml("model: nothing", "e.yaml"), folder.path()).empty());
        const SchemaGuide guide(sample_catalogue());
        const auto at = [&](const std::string& text) {
            QStringList texts;
            for (const Completion& one : completeAt(text, text.size(), guide, nullptr, prompts).items)
                texts << QString::fromStdString(one.text);
            return texts;
        };
        QCOMPARE(at("tasks:\n  r:\n    instructions: {query: qu"), QStringList{QStringLiteral("\"Instruct: find\\nQuery:\"")});
        QCOMPARE(at("tasks:\n  r:\n    instructions:\n      text: ").size(), 2);
        QVERIFY(at("tasks:\n  r:\n    type: s").filter(QStringLiteral("same")).isEmpty());
    }

    void nothing_is_offered_in_comments_and_quotes() {
        QVERIFY(offered("# tra|").isEmpty());
        QVERIFY(offered("description: \"tra|").isEmpty());
        QVERIFY(offered("name: x # |").isEmpty());
    }

    void a_problem_knows_its_line_and_its_setting() {
        const std::string text =
            "name: x\ntasks:\n  retrieval: {}\nvariants: {A: {method: dense}}\ntraining:\n  batch_size: many\n  learing_rate: 1\n";
        const CheckReport report = checkText(text, "/tmp/x.yaml", sample_catalogue(), false);
        QVERIFY(report.tree && !report.experiment);
        QCOMPARE(report.problems.size(), std::size_t{2});
        for (const Problem& problem : report.problems) {
            const bool first = problem.line == 6;
            QCOMPARE(problem.line, first ? std::size_t{6} : std::size_t{7});
            QCOMPARE(QString::fromStdString(yaml_path_text(problem.path)),
                     first ? QStringLiteral("training.batch_size") : QStringLiteral("training.learing_rate"));
        }
        const CheckReport missing =
            checkText("name: x\ntasks:\n  retrieval: {}\nvariants:\n  A: {}\n", "/tmp/x.yaml", sample_catalogue(), false);
        QCOMPARE(QString::fromStdString(yaml_path_text(missing.problems.front().path)), QStringLiteral("variants.A.method"));
        const CheckReport broken = checkText("name: [\n", "/tmp/x.yaml", sample_catalogue(), false);
        QVERIFY(!broken.tree && broken.problems.size() == 1 && broken.problems.front().line > 0);
    }

    void any_beginning_of_the_quick_start_can_be_completed() {
        const std::string text = read_file(fs::path(FACETER_SOURCE_DIR) / "experiments/quickstart.yaml");
        static const SchemaGuide guide(sample_catalogue());
        std::size_t places = 0;
        for (std::size_t size = 0; size <= text.size(); ++size)
            places += completeAt(std::string_view(text).substr(0, size), size, guide, nullptr).items.empty() ? 0 : 1;
        QVERIFY(places > 200);
    }
};

FACETER_TEST(TestCompletion)
#include "test_completion.moc"
