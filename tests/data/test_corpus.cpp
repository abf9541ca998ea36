#include "data/corpus.h"

#include <algorithm>
#include <set>

#include "data/scored_texts.h"
#include "support/test.h"

using namespace faceter;

namespace {

/// Documents d0 ... with two queries: the first is answered by the last document, the second by documents 1 and 2.
EvaluationSet retrieval(std::uint32_t documents) {
    RetrievalData data;
    for (std::uint32_t i = 0; i < documents; ++i) {
        data.documents.add("d" + std::to_string(i));
        data.document_ids.push_back(std::to_string(i));
    }
    for (const char* query : {"q0", "q1"}) {
        data.queries.add(query);
        data.query_ids.emplace_back(query);
    }
    data.qrels = {{{0, 0}, {documents - 1, 2}}, {{1, 1}, {2, 3}}};
    EvaluationSet set;
    set.name = "set";
    set.task_type = "retrieval";
    set.data = std::move(data);
    return set;
}

EvaluationSet classification() {
    ClassificationData data;
    for (const char* text : {"a", "b", "c", "d"}) data.test.add(text);
    data.test_labels = {0, 1, 0, 0};
    data.label_names = {"net", "admin"};
    EvaluationSet set;
    set.name = "topics";
    set.task_type = "classification";
    set.data = std::move(data);
    return set;
}

}  // namespace

class TestCorpus : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void a_small_set_is_there_whole() {
        const Corpus corpus = corpus_of(retrieval(5));
        QCOMPARE(corpus.documents.size(), std::size_t{5});
        QCOMPARE(corpus.total, std::size_t{5});
        QCOMPARE(corpus.relevant, (std::vector<std::vector<std::uint32_t>>{{4}, {1, 2}}));  // grade 0 is no answer
        QVERIFY(corpus.labels.empty());
    }

    void of_a_large_set_what_answers_a_query_comes_first_and_the_rest_is_spread() {
        const Corpus corpus = corpus_of(retrieval(1000), 10);
        QCOMPARE(corpus.documents.size(), std::size_t{10});
        QCOMPARE(corpus.total, std::size_t{1000});
        QVERIFY(std::is_sorted(corpus.places.begin(), corpus.places.end()));
        QCOMPARE(std::set<std::uint32_t>(corpus.places.begin(), corpus.places.end()).size(), std::size_t{10});
        for (const std::uint32_t place : {1U, 2U, 999U}) QVERIFY(std::binary_search(corpus.places.begin(), corpus.places.end(), place));
        for (std::size_t i = 0; i < corpus.places.size(); ++i)
            QCOMPARE(std::string(corpus.documents[static_cast<std::uint32_t>(i)]), "d" + std::to_string(corpus.places[i]));
        QCOMPARE(corpus.relevant[0].size(), std::size_t{1});
        QCOMPARE(corpus.places[corpus.relevant[0][0]], 999U);
        QVERIFY(corpus.places[8] - corpus.places[4] > 300);  // not the first ones alone
    }

    void texts_with_one_label_are_alike() {
        const Corpus corpus = corpus_of(classification());
        QVERIFY(corpus.queries.empty());
        QCOMPARE(corpus.alike(0), (std::vector<std::uint32_t>{2, 3}));
        QVERIFY(corpus.alike(1).empty());
        QCOMPARE(corpus.label_names[1], std::string("admin"));
    }

    void clusters_of_one_part_mean_nothing_in_another() {
        ClusteringData data;
        for (int part = 0; part < 2; ++part) {
            ClusteringData::Set& one = data.sets.emplace_back();
            for (const char* text : {"x", "y"}) one.texts.add(text);
            one.labels = {0, 0};
            one.num_labels = 1;
        }
        EvaluationSet set;
        set.data = std::move(data);
        const Corpus corpus = corpus_of(set);
        QCOMPARE(corpus.labels, (std::vector<std::int32_t>{0, 0, 1, 1}));
        QCOMPARE(corpus.alike(0), (std::vector<std::uint32_t>{1}));
        QCOMPARE(scored_texts(set)[1].text, std::string("x (and 1 more)"));
    }

    void reranked_candidates_are_documents_once_each() {
        RerankingData data;
        for (const char* text : {"q", "yes", "no", "other q"}) data.texts.add(text);
        data.queries = {{0, {1}, {2}}, {3, {2}, {}}};
        EvaluationSet set;
        set.data = std::move(data);
        const Corpus corpus = corpus_of(set);
        QCOMPARE(corpus.documents.size(), std::size_t{2});
        QCOMPARE(corpus.relevant, (std::vector<std::vector<std::uint32_t>>{{0}, {1}}));
        QCOMPARE(scored_texts(set).size(), std::size_t{1});  // the second query has no negatives, and so no score
    }

    void a_text_of_several_labels_is_scored_with_all_of_them_beside_it() {
        MultilabelData data;
        data.label_names = {"cat", "dog", "rain"};
        for (const char* text : {"both", "none"}) data.test.add(text);
        data.test_labels = {{0, 2}, {}};
        EvaluationSet set;
        set.data = std::move(data);
        const auto texts = scored_texts(set);
        QCOMPARE(texts.size(), std::size_t{2});
        QCOMPARE(texts[0].text, std::string("both"));
        QCOMPARE(texts[0].wanted, std::string("cat, rain"));
        QVERIFY(texts[1].wanted.empty());
    }

    void subsets_give_their_first() {
        EvaluationSet set;
        set.subsets = {retrieval(3), retrieval(4)};
        set.subsets[0].name = "de";
        QCOMPARE(corpus_of(set).part, std::string("de"));
        QCOMPARE(corpus_of(set).documents.size(), std::size_t{3});
        QVERIFY(scored_texts(set).empty());
    }

    void a_query_is_scored_with_its_best_document_beside_it() {
        const auto texts = scored_texts(retrieval(5));
        QCOMPARE(texts[1].text, std::string("q1"));
        QCOMPARE(texts[1].wanted, std::string("d2"));
    }
};

FACETER_TEST(TestCorpus)
#include "test_corpus.moc"
