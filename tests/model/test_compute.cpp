#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "data/line_reader.h"
#include "eval/embedder.h"
#include "model/compute.h"
#include "model/ops.h"
#include "support/backbones.h"
#include "support/taken_memory.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

double smallest_cosine(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
    return ((x * y).sum(-1) / (x.norm(2, -1) * y.norm(2, -1))).min().item<double>();
}

double allowed_cosine(Compute compute) { return compute == Compute::int8 ? 0.99 : 0.999; }

std::vector<std::string> sentences(std::size_t count) {
    const std::string file = (shared_folder() / "data/stsbenchmark/test.jsonl").string();
    LineReader reader(file);
    std::vector<std::string> all;
    while (all.size() < count) {
        const Json line = parse_json(*reader.next(), "stsbenchmark");
        for (const char* key : {"sentence1", "sentence2"}) all.push_back(line.at(key).get<std::string>());
    }
    return all;
}

void lay_out(Encoder& encoder, ProductForm form) {
    encoder.lay_out_products([&](const ProductPlace&, const at::Tensor& w) { return std::make_shared<const ProductWeights>(w, form); });
}

}  // namespace

/// Products in bf16 and int8: how near the vectors come, and what is kept from them for that.
class TestCompute : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void vectors_of_minilm_are_near_those_in_float32_data() {
        QTest::addColumn<QString>("name");
        QTest::newRow("bf16") << "bf16";
        QTest::newRow("int8") << "int8";
    }
    void vectors_of_minilm_are_near_those_in_float32() {
        NEED_SHARED();
        NEED_MINILM();
        QFETCH(QString, name);
        const Compute compute = compute_from_name(name.toStdString());
        const auto texts = sentences(200);
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        const at::Tensor expected = embed_texts(*model, views, {});
        const std::string fingerprint = model->fingerprint();
        const ComputeReport report = prepare_products(*model, compute, false);
        QCOMPARE(report.num_products, std::size_t{24});
        QVERIFY(report.kept.size() < 12);
        QVERIFY(report.smallest_cosine >= wanted_cosine(compute));
        QVERIFY(model->fingerprint() != fingerprint);  // a cache of the others' vectors is not its own
        const at::Tensor rows = embed_texts(*model, views, {});
        QVERIFY(!at::equal(rows, expected));
        const double cosine = smallest_cosine(rows, expected);
        QVERIFY2(cosine >= allowed_cosine(compute), std::to_string(cosine).c_str());
    }
    void vectors_of_every_fixture_are_near_those_in_float32_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"bert", "xlm_roberta", "nomic_bert", "nomic_moe", "t5", "t5_gated", "modernbert", "mpnet", "distilbert",
                                 "roberta", "mmbert", "qwen3_embedding", "qwen3_bidirectional", "eurobert", "mistral", "embedding_gemma",
                                 "gte", "jina_embeddings_v3", "deberta_v2"})
            QTest::newRow(name) << name;
    }
    void vectors_of_every_fixture_are_near_those_in_float32() {
        NEED_SHARED();
        QFETCH(QString, name);
        const at::NoGradGuard no_grad;
        const std::filesystem::path path = shared_folder() / "fixtures" / name.toStdString();
        const ModelFolder folder = ModelFolder::open(path);
        Encoder encoder(EncoderConfig::from_json(folder.config, "config.json", folder.weights()), folder.dense, at::kFloat);
        encoder.load_weights(folder.weights());
        const SafetensorsFile file(path / "expected.safetensors");
        const at::Tensor ids = read_tensor(file, "input_ids").to(at::kInt), mask = read_tensor(file, "attention_mask");
        std::vector<std::vector<std::int32_t>> texts;
        for (std::int64_t row = 0; row < ids.size(0); ++row) {
            texts.emplace_back();
            for (std::int64_t i = 0; i < ids.size(1); ++i)
                if (mask[row][i].item<std::int64_t>()) texts.back().push_back(ids[row][i].item<std::int32_t>());
        }
        std::vector<SequenceInput> inputs;
        for (const auto& text : texts) inputs.push_back({text.data(), static_cast<std::int64_t>(text.size())});
        const PackedBatch batch = make_packed_batch(inputs);
        const auto pooled = [&] { return pool(encoder.forward(batch, {}), batch.layout, folder.pooling, {}); };
        const at::Tensor expected = pooled();
        for (const auto& [compute, form] : {std::pair(Compute::bf16, ProductForm::bf16), std::pair(Compute::int8, ProductForm::int8)}) {
            lay_out(encoder, form);
            const double cosine = smallest_cosine(pooled(), expected);
            QVERIFY2(cosine >= allowed_cosine(compute), std::to_string(cosine).c_str());
        }
    }
    /// Weights of a thousand for an element that is always 0: what they leave of int8's steps is nothing for the others.
    void what_loses_most_is_kept_from_it() {
        NEED_MINILM();
        const auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        const at::NoGradGuard no_grad;
        const Expert& mlp = model->encoders.front()->blocks()[2].experts.front();
        mlp.up.select(0, 7).zero_();
        mlp.up_bias.select(0, 7).zero_();
        mlp.down.select(1, 7).fill_(1000);
        const ComputeReport report = prepare_products(*model, Compute::int8, false);
        QVERIFY(report.smallest_cosine >= wanted_cosine(Compute::int8));
        QVERIFY(std::find(report.kept.begin(), report.kept.end(), "block 2: down") != report.kept.end());
    }
    /// Elements of activations a hundred times the others lose nothing: their weights are small, and take the difference.
    void large_elements_are_equalised() {
        at::manual_seed(6);
        const at::Tensor x = at::randn({64, 96}), w = at::randn({48, 96});
        x.select(1, 5).mul_(200);
        const at::Tensor exact = x.mm(w.t());
        const auto lost = [&](const at::Tensor& sizes) {
            return (product(x, ProductWeights(w, ProductForm::int8, sizes)) - exact).norm().item<double>();
        };
        QVERIFY(lost(x.square().mean(0).sqrt()) < 0.5 * lost({}));
    }
    /// Beside the weights as they are: each in its form, and one more while it is decided.
    void preparing_lays_out_one_product_at_a_time_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("most");
        QTest::newRow("float32") << "float32" << 1.15;
        QTest::newRow("bf16") << "bf16" << 0.7;
        QTest::newRow("int8") << "int8" << 0.6;
    }
    void preparing_lays_out_one_product_at_a_time() {
        NEED_MINILM();
        QFETCH(QString, name);
        QFETCH(double, most);
        const auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        double products = 0;
        for (const LinearPlace& place : model->encoders.front()->linears()) products += static_cast<double>(place.rows * place.columns) * 4;
        const auto memory = std::make_shared<TakenMemory>();
        {
            const c10::DebugInfoGuard watched(c10::DebugInfoKind::PROFILER_STATE, memory);
            prepare_products(*model, compute_from_name(name.toStdString()), false);
        }
        const double times = static_cast<double>(memory->most()) / products;
        qInfo("at most %.2f times the weights of products", times);
        QVERIFY2(times > 0.2 && times < most, std::to_string(times).c_str());
    }
    void a_model_that_is_damaged_is_near_nothing() {
        NEED_MINILM();
        const auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        {
            const at::NoGradGuard no_grad;
            model->encoders.front()->blocks()[1].qkv.weight[3][5] = std::nan("");
        }
        QCOMPARE(prepare_products(*model, Compute::int8, false).smallest_cosine, 0.0);
        const std::string_view text = "a text";
        EXPECT_ERROR(embed_texts(*model, {&text, 1}, {}), "not finite", "damaged");
    }
    /// Damaged weights of an MLP show in the vectors, whatever its activation.
    void what_is_no_number_stays_none_in_every_activation() {
        for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu}) {
            const at::Tensor u = at::zeros({2, 37});
            for (const std::int64_t place : {3, 36}) u[1][place] = std::nan("");
            const at::Tensor y = activate(u, {.activation = activation});
            QCOMPARE(y.isnan().sum().item<std::int64_t>(), std::int64_t{2});
            QVERIFY(y[1][3].isnan().item<bool>() && y[1][36].isnan().item<bool>());
        }
    }
    void weights_that_are_laid_out_can_be_given_up() {
        NEED_MINILM();
        const auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        const std::string_view text = "a text";
        const at::Tensor expected = embed_texts(*model, {&text, 1}, {});
        prepare_products(*model, Compute::float32, true);
        QVERIFY(at::equal(embed_texts(*model, {&text, 1}, {}), expected));
        QVERIFY(model->encoders.front()->blocks()[0].qkv.weight.isnan().all().item<bool>());
    }
    /// An evaluation between two steps of training.
    void products_are_laid_out_for_a_while() {
        NEED_MINILM();
        const auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        const std::string_view text = "a text";
        const at::Tensor expected = embed_texts(*model, {&text, 1}, {});
        const auto laid_out = [&] { return model->encoders.front()->blocks()[0].qkv.prepared != nullptr; };
        {
            const LaidOutProducts products(*model);
            QVERIFY(laid_out());
            QVERIFY(at::equal(embed_texts(*model, {&text, 1}, {}), expected));
            { const LaidOutProducts again(*model); }
            QVERIFY(laid_out());  // they are the first one's
        }
        QVERIFY(!laid_out());
    }
    void weights_that_change_are_laid_out_anew() {
        Encoder encoder(small_config("bert"), {}, at::kFloat);
        fill(encoder);
        const at::NoGradGuard no_grad;
        const PackedBatch batch = some_batch({-1, -1});
        lay_out(encoder, ProductForm::float32);
        const std::size_t adapter = encoder.add_adapter("a", AdapterConfig{}, 3);
        for (const Parameter& p : encoder.adapter_parameters(adapter)) p.tensor.fill_(0.1);
        const at::Tensor before = encoder.forward(batch, {});
        encoder.merge_adapter(adapter);
        QVERIFY(!encoder.blocks()[0].qkv.prepared);
        QVERIFY(!at::equal(encoder.forward(batch, {}), before));
        lay_out(encoder, ProductForm::float32);
        encoder.require_grad(true);
        QVERIFY(!encoder.blocks()[0].qkv.prepared);
        lay_out(encoder, ProductForm::float32);
        QVERIFY(!encoder.clone()->blocks()[0].qkv.prepared);
    }
};

FACETER_TEST(TestCompute)
#include "test_compute.moc"
