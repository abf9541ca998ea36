#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "common/file.h"
#include "eval/form_scores.h"
#include "eval/retrieval_scores.h"
#include "eval/tasks.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

/// Whole evaluations of the tiny BERT of the reference fixtures: what does not depend on a model being good.
class TestEvaluateSets : public QObject {
    Q_OBJECT
    std::unique_ptr<EmbeddingModel> model_;

    static TextTable table(std::initializer_list<std::string_view> texts) {
        TextTable made;
        for (const std::string_view text : texts) made.add(text);
        return made;
    }
    static EvaluationSet bitext(const std::string& name, TextTable first, TextTable second) {
        EvaluationSet set;
        set.name = name;
        set.task_type = "bitext_mining";
        set.data = BitextData{std::move(first), std::move(second)};
        set.fingerprint = fingerprint_of(set);
        return set;
    }
    /// [Q, D], as sentence-transformers' similarity functions have it.
    static at::Tensor scores_by_equation(Similarity similarity, const at::Tensor& queries, const at::Tensor& documents) {
        if (similarity == Similarity::dot) return queries.matmul(documents.t());
        if (similarity == Similarity::cosine) return normalize_rows(queries).matmul(normalize_rows(documents).t());
        return -at::cdist(queries, documents, similarity == Similarity::euclidean ? 2.0 : 1.0);
    }
    EvaluationResult evaluate(const EvaluationSet& set) const {
        CachedEmbedder embedder(*model_);
        return evaluate_set(embedder, set, routes_for(*model_, set, ""));
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        model_ = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
    }
    void texts_that_are_their_own_translation_are_all_found() {
        const auto result = evaluate(bitext("same", table({"a cat", "the dog runs", "rain"}), table({"a cat", "the dog runs", "rain"})));
        QCOMPARE(result.metric, std::string("f1"));
        EXPECT_CLOSE(result.score, 100.0, "F1");
        QCOMPARE(result.n, std::size_t{3});
    }
    void shorter_and_coarser_forms_are_scored_from_one_embedding_of_each_text() {
        const auto set = bitext("mixed", table({"a cat", "the dog runs", "rain", "wet streets"}),
                                table({"cats", "dogs run", "it rains", "a wet street"}));
        const std::int64_t dim = model_->dim();
        CachedEmbedder embedder(*model_);
        FormScores scores{dim, embedding_forms({dim / 2}, {"int8", "binary"}, dim), {}};
        QCOMPARE(scores.forms.size(), std::size_t{6});
        QVERIFY(scores.forms.front().is_whole());
        add_form_scores(scores, embedder, set, routes_for(*model_, set, ""));
        QCOMPARE(embedder.misses(), std::size_t{8});
        EXPECT_CLOSE(scores.results[0][0].score, evaluate(set).score, "whole");
        const std::string_view text = "a cat";
        QCOMPARE(embedder.embed({&text, 1}, Route{}).size(1), dim);  // whole again
        QCOMPARE(scores.table("tiny").rows.size(), std::size_t{6});
        scores.figure("tiny").validate();
    }
    void a_stored_form_keeps_the_values_that_it_can() {
        const at::Tensor rows = at::tensor({0.6f, -0.8f, 0.0f, 0.0f, 1.0f, 0.5f, -0.25f, 2.0f}).view({2, 4});
        const EmbeddingForm prefix{2, Precision::float32}, bytes{0, Precision::int8}, signs{3, Precision::binary};
        QVERIFY(at::allclose(prefix.applied(rows, true), at::tensor({0.6f, -0.8f, 0.894427f, 0.447214f}).view({2, 2}), 1e-5, 1e-5));
        const at::Tensor scales = at::tensor({0.8f / 127, 2.0f / 127}).view({2, 1});
        QVERIFY(at::equal(quantised(rows, Precision::int8).to(at::kFloat),
                          at::tensor({95.0f, -127.0f, 0.0f, 0.0f, 64.0f, 32.0f, -16.0f, 127.0f}).view({2, 4})));
        QVERIFY(at::allclose(int8_scales(rows), scales.view({2}), 1e-6, 0));
        QVERIFY(at::allclose(bytes.applied(rows, false), quantised(rows, Precision::int8).to(at::kFloat) * scales, 1e-6, 0));
        QVERIFY(at::allclose(signs.applied(rows, true) * std::sqrt(3.0), at::tensor({1.0f, -1.0f, -1.0f, 1.0f, 1.0f, -1.0f}).view({2, 3}),
                             1e-5, 1e-5));
        QCOMPARE(prefix.bytes(4), std::int64_t{8});
        QCOMPARE(signs.bytes(4), std::int64_t{1});
        QCOMPARE(bytes.bytes(4), std::int64_t{8});  // four elements and their scale
        QCOMPARE(signs.name(4), std::string("3 binary"));
        EXPECT_ERROR(embedding_forms({5}, {}, 4), "a prefix of 5 elements was asked for, embeddings have 4");
    }
    void int8_keeps_the_lengths_that_a_dot_product_sees() {
        const at::Tensor rows = at::tensor({1.0f, 0.0f, 5.0f, 0.0f, 0.0f, 0.0f}).view({3, 2});
        const at::Tensor stored = EmbeddingForm{0, Precision::int8}.applied(rows, false);
        QVERIFY(at::allclose(stored.matmul(at::tensor({1.0f, 0.0f})), at::tensor({1.0f, 5.0f, 0.0f}), 1e-6, 0));
    }
    void retrieval_ranks_by_the_similarity_that_the_model_names_data() {
        QTest::addColumn<int>("similarity");
        for (const Similarity similarity : {Similarity::cosine, Similarity::dot, Similarity::euclidean, Similarity::manhattan})
            QTest::newRow(std::string(similarity_name(similarity)).c_str()) << static_cast<int>(similarity);
    }
    void retrieval_ranks_by_the_similarity_that_the_model_names() {
        QFETCH(int, similarity);
        const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        model->folder.similarity = static_cast<Similarity>(similarity);
        model->folder.normalize = false;
        RetrievalData data;
        for (int i = 0; i < 12; ++i)
            data.queries.add(fmt::format("question {} about the rain", i * i)), data.query_ids.push_back(std::to_string(i));
        for (int i = 0; i < 60; ++i) {
            data.documents.add(fmt::format("{} {}", i * 7 % 31, std::string(i % 9, 'x') + (i % 4 ? " wet streets and cats" : " dogs")));
            data.document_ids.push_back(std::to_string(100 + i));
        }
        const at::Tensor scores = scores_by_equation(model->folder.similarity, embed_texts(*model, data.queries.views(), {}),
                                                     embed_texts(*model, data.documents.views(), {}));
        for (std::int64_t q = 0; q < scores.size(0); ++q)
            data.qrels.push_back({{static_cast<std::uint32_t>(scores[q].argmax().item<std::int64_t>()), 1}});
        EvaluationSet set;
        set.name = "nearest";
        set.task_type = "retrieval";
        set.data = std::move(data);
        CachedEmbedder embedder(*model);
        const auto result = evaluate_set(embedder, set, {});
        EXPECT_CLOSE(result.score, 100.0, "the nearest document is the relevant one");
        QCOMPARE(result.settings.at("similarity").get<std::string>(), std::string(similarity_name(model->folder.similarity)));
    }
    void reranking_and_bitext_rank_by_the_similarity_that_the_model_names_data() {
        QTest::addColumn<int>("similarity");
        for (const Similarity similarity : {Similarity::cosine, Similarity::dot, Similarity::euclidean, Similarity::manhattan})
            QTest::addRow("%s", std::string(similarity_name(similarity)).c_str()) << static_cast<int>(similarity);
    }
    void reranking_and_bitext_rank_by_the_similarity_that_the_model_names() {
        QFETCH(int, similarity);
        const auto wanted = static_cast<Similarity>(similarity);
        const Similarity own = std::exchange(model_->folder.similarity, wanted);
        const bool normalised = std::exchange(model_->folder.normalize, false);
        const auto restore = qScopeGuard([&] { model_->folder.similarity = own, model_->folder.normalize = normalised; });
        std::vector<std::string> texts;
        for (int i = 0; i < 24; ++i) texts.push_back("text " + std::to_string(i * i) + (i % 2 ? " of cats and dogs" : " rain"));
        EvaluationSet set;
        set.name = "ranked", set.task_type = "reranking";
        RerankingData data;
        for (const std::string& text : texts) data.texts.add(text);
        for (std::uint32_t q = 0; q < 4; ++q) {
            RerankingData::Query query;
            query.query = q;
            for (std::uint32_t text = 4; text < 24; ++text) (text % 4 == q ? query.positive : query.negative).push_back(text);
            data.queries.push_back(query);
        }
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const at::Tensor rows = embed_texts(*model_, views, {});
        const at::Tensor scores = scores_by_equation(wanted, rows, rows);
        double expected = 0;
        for (const auto& query : data.queries) {
            std::vector<double> similarities;
            std::vector<std::int32_t> relevant;
            for (const auto* side : {&query.positive, &query.negative})
                for (const std::uint32_t text : *side) {
                    similarities.push_back(scores[query.query][text].item<double>());
                    relevant.push_back(side == &query.positive);
                }
            expected += 100 * reranking_scores(similarities, relevant).average_precision / 4;
        }
        set.data = std::move(data);
        set.fingerprint = fingerprint_of(set);
        EXPECT_CLOSE(evaluate(set).score, expected, "map");
        TextTable first, second;
        for (std::size_t i = 0; i < 12; ++i) first.add(texts[i]), second.add(texts[i + 12]);
        double found = 0;
        const at::Tensor across = scores.narrow(0, 0, 12).narrow(1, 12, 12);
        for (std::int64_t i = 0; i < 12; ++i) found += across[i].argmax().item<std::int64_t>() == i;
        EXPECT_CLOSE(evaluate(bitext("pairs", std::move(first), std::move(second))).metrics.at("accuracy"), 100 * found / 12, "accuracy");
    }
    void a_score_over_subsets_is_their_mean_and_each_is_listed() {
        EvaluationSet set;
        set.name = "two";
        set.task_type = "bitext_mining";
        set.subsets.push_back(bitext("same", table({"a cat", "the dog runs"}), table({"a cat", "the dog runs"})));
        set.subsets.push_back(bitext("swapped", table({"a cat", "the dog runs"}), table({"the dog runs", "a cat"})));
        set.fingerprint = fingerprint_of(set);
        const auto result = evaluate(set);
        EXPECT_CLOSE(result.score, 50.0, "mean over subsets");
        QCOMPARE(result.n, std::size_t{4});
        const Json json = result.to_json();
        QCOMPARE(json.at("subsets").size(), std::size_t{2});
        QCOMPARE(json.at("subsets")[1].at("name").get<std::string>(), std::string("swapped"));
        EXPECT_CLOSE(json.at("subsets")[0].at("score").get<double>(), 100.0, "first");
        EXPECT_CLOSE(json.at("metrics").at("accuracy").get<double>(), 50.0, "further measures are means too");
        QVERIFY(json.at("per_example").empty());
    }
    void multilabel_classification_recovers_labels_that_the_texts_repeat() {
        EvaluationSet set;
        set.name = "labels";
        set.task_type = "multilabel_classification";
        MultilabelData data;
        data.label_names = {"cat", "dog", "train only"};
        for (int i = 0; i < 8; ++i) {
            data.train.add("a cat"), data.train_labels.push_back({0, 2});
            data.train.add("the dog runs fast"), data.train_labels.push_back({1});
        }
        data.test = table({"a cat", "the dog runs fast"});
        data.test_labels = {{0}, {1}};
        set.data = std::move(data);
        const auto result = evaluate(set);
        EXPECT_CLOSE(result.score, 100.0, "accuracy");
        EXPECT_CLOSE(result.metrics.at("lrap"), 100.0, "LRAP");
        QCOMPARE(result.draws.size(), std::size_t{10});
        QCOMPARE(result.settings.at("labels").get<int>(), 2);  // those of the test part
        QCOMPARE(result.per_example.size(), std::size_t{2});   // whose mean the accuracy is
        for (const double value : result.per_example) EXPECT_CLOSE(value, 100.0, "right in every draw");
    }
    void an_embedding_that_is_not_finite_is_an_error_that_names_set_and_text() {
        auto broken = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        const at::NoGradGuard no_grad;
        broken->encoders.front()->parameters().front().tensor.fill_(std::numeric_limits<float>::quiet_NaN());
        CachedEmbedder embedder(*broken);
        EXPECT_ERROR(evaluate_set(embedder, bitext("broken", table({"a cat"}), table({"a cat"})), {}), "data set 'broken'", "'a cat'",
                     "not finite");
    }
    void a_file_of_embeddings_spares_a_second_process_the_model() {
        const TemporaryDirectory folder;
        const std::vector<std::string_view> texts{"a cat", "the dog runs", "a cat", ""};
        const auto file = std::make_shared<EmbeddingFile>(folder.path() / "cache.sqlite", 1 << 20);
        CachedEmbedder plain(*model_), first(*model_), second(*model_);
        first.use_file(file);
        second.use_file(file);
        const Route route{"query: "};
        const at::Tensor wanted = plain.embed(texts, route);
        QVERIFY(at::equal(first.embed(texts, route), wanted));
        const auto kept = file->size();
        QCOMPARE(kept, static_cast<std::uint64_t>(3 * model_->dim() * 4));
        QVERIFY(at::equal(second.embed(texts, route), wanted));
        QCOMPARE(file->size(), kept);
        second.embed(texts, {"document: "});  // another instruction is another embedding
        QCOMPARE(file->size(), 2 * kept);
    }
    void an_adapter_of_another_scale_finds_no_embeddings_of_the_first() {
        const TemporaryDirectory folder;
        const std::vector<std::string_view> texts{"a cat", "the dog runs"};
        const auto file = std::make_shared<EmbeddingFile>(folder.path() / "cache.sqlite", 1 << 20);
        AdapterFolder adapter = AdapterFolder::open(shared_folder() / "fixtures/lora");
        std::vector<at::Tensor> rows;
        for (const double times : {1.0, 2.0}) {
            adapter.config.alpha *= times;
            const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
            model->encoders.front()->add_adapter("peft", adapter);
            CachedEmbedder embedder(*model);
            embedder.use_file(file);
            rows.push_back(embedder.embed(texts, {"", 0, Path::of_adapter(0)}));
        }
        QVERIFY(!at::allclose(rows[0], rows[1], 1e-3, 1e-3));
    }
};

FACETER_TEST(TestEvaluateSets)
#include "test_evaluate_sets.moc"
