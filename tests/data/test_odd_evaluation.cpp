#include "data/sources.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;

/// Evaluation data that cannot give a score, or only a trivial one.
class TestOddEvaluation : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    fs::path folder(const char* name, std::string_view test, std::string_view train = {}) {
        const fs::path made = folder_.path() / name;
        put(made / "test.jsonl", test);
        if (!train.empty()) put(made / "train.jsonl", train);
        return made;
    }
    static std::string warnings(const EvaluationSet& set) { return set.card.at("warnings").dump(); }

  private Q_SLOTS:
    void a_torn_file_is_named_with_its_line() {
        EXPECT_ERROR(load_evaluation_folder(
                         folder("torn", "{\"sentence1\": \"a\", \"sentence2\": \"b\", \"score\": 1}\n{\"sentence1\": \"c\", \"sente")),
                     "torn/test.jsonl:2", "JSON");
        const auto packed = folder_.path() / "torn_gz";
        const std::string whole = faceter::testing::gzip(std::string(5000, '\n') + "{\"sentences\": [\"a\", \"b\"], \"labels\": [0, 1]}\n");
        put(packed / "dataset.json", R"({"task": "clustering"})");
        put(packed / "test.jsonl.gz", whole.substr(0, whole.size() - 12));
        EXPECT_ERROR(load_evaluation_folder(packed), "torn_gz/test.jsonl.gz");
    }
    void one_class_to_train_on_is_an_error() {
        const auto made = folder("one_class", "{\"text\": \"a\", \"label\": 0}\n{\"text\": \"b\", \"label\": 1}\n",
                                 "{\"text\": \"c\", \"label\": \"x\"}\n");
        EXPECT_ERROR(load_evaluation_folder(made), "one_class", "all 1 training texts", "two different labels");
    }
    /// As where a benchmark keeps the labels of its test part to itself.
    void labels_that_training_lacks_are_warned_of() {
        const char* train = "{\"text\": \"c\", \"label\": 0}\n{\"text\": \"d\", \"label\": 1}\n";
        const std::string test = "{\"text\": \"a\", \"label\": -1}\n{\"text\": \"b\", \"label\": 1}\n";
        QVERIFY(warnings(load_evaluation_folder(folder("withheld", test, train))).find("1 of 2 texts of split 'test'") !=
                std::string::npos);
        QCOMPARE(warnings(load_evaluation_folder(folder("known", train, train))), std::string("[]"));
    }
    void a_whole_number_is_one_label_with_and_without_a_point() {
        const auto made = folder("points", "{\"text\": \"a\", \"label\": 1.0}\n{\"text\": \"b\", \"label\": 20.00}\n",
                                 "{\"text\": \"c\", \"label\": 1}\n{\"text\": \"d\", \"label\": 20}\n{\"text\": \"e\", \"label\": 1.50}\n");
        const auto set = load_evaluation_folder(made);
        QCOMPARE(warnings(set), std::string("[]"));
        const auto& data = std::get<ClassificationData>(set.data);
        QCOMPARE(data.label_names, (std::vector<std::string>{"1", "1.50", "20"}));
        QCOMPARE(data.test_labels, (std::vector<std::int32_t>{0, 2}));
        const auto table = folder("points_in_a_table", "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"b\", \"label\": 0}\n");
        put(table / "train.csv", "text,label\nc,1.0\nd,0.0\ne,1.5\n");  // whose cells are all texts
        const auto tabled = load_evaluation_folder(table);
        QCOMPARE(warnings(tabled), std::string("[]"));
        QCOMPARE(std::get<ClassificationData>(tabled.data).label_names, (std::vector<std::string>{"0", "1", "1.5"}));
        const auto multi = load_evaluation_folder(
            folder("points_of_several", "{\"text\": \"a\", \"label\": [1.0, 2]}\n", "{\"text\": \"b\", \"label\": [1, 2.0]}\n"));
        QCOMPARE(std::get<MultilabelData>(multi.data).label_names, (std::vector<std::string>{"1", "2"}));
    }
    void labels_of_several_that_training_lacks_are_warned_of() {
        const auto set = load_evaluation_folder(
            folder("several_untrained", "{\"text\": \"a\", \"label\": [\"x\"]}\n{\"text\": \"b\", \"label\": [\"x\", \"z\"]}\n",
                   "{\"text\": \"c\", \"label\": [\"x\"]}\n{\"text\": \"d\", \"label\": [\"y\"]}\n"));
        QVERIFY(warnings(set).find("1 of 2 texts of split 'test' have a label that no training text has ('z')") != std::string::npos);
    }
    void pairs_of_one_label_are_warned_of() {
        const auto set = load_evaluation_folder(folder("all_positive", "{\"sentence1\": \"a\", \"sentence2\": \"b\", \"label\": 1}\n"));
        QVERIFY(warnings(set).find("all pairs have the label 1; average precision is then 100") != std::string::npos);
    }
    void equal_scores_cannot_correlate() {
        EXPECT_ERROR(load_evaluation_folder(folder("flat", "{\"sentence1\": \"a\", \"sentence2\": \"b\", \"score\": 2}\n")), "flat",
                     "a correlation needs different");
        EXPECT_ERROR(load_evaluation_folder(folder("nan", "{\"sentence1\": \"a\", \"sentence2\": \"b\", \"score\": \"nan\"}\n")),
                     "test.jsonl:1", "'score' is not a number");
    }
    void a_set_with_a_single_cluster_is_warned_of() {
        const auto set = load_evaluation_folder(folder("single", "{\"sentences\": [\"a\", \"b\"], \"labels\": [3, 3]}\n"));
        QVERIFY(warnings(set).find("1 of 1 sets have a single label") != std::string::npos);
    }
    void labels_of_several_kinds_are_read_as_names_or_refused() {
        const auto made = folder("multi", "{\"text\": \"a\", \"label\": [2, \"2\", 1, 2]}\n", "{\"text\": \"b\", \"label\": [1]}\n");
        const auto set = load_evaluation_folder(made);
        const auto& data = std::get<MultilabelData>(set.data);
        QCOMPARE(data.label_names, (std::vector<std::string>{"1", "2"}));
        QCOMPARE(data.test_labels[0], (std::vector<std::int32_t>{0, 1}));
        EXPECT_ERROR(
            load_evaluation_folder(folder("multi_bad", "{\"text\": \"a\", \"label\": [null]}\n", "{\"text\": \"b\", \"label\": [1]}\n")),
            "test.jsonl:1", "neither a text nor a number");
        EXPECT_ERROR(
            load_evaluation_folder(folder("multi_none", "{\"text\": \"a\", \"label\": []}\n", "{\"text\": \"b\", \"label\": []}\n")),
            "no label at all");
        EXPECT_ERROR(
            load_evaluation_folder(folder("multi_test", "{\"text\": \"a\", \"label\": []}\n", "{\"text\": \"b\", \"label\": [1]}\n")),
            "no text of split 'test' has a label");
    }
    void listed_pairs_of_different_lengths_are_refused() {
        EXPECT_ERROR(load_evaluation_folder(folder("listed", R"({"sent1": ["a", "b"], "sent2": ["c"], "labels": [0, 1]})")), "test.jsonl:1",
                     "2, 1 and 2");
    }
};

FACETER_TEST(TestOddEvaluation)
#include "test_odd_evaluation.moc"
