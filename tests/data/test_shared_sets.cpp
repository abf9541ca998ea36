#include "common/json.h"
#include "data/overlap.h"
#include "data/settings.h"
#include "data/sources.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::shared_folder;

namespace {

std::size_t expected(const Json& card, const std::string& key) { return card.at("n").at(key).get<std::size_t>(); }

/// What the loaded set must hold, by dataset.json; a message where it differs.
std::string difference(const Json& card, const EvaluationSet& set) {
    const auto check = [](const char* what, std::size_t have, std::size_t want) {
        return have == want ? std::string() : std::string(what) + ": " + std::to_string(have) + ", expected " + std::to_string(want);
    };
    if (const auto* data = std::get_if<RetrievalData>(&set.data)) {
        std::size_t judgements = 0;
        for (const auto& judged : data->qrels) judgements += judged.size();
        return check("documents", data->documents.size(), expected(card, "corpus")) +
               check("queries", data->queries.size(), expected(card, "queries_test")) +
               check("judgements", judgements, expected(card, "qrels_test")) +
               check("queries in the file", set.card.at("counts").at("queries_in_file"), expected(card, "queries"));
    }
    if (const auto* data = std::get_if<ClassificationData>(&set.data))
        return check("train", data->train.size(), expected(card, "train")) + check("test", data->test.size(), expected(card, "test")) +
               check("labels", data->test_labels.size(), data->test.size());
    if (const auto* data = std::get_if<ClusteringData>(&set.data)) {
        std::size_t sentences = 0, clusters = 0;
        for (const auto& one : data->sets) sentences += one.texts.size(), clusters += static_cast<std::size_t>(one.num_labels);
        return check("sets", data->sets.size(), expected(card, "test")) +
               (card.at("n").contains("sentences") ? check("sentences", sentences, expected(card, "sentences")) : "") +
               (card.at("n").contains("clusters") ? check("clusters", clusters, expected(card, "clusters")) : "");
    }
    if (const auto* data = std::get_if<PairData>(&set.data)) return check("pairs", data->first.size(), expected(card, "test"));
    if (const auto* data = std::get_if<RerankingData>(&set.data)) return check("queries", data->queries.size(), expected(card, "test"));
    if (const auto* data = std::get_if<SummarisationData>(&set.data)) return check("items", data->items.size(), expected(card, "test"));
    return "no data";
}

}  // namespace

class TestSharedSets : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_set_loads_with_the_counts_of_its_card_data() {
        NEED_SHARED();
        QTest::addColumn<QString>("name");
        for (const auto& entry : fs::directory_iterator(shared_folder() / "data"))
            if (entry.is_directory()) {
                const std::string name = entry.path().filename().string();
                QTest::newRow(name.c_str()) << QString::fromStdString(name);
            }
    }
    void every_set_loads_with_the_counts_of_its_card() {
        QFETCH(QString, name);
        const fs::path folder = shared_folder() / "data" / name.toStdString();
        const Json card = read_json(folder / "dataset.json");
        const auto task = card.at("task").get<std::string>();
        const auto entry = faceter::testing::request({{"source", "folder"}, {"path", folder.string()}});
        if (task == "texts") {
            auto all = load_texts(entry);
            EXPECT_ERROR(load_evaluation_folder(folder), name.toStdString(), std::string("kind 'texts' has no score"));
            QVERIFY(all.size() <= expected(card, "texts") && all.size() + 100 >= expected(card, "texts"));
        } else if (task == "pairs") {
            QCOMPARE(load_training_set(entry, "retrieval").examples.size(), expected(card, "train"));
            EXPECT_ERROR(load_evaluation_folder(folder), name.toStdString(), std::string("kind 'pairs' has no score"));
        } else {
            const EvaluationSet set = load_evaluation_folder(folder);
            QCOMPARE(set.task_type, task);
            QCOMPARE(set.name, name.toStdString());
            const std::string wrong = difference(card, set);
            QVERIFY2(wrong.empty(), wrong.c_str());
            QCOMPARE(set.card.at("skipped").at("records").get<int>(), 0);
            QCOMPARE(set.fingerprint.size(), std::size_t{32});
        }
    }
    void a_retrieval_folder_trains_on_one_example_a_relevant_judgement() {
        NEED_SHARED();
        const auto folder = shared_folder() / "data/scifact";
        const auto set = load_training_set(faceter::testing::request({{"source", "folder"}, {"path", folder.string()}}), "retrieval");
        QCOMPARE(set.examples.size(), std::size_t{919});
        QCOMPARE(std::string(set.texts[set.examples[0].anchor]), std::string("0-dimensional biomaterials lack inductive properties."));
        QVERIFY(set.texts[set.examples[0].positive].starts_with("New opportunities: the use of nanotechnologies"));
    }
    void a_document_is_title_blank_text() {
        NEED_SHARED();
        const EvaluationSet set = load_evaluation_folder(shared_folder() / "data/scifact");
        const auto& data = std::get<RetrievalData>(set.data);
        QCOMPARE(data.document_ids[0], std::string("4983"));
        QVERIFY(data.documents[0].starts_with(
            "Microstructural development of human newborn cerebral white matter assessed in vivo by diffusion "
            "tensor magnetic resonance imaging. Alterations of the architecture"));
    }
    void labels_of_classification_keep_their_order_and_names() {
        NEED_SHARED();
        const EvaluationSet set = load_evaluation_folder(shared_folder() / "data/banking77");
        const auto& data = std::get<ClassificationData>(set.data);
        QCOMPARE(data.label_names.size(), std::size_t{77});
        QCOMPARE(data.test_labels[0], 0);
        QCOMPARE(data.label_names[0], std::string("card_arrival"));
        QCOMPARE(data.examples_per_label, 8);
        QCOMPARE(std::get<ClassificationData>(load_evaluation_folder(shared_folder() / "data/emotion").data).examples_per_label, 16);
    }
    void other_splits_can_be_asked_for_by_any_of_their_names() {
        NEED_SHARED();
        const EvaluationSet dev = load_evaluation_folder(shared_folder() / "data/stsbenchmark", "validation");
        QCOMPARE(std::get<PairData>(dev.data).first.size(), std::size_t{1500});
        EXPECT_ERROR(load_evaluation_folder(shared_folder() / "data/stsbenchmark", "dusk"), "dusk.jsonl", "no such file");
        QCOMPARE(std::get<RetrievalData>(load_evaluation_folder(shared_folder() / "data/nfcorpus", "dev").data).queries.size(),
                 std::size_t{324});
    }
    /// dataset.json of stsbenchmark names how many of its training pairs are in sts12 to sts16: the two sets must be seen to overlap.
    void training_on_stsbenchmark_is_seen_to_contaminate_sts14() {
        NEED_SHARED();
        const auto folder = shared_folder() / "data";
        std::vector<TrainingSet> training;
        training.push_back(load_training_set(
            faceter::testing::request({{"source", "file"}, {"path", (folder / "stsbenchmark/train.jsonl").string()}}), "sts"));
        std::vector<EvaluationSet> evaluation;
        evaluation.push_back(load_evaluation_folder(folder / "sts14"));
        evaluation.push_back(load_evaluation_folder(folder / "scifact"));
        const auto found = count_overlap(training, evaluation);
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found[0].evaluation, std::string("sts14"));
        QVERIFY(found[0].shared_texts > 1000);
    }
    void an_nli_file_without_a_choice_of_labels_is_warned_of() {
        NEED_SHARED();
        const auto folder = (shared_folder() / "data/mnli_sample").string();
        const auto all = load_training_set(faceter::testing::request({{"source", "folder"}, {"path", folder}}), "retrieval");
        QVERIFY(all.card.at("warnings").dump().find("labels: [...]") != std::string::npos);
        const auto some =
            load_training_set(faceter::testing::request({{"source", "folder"}, {"path", folder}, {"labels", {"entailment"}}}), "retrieval");
        QVERIFY(some.examples.size() < all.examples.size() && some.examples.size() > 1000);
        QCOMPARE(some.card.at("warnings").size(), std::size_t{0});
    }
};

FACETER_TEST(TestSharedSets)
#include "test_shared_sets.moc"
