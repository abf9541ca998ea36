#include "compare/example_changes.h"

#include <fstream>

#include "common/error.h"
#include "compare/compared_groups.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A run whose settings name a folder of three test texts, scored on it.
struct ScoredRun {
    TemporaryDirectory folder;
    std::optional<RunDirectory> run;

    explicit ScoredRun(std::size_t num_scores = 3) {
        const fs::path data = folder.path() / "topics";
        make_directories(data);
        std::ofstream(data / "train.jsonl") << "{\"text\": \"a\", \"label\": \"x\"}\n{\"text\": \"b\", \"label\": \"y\"}\n";
        write_test(data, "the third");
        std::string text = sample_experiment();
        const std::string before = "{source: folder, path: scifact}";
        text.replace(text.find(before), before.size(), "{name: topics, source: folder, path: " + data.string() + "}");
        const Experiment experiment = parse_sample(text);
        run = RunDirectory::create(folder.path(), experiment, experiment.runs().at(1), false);
        const EvaluationSet set = load_named_evaluation_set(run->settings(), "topics");
        run->write_result("topics", {{"name", "topics"},
                                     {"per_example", std::vector<double>(num_scores, 100)},
                                     {"settings", {{"data_fingerprint", set.fingerprint}}}});
    }
    static void write_test(const fs::path& data, const std::string& third) {
        std::ofstream(data / "test.jsonl") << "{\"text\": \"the first\", \"label\": \"x\"}\n{\"text\": \"the second\", \"label\": \"y\"}\n"
                                           << "{\"text\": \"" << third << "\", \"label\": \"x\"}\n";
    }
};

std::string message_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

class TestExampleChanges : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void the_largest_difference_comes_first_and_equal_ones_by_their_place() {
        const ExampleChanges changes = example_changes(compared_groups(), example_scores(), 0, 1, "set1");
        QCOMPARE(changes.changes.size(), std::size_t{10});
        // d[j] = (7 j mod 10) - 2.6: 6.4 at j = 7, 5.4 at j = 4.
        QCOMPARE(changes.changes[0].example, std::size_t{7});
        QVERIFY(std::abs(changes.changes[0].difference() - 6.4) < 1e-9);
        QCOMPARE(changes.changes[1].example, std::size_t{4});
        const ExampleChanges all = example_changes(compared_groups(), example_scores(), 0, 1);
        QCOMPARE(all.changes.size(), std::size_t{40});
        for (std::size_t i = 0; i < 4; ++i) QCOMPARE(all.changes[i].set, "set" + std::to_string(i));
        const ExampleChanges back = example_changes(compared_groups(), example_scores(), 1, 0, "set1");
        QVERIFY(std::abs(back.changes[0].difference() + 6.4) < 1e-9);
    }

    void a_set_without_scores_of_examples_says_why() {
        const ExampleChanges changes = example_changes(compared_groups(), example_scores("set2"), 0, 1);
        QCOMPARE(changes.changes.size(), std::size_t{30});
        QCOMPARE(changes.notes, (std::vector<std::string>{"set2: its metric is no mean over examples."}));
        ExampleScores fewer = example_scores();
        fewer.groups[1]["set0"].values.pop_back();
        QCOMPARE(example_changes(compared_groups(), fewer, 0, 1, "set0").notes.front(),
                 std::string("set0: EM has scores of 10 examples, 9 of MoTE."));
        ExampleScores changed = example_scores();
        changed.groups[0]["set0"].fingerprint = "one";
        changed.groups[1]["set0"].fingerprint = "other";
        QCOMPARE(example_changes(compared_groups(), changed, 0, 1, "set0").notes.front(),
                 std::string("set0: EM and MoTE were scored on different data of this name."));
    }

    void gains_losses_and_texts_are_filtered() {
        const ExampleChanges changes = example_changes(compared_groups(), example_scores(), 0, 1, "set1");
        std::map<std::string, ExampleTexts> texts;
        for (int i = 0; i < 10; ++i) texts["set1"].texts.push_back({"Text " + std::to_string(i), "wanted"});
        const auto rows = [&](const ChangeFilter& filter, std::size_t most = 0) {
            return example_changes_table(changes, texts, filter, most).rows.size();
        };
        QCOMPARE(rows({}), std::size_t{10});
        QCOMPARE(rows({ChangeDirection::gains}), std::size_t{7});
        QCOMPARE(rows({ChangeDirection::losses}), std::size_t{3});
        QCOMPARE(rows({ChangeDirection::any, 5.0}), std::size_t{2});
        QCOMPARE(rows({ChangeDirection::any, 0, "tEXT 7"}), std::size_t{1});
        QCOMPARE(rows({ChangeDirection::any, 0, "WANTED"}), std::size_t{10});
        QCOMPARE(rows({}, 4), std::size_t{4});
        const Table table = example_changes_table(changes, texts, {}, 1);
        QCOMPARE(table.rows[0].cells[1].value, 8.0);  // counted from 1
        QCOMPARE(table.rows[0].cells[5].text, std::string("Text 7"));
        QCOMPARE(message_of([] { parse_change_direction("up"); }),
                 std::string("'up' is no direction of a change; expected any, gains or losses"));
    }

    void texts_are_those_that_the_run_was_scored_on() {
        const ScoredRun scored;
        const ExampleTexts texts = read_example_texts(*scored.run, "topics");
        QVERIFY2(texts.problem.empty(), texts.problem.c_str());
        QCOMPARE(texts.texts.size(), std::size_t{3});
        QCOMPARE(texts.texts[1].text, std::string("the second"));
        QCOMPARE(texts.texts[1].wanted, std::string("y"));
    }

    void texts_of_data_that_changed_are_refused() {
        const ScoredRun scored;
        ScoredRun::write_test(scored.folder.path() / "topics", "another third");
        const ExampleTexts texts = read_example_texts(*scored.run, "topics");
        QVERIFY(texts.texts.empty());
        QVERIFY2(texts.problem.find("'topics' has changed since the run was scored") != std::string::npos, texts.problem.c_str());
    }

    void a_set_that_is_gone_or_of_another_length_has_a_problem_instead_of_texts() {
        const ScoredRun four(4);
        QVERIFY(read_example_texts(*four.run, "topics").problem.find("does not say which text") != std::string::npos);
        QVERIFY(read_example_texts(*four.run, "topcs").problem.find("did you mean 'topics'") != std::string::npos);
        fs::remove_all(four.folder.path() / "topics");
        QVERIFY(!read_example_texts(*four.run, "topics").problem.empty());
    }
};

FACETER_TEST(TestExampleChanges)
#include "test_example_changes.moc"
