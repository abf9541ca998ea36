#include "data/duplicates.h"

#include "data/overlap.h"
#include "data/sources.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;
using faceter::testing::request;

/// Examples as a person reads them, those that stand twice, and pairs of sets that share texts.
class TestDuplicates : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    TrainingSet pairs(std::string_view content) {
        put(folder_.path() / "pairs.jsonl", content);
        return load_training_set(request({{"source", "file"}, {"path", "pairs.jsonl"}}, folder_.path()), "retrieval");
    }
    EvaluationSet pets() {
        put(folder_.path() / "pets/corpus.jsonl", "{\"_id\":\"d\",\"text\":\"the dog\"}\n{\"_id\":\"e\",\"text\":\"the cat\"}\n");
        put(folder_.path() / "pets/queries.jsonl", "{\"_id\":\"q\",\"text\":\"a pet\"}\n{\"_id\":\"r\",\"text\":\"A PET!\"}\n");
        put(folder_.path() / "pets/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\te\t1\nr\td\t1\nr\te\t0\n");
        return load_evaluation_folder(folder_.path() / "pets");
    }

  private Q_SLOTS:
    void a_training_example_has_its_texts_by_role() {
        const TrainingSet set = pairs("{\"query\":\"q\",\"document\":\"d\",\"negatives\":[\"n1\",\"n2\"]}\n");
        const ExampleRows rows(set);
        QCOMPARE(rows.size(), std::size_t{1});
        const ExampleRow row = rows.row(0, 1);
        QCOMPARE(row.texts.size(), std::size_t{3});
        QCOMPARE(row.texts[0].role, std::string_view("anchor"));
        QCOMPARE(row.texts[2].text, std::string_view("n1"));
        QVERIFY(row.texts[1].is_document && !row.texts[0].is_document);
        QVERIFY_THROWS_EXCEPTION(Error, rows.row(1));
    }

    void a_query_has_its_relevant_documents_and_not_those_judged_irrelevant() {
        const EvaluationSet set = pets();
        const ExampleRows rows(set);
        QCOMPARE(rows.size(), std::size_t{2});
        const ExampleRow row = rows.row(1);
        QCOMPARE(row.texts.size(), std::size_t{2});
        QCOMPARE(row.texts[0].text, std::string_view("A PET!"));
        QCOMPARE(row.texts[1].text, std::string_view("the dog"));
    }

    void examples_that_differ_in_case_and_punctuation_alone_are_counted_once_each_but_the_first() {
        const TrainingSet set = pairs(
            "{\"query\":\"What is it?\",\"document\":\"A dog.\"}\n{\"query\":\"what is it\",\"document\":\"a dog\"}\n"
            "{\"query\":\"other\",\"document\":\"a dog\"}\n{\"query\":\"WHAT IS IT\",\"document\":\"A DOG\"}\n");
        const Duplicates found = find_duplicates(ExampleRows(set));
        QCOMPARE(found.examples, std::size_t{4});
        QCOMPARE(found.repeated, std::size_t{2});
        QCOMPARE(found.num_groups, std::size_t{1});
        QCOMPARE(found.groups.front().copies, std::size_t{3});
        QCOMPARE(found.groups.front().rows, (std::vector<std::size_t>{0, 1, 3}));
        QCOMPARE(found.groups.front().text, std::string("What is it? | A dog."));
        QVERIFY(!found.groups.front().labels_differ);
        QCOMPARE(to_json(found).at("first").at(0).at("copies").get<int>(), 3);
    }

    void texts_without_a_letter_are_the_same_only_where_each_sign_is() {
        const TrainingSet set =
            pairs("{\"query\":\":)\",\"document\":\"d\"}\n{\"query\":\":(\",\"document\":\"d\"}\n{\"query\":\":)\",\"document\":\"d\"}\n");
        QCOMPARE(find_duplicates(ExampleRows(set)).repeated, std::size_t{1});
    }

    void the_same_text_under_another_label_is_said() {
        put(folder_.path() / "topics/train.jsonl", "{\"text\":\"x\",\"label\":\"a\"}\n{\"text\":\"y\",\"label\":\"b\"}\n");
        put(folder_.path() / "topics/test.jsonl",
            "{\"text\":\"same\",\"label\":\"a\"}\n{\"text\":\"same.\",\"label\":\"b\"}\n{\"text\":\"own\",\"label\":\"b\"}\n"
            "{\"text\":\"own\",\"label\":\"b\"}\n");
        const EvaluationSet set = load_evaluation_set(
            request({{"source", "folder"}, {"path", (folder_.path() / "topics").string()}, {"task", "classification"}}, folder_.path()));
        const Duplicates found = find_duplicates(ExampleRows(set));
        QCOMPARE(found.num_groups, std::size_t{2});
        QCOMPARE(found.num_differ, std::size_t{1});
        QVERIFY(found.groups[0].labels_differ && !found.groups[1].labels_differ);
    }

    /// Each is paired with another text of its label, and these differ.
    void a_text_that_is_trained_on_under_two_labels_is_said() {
        put(folder_.path() / "labels.jsonl",
            "{\"text\":\"same\",\"label\":\"a\"}\n{\"text\":\"second\",\"label\":\"a\"}\n{\"text\":\"Same.\",\"label\":\"b\"}\n"
            "{\"text\":\"fourth\",\"label\":\"b\"}\n");
        const TrainingSet set = load_training_set(
            request({{"source", "file"}, {"path", "labels.jsonl"}, {"format", "labelled"}}, folder_.path()), "classification");
        const Duplicates found = find_duplicates(ExampleRows(set));
        QCOMPARE(found.examples, std::size_t{4});
        QCOMPARE(found.repeated, std::size_t{1});
        QCOMPARE(found.num_differ, std::size_t{1});
        QCOMPARE(found.groups.front().text, std::string("same"));
    }

    void the_sets_of_a_clustering_are_apart() {
        EvaluationSet set;
        ClusteringData data;
        for (const std::int32_t label : {0, 1}) {
            ClusteringData::Set& one = data.sets.emplace_back();
            one.texts.add("text");
            one.texts.add("text");
            one.labels = {label, label};
        }
        set.data = std::move(data);
        const ExampleRows rows(set);
        QCOMPARE(rows.size(), std::size_t{4});
        QCOMPARE(rows.row(2).part, std::size_t{1});
        const Duplicates found = find_duplicates(rows);
        QCOMPARE(found.repeated, std::size_t{2});
        QCOMPARE(found.num_differ, std::size_t{0});
        QCOMPARE(found.groups[1].rows, (std::vector<std::size_t>{2, 3}));
    }

    void a_search_for_duplicates_can_be_ended_from_within() {
        const TrainingSet set = pairs("{\"query\":\"q\",\"document\":\"d\"}\n");
        QVERIFY_THROWS_EXCEPTION(std::runtime_error,
                                 find_duplicates(ExampleRows(set), [](std::size_t) { throw std::runtime_error("no longer wanted"); }));
    }

    void every_pair_of_sets_is_counted_with_examples_also_one_that_shares_nothing() {
        OverlapCounter counter;
        counter.add(pairs("{\"query\":\"a pet\",\"document\":\"The Dog\"}\n"));
        counter.add(pairs("{\"query\":\"else\",\"document\":\"something\"}\n"));
        const auto found = counter.count(pets());
        QCOMPARE(found.size(), std::size_t{2});
        QCOMPARE(found[0].shared_texts, std::size_t{2});
        QCOMPARE(found[0].examples.back(), std::string("the dog"));
        QCOMPARE(found[1].shared_texts, std::size_t{0});
        QVERIFY(found[1].examples.empty() && to_json(found[1]).at("example").is_null());
    }

    void counting_within_one_large_set_can_be_ended_from_within() {
        std::string lines;
        for (int i = 0; i < 6000; ++i) lines += fmt::format("{{\"query\":\"q{}\",\"document\":\"the dog {}\"}}\n", i, i);
        const TrainingSet large = pairs(lines);
        OverlapCounter counter;
        int ticks = 0;
        const auto end_at_second = [&] {
            if (++ticks == 2) throw std::runtime_error("no longer wanted");
        };
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, counter.add(large, end_at_second));
        QCOMPARE(counter.count(pets()).size(), std::size_t{0});  // what was not read whole is not counted
        counter.add(large);
        const auto end = [] { throw std::runtime_error("no longer wanted"); };
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, counter.count(pets(), end));
        QCOMPARE(counter.count(pets()).size(), std::size_t{1});
    }
};

FACETER_TEST(TestDuplicates)
#include "test_duplicates.moc"
