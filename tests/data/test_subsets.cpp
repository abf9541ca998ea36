#include "data/sources.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;
using faceter::testing::request;

/// Multilingual sets: sub-folders, or records that name their subset.
class TestSubsets : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    fs::path two_languages() {
        const fs::path folder = folder_.path() / "in_folders";
        for (const char* language : {"de", "en"}) {
            put(folder / language / "test.jsonl", fmt::format(R"({{"sentence1": "{0} a", "sentence2": "{0} b", "score": 1}}
{{"sentence1": "{0} c", "sentence2": "{0} d", "score": 2}}
)",
                                                              language));
        }
        return folder;
    }
    fs::path named_in_records() {
        const fs::path folder = folder_.path() / "in_records";
        put(folder / "train.jsonl", R"({"text": "ein", "label": 0, "lang": "de"}
{"text": "one", "label": 0, "lang": "en"}
{"text": "zwei", "label": 1, "lang": "de"}
{"text": "two", "label": 1, "lang": "en"}
{"text": "II", "label": 1}
)");
        put(folder / "test.jsonl", R"({"text": "eins", "label": 0, "lang": "de"}
{"text": "1", "label": 0, "lang": "en"}
{"text": "2", "label": 1, "lang": "en"}
)");
        return folder;
    }

  private Q_SLOTS:
    void sub_folders_of_one_layout_are_the_subsets_of_one_set() {
        const auto set = load_evaluation_folder(two_languages());
        QCOMPARE(set.task_type, std::string("sts"));
        QCOMPARE(set.name, std::string("in_folders"));
        QCOMPARE(set.subsets.size(), std::size_t{2});
        QCOMPARE(set.subsets[0].name, std::string("de"));
        QCOMPARE(std::string(std::get<PairData>(set.subsets[1].data).texts[0]), std::string("en a"));
        QCOMPARE(all_texts(set).size(), std::size_t{8});
        QVERIFY(set.fingerprint != set.subsets[0].fingerprint);
    }
    void records_that_name_their_subset_are_told_apart_and_others_belong_to_all() {
        const auto set = load_evaluation_folder(named_in_records());
        QCOMPARE(set.subsets.size(), std::size_t{2});
        const auto& german = std::get<ClassificationData>(set.subsets[0].data);
        QCOMPARE(german.train.size(), std::size_t{3});
        QCOMPARE(std::string(german.train[2]), std::string("II"));
        QCOMPARE(german.test.size(), std::size_t{1});
        QCOMPARE(std::get<ClassificationData>(set.subsets[1].data).test.size(), std::size_t{2});
    }
    void a_table_names_subsets_in_a_column_as_records_do() {
        const auto folder = folder_.path() / "in_table";
        put(folder / "dataset.json", R"({"task": "sts"})");
        put(folder / "test.csv", "sentence1,sentence2,score,lang\na,b,1,en\nc,d,2,en\ne,f,1,de\ng,h,3,de\n");
        const auto set = load_evaluation_folder(folder);
        QCOMPARE(set.subsets.size(), std::size_t{2});
        QCOMPARE(set.subsets[0].name, std::string("de"));
        QCOMPARE(std::string(std::get<PairData>(set.subsets[0].data).texts[0]), std::string("e"));
        put(folder / "test.csv", "sentence1,sentence2,score,lang\na,b,1,en\nc,d,2,en\ne,f,1,de\n");
        EXPECT_ERROR(load_evaluation_folder(folder), "in_table", "subset 'de'", "different scores");
        put(folder / "test.csv", "sentence1,sentence2,score\na,b,1\nc,d,2\n");
        QVERIFY(load_evaluation_folder(folder).subsets.empty());
    }
    void an_entry_may_choose_subsets_and_one_alone_is_a_plain_set() {
        const auto load = [](const fs::path& folder, Json names) {
            return load_evaluation_set(request({{"path", folder.string()}, {"subsets", names}}));
        };
        const auto one = load(two_languages(), {"en"});
        QVERIFY(one.subsets.empty());
        QCOMPARE(one.name, std::string("in_folders"));
        QCOMPARE(std::string(std::get<PairData>(one.data).texts[0]), std::string("en a"));
        QCOMPARE(std::get<ClassificationData>(load(named_in_records(), {"de"}).data).test.size(), std::size_t{1});
        QCOMPARE(load(two_languages(), {"de", "en"}).fingerprint, load_evaluation_folder(two_languages()).fingerprint);
        EXPECT_ERROR(load(two_languages(), {"fr"}), "in_folders", "no subset 'fr'");
        EXPECT_ERROR(load(two_languages(), {"ed"}), "did you mean");
        EXPECT_ERROR(load(two_languages() / "de", {"fr"}), "no subsets at all");
    }
    void a_folder_of_different_data_sets_is_not_taken_for_one() {
        const auto folder = folder_.path() / "mixed";
        put(folder / "a/test.jsonl", R"({"sentences": ["a", "b"], "labels": [0, 1]})");
        put(folder / "b/test.jsonl", R"({"query": "a", "positive": ["b"], "negative": ["c"]})");
        EXPECT_ERROR(load_evaluation_folder(folder), "mixed", "a is clustering", "b is reranking", "one of them");
    }
    void an_entry_says_under_which_task_role_and_instruction_a_set_passes() {
        const auto set = load_evaluation_set(request({{"path", (two_languages() / "de").string()},
                                                      {"as", "classification"},
                                                      {"role", "document"},
                                                      {"query_instruction", "Instruct: "},
                                                      {"document_instruction", nullptr}}));
        QCOMPARE(set.routing.task, std::string("classification"));
        QCOMPARE(set.routing.role, std::string("document"));
        QCOMPARE(set.routing.query_instruction.value(), std::string("Instruct: "));
        QVERIFY(!set.routing.document_instruction);
        EXPECT_ERROR(load_evaluation_set(request({{"path", two_languages().string()}, {"role", "both"}})), "role", "query or document");
    }
};

FACETER_TEST(TestSubsets)
#include "test_subsets.moc"
