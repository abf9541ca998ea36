#include "model/mlm_head.h"

#include "common/file.h"
#include "support/backbones.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/checkpoint.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A small encoder, a head, and what a training step of it works on.
struct Bench {
    std::unique_ptr<Encoder> encoder;
    std::unique_ptr<MlmHead> head;
    PackedBatch batch = some_batch({0, 0, 0, 0});
    at::Tensor rows = at::tensor({1, 4, 5, 9, 12, 20}, at::kLong), targets = at::tensor({3, 99, 0, 50, 3, 7}, at::kLong);

    explicit Bench(at::ScalarType dtype, const char* family = "bert") {
        Encoder made(small_config(family), {}, at::kFloat);
        fill(made);
        encoder = made.clone(dtype);
        encoder->require_grad(true);
        head = std::make_unique<MlmHead>(*encoder, family, 7);
        at::manual_seed(9);
        for (const Parameter& p : head->parameters()) {
            const at::NoGradGuard no_grad;
            p.tensor.add_(0.2 * at::randn(p.tensor.sizes(), at::kDouble));
            p.tensor.requires_grad_(true);
        }
    }
    at::Tensor inner() const { return head->transform(encoder->forward(batch, {}).index_select(0, rows)); }
    at::Tensor loss(std::int64_t at_a_time = 0) const {
        return token_cross_entropy(inner(), word_embeddings(*encoder), head->bias(), targets, at_a_time).loss;
    }
    std::vector<Parameter> all() const {
        auto all = encoder->parameters();
        for (const Parameter& p : head->parameters()) all.push_back(p);
        return all;
    }
    std::map<std::string, at::Tensor> gradients(const at::Tensor& of) const {
        std::map<std::string, at::Tensor> found;
        for (const Parameter& p : all()) p.tensor.mutable_grad() = at::Tensor();
        of.backward();
        for (const Parameter& p : all())
            if (p.tensor.grad().defined()) found[p.name] = p.tensor.grad().clone();
        return found;
    }
};

}  // namespace

class TestMlmHead : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_loss_and_its_gradients_are_those_of_all_logits_at_once_data() {
        QTest::addColumn<bool>("wide");
        QTest::newRow("float32") << false;
        QTest::newRow("float64") << true;
    }
    void the_loss_and_its_gradients_are_those_of_all_logits_at_once() {
        QFETCH(bool, wide);
        const double close = wide ? 1e-11 : 2e-5;
        const Bench bench(wide ? at::kDouble : at::kFloat);
        const at::Tensor plain =
            at::cross_entropy_loss(at::linear(bench.inner(), word_embeddings(*bench.encoder), bench.head->bias()), bench.targets);
        const auto wanted = bench.gradients(plain);
        QCOMPARE(wanted.count("embeddings.word_embeddings.weight"), std::size_t{1});
        for (const std::int64_t at_a_time : {0, 1, 4}) {
            const at::Tensor loss = bench.loss(at_a_time);
            QVERIFY(std::abs(loss.item<double>() - plain.item<double>()) < close);
            const auto got = bench.gradients(loss);
            QCOMPARE(got.size(), wanted.size());
            for (const auto& [name, gradient] : wanted)
                QVERIFY2(max_difference(got.at(name), gradient) < close * std::max(1.0, gradient.abs().max().item<double>()), name.c_str());
        }
    }
    void gradients_equal_finite_differences() {
        const Bench bench(at::kDouble);
        const auto gradients = bench.gradients(bench.loss());
        const double h = 1e-6;
        for (const Parameter& p : bench.all()) {
            const auto found = gradients.find(p.name);
            if (found == gradients.end()) continue;
            const at::NoGradGuard no_grad;
            for (const std::int64_t at : {std::int64_t{0}, p.tensor.numel() / 2, p.tensor.numel() - 1}) {
                const at::Tensor entry = p.tensor.detach().view({-1}).select(0, at);
                const double before = entry.item<double>();
                entry.fill_(before + h);
                const double above = bench.loss().item<double>();
                entry.fill_(before - h);
                const double below = bench.loss().item<double>();
                entry.fill_(before);
                const double wanted = (above - below) / (2 * h), got = found->second.view({-1}).select(0, at).item<double>();
                QVERIFY2(std::abs(wanted - got) < 1e-6 * std::max(1.0, std::abs(wanted)),
                         (p.name + " " + std::to_string(wanted) + " " + std::to_string(got)).c_str());
            }
        }
    }
    void accuracy_is_the_share_of_rows_whose_best_word_is_right() {
        const at::Tensor x = at::eye(3), weight = at::eye(3), bias = at::zeros({3});
        QCOMPARE(token_cross_entropy(x, weight, bias, at::tensor({0, 1, 0}, at::kLong)).accuracy.item<double>(), 2.0 / 3);
    }
    void a_head_goes_out_and_comes_back_under_its_family_s_names() {
        TemporaryDirectory folder;
        for (const auto& [family, dense] : {std::pair("bert", "cls.predictions.transform.dense.weight"),
                                            std::pair("nomic_bert", "cls.predictions.transform.dense.weight"),
                                            std::pair("mpnet", "lm_head.dense.weight"), std::pair("modernbert", "head.dense.weight")}) {
            const Bench bench(at::kFloat, family);
            const fs::path file = folder.path() / (std::string(family) + ".safetensors");
            write_tensors(file, bench.head->named_tensors());
            const Weights weights(std::vector<fs::path>{file});
            QVERIFY2(weights.find(dense), family);
            MlmHead other(*bench.encoder, family, 8);
            QVERIFY(max_difference(other.named_tensors()[0].tensor, bench.head->named_tensors()[0].tensor) > 0.01);
            QVERIFY(other.load(weights));
            for (std::size_t i = 0; i < other.named_tensors().size(); ++i)
                QVERIFY(at::equal(other.named_tensors()[i].tensor, bench.head->named_tensors()[i].tensor.detach()));
        }
    }
    void a_fresh_head_depends_on_the_seed_alone() {
        const Bench bench(at::kFloat);
        const MlmHead a(*bench.encoder, "bert", 3), b(*bench.encoder, "bert", 3), c(*bench.encoder, "bert", 4);
        QVERIFY(at::equal(a.named_tensors()[0].tensor, b.named_tensors()[0].tensor));
        QVERIFY(!at::equal(a.named_tensors()[0].tensor, c.named_tensors()[0].tensor));
        QVERIFY(std::abs(a.named_tensors()[0].tensor.std().item<double>() - 0.02) < 0.002);
    }
    /// transformers' RobertaLMHead and MPNetLMHead name no activation: GELU, whatever hidden_act says of the blocks.
    void a_head_of_robertas_relatives_has_gelu_whatever_the_blocks_have() {
        at::manual_seed(5);
        for (const auto& [family, gelu] : {std::pair("mpnet", true), std::pair("bert", false)}) {
            EncoderConfig config = small_config(family);
            config.activation = Activation::relu;
            Encoder encoder(config, {}, at::kFloat);
            fill(encoder);
            const MlmHead head(encoder, family, 3);
            const at::Tensor x = at::randn({5, config.hidden_dim}), inner = at::linear(x, head.named_tensors()[0].tensor);
            const at::Tensor wanted =
                at::layer_norm(gelu ? at::gelu(inner) : at::relu(inner), {config.hidden_dim}, {}, {}, config.norm_epsilon);
            QVERIFY2(max_difference(head.transform(x), wanted) < 1e-4, family);
        }
    }
    /// transformers' ModernBertPredictionHead: classifier_activation, classifier_bias, norm_bias, decoder_bias.
    void modernberts_head_is_as_its_configuration_says() {
        TemporaryDirectory folder;
        const Bench bench(at::kFloat, "modernbert");
        const std::int64_t dim = bench.encoder->config().hidden_dim;
        at::manual_seed(4);
        const at::Tensor dense_bias = at::randn({dim}), beta = at::randn({dim}), x = at::randn({5, dim});
        std::vector<NamedTensor> tensors = bench.head->named_tensors();
        const at::Tensor dense = tensors[0].tensor.detach(), gamma = tensors[1].tensor.detach();
        std::erase_if(tensors, [](const NamedTensor& t) { return t.name == "decoder.bias"; });
        tensors.push_back({"head.dense.bias", dense_bias});
        tensors.push_back({"head.norm.bias", beta});
        write_tensors(folder.path() / "released", tensors);
        const Weights released(std::vector<fs::path>{folder.path() / "released"});
        MlmHead head(*bench.encoder, "modernbert", 8);
        EXPECT_ERROR(head.load(released), "decoder.bias");
        const Json config = {{"classifier_activation", "relu"}, {"decoder_bias", false}};
        QVERIFY(head.load(released, config));
        const at::Tensor wanted =
            at::layer_norm(at::relu(at::linear(x, dense, dense_bias)), {dim}, gamma, beta, bench.encoder->config().norm_epsilon);
        QVERIFY(max_difference(head.transform(x), wanted) < 1e-5);
        QCOMPARE(head.parameters().size(), std::size_t{5});

        write_tensors(folder.path() / "kept", head.named_tensors());  // and goes on from its own file
        MlmHead again(*bench.encoder, "modernbert", 9);
        QVERIFY(again.load(Weights(std::vector<fs::path>{folder.path() / "kept"}), config));
        QVERIFY(at::equal(again.transform(x), head.transform(x)));
    }
    void other_spellings_missing_parts_and_untied_decoders() {
        TemporaryDirectory folder;
        const Bench bench(at::kFloat);
        const auto write = [&](const char* name, std::vector<NamedTensor> tensors) {
            write_tensors(folder.path() / name, tensors);
            return Weights(std::vector<fs::path>{folder.path() / name});
        };
        auto tensors = bench.head->named_tensors();
        for (NamedTensor& t : tensors) {
            if (const auto at = t.name.find("LayerNorm"); at != t.name.npos) t.name.replace(at, 9, "layer_norm");
            if (t.name == "cls.predictions.bias") t.name = "cls.predictions.decoder.bias";
        }
        MlmHead other(*bench.encoder, "bert", 8);
        QVERIFY(other.load(write("nomic", tensors)));
        QVERIFY(at::equal(other.bias(), bench.head->bias().detach()));
        QVERIFY(!other.load(write("none", {{"x", at::zeros({2})}})));
        auto half = bench.head->named_tensors();
        half.resize(2);
        EXPECT_ERROR(other.load(write("half", half)), "half", "cls.predictions.bias");
        auto shape = bench.head->named_tensors();
        shape[2].tensor = at::zeros({5});
        EXPECT_ERROR(other.load(write("shape", shape)), "cls.predictions.bias", "[5]", "[100]");
        auto untied = bench.head->named_tensors();
        untied.push_back({"cls.predictions.decoder.weight", at::zeros({100, 24})});
        const Weights weights = write("untied", untied);
        QVERIFY(other.load(weights, Json::object()));
        EXPECT_ERROR(other.load(weights, {{"tie_word_embeddings", false}}), "untied", "not tied");
        Encoder t5(small_config("t5"), {}, at::kFloat);
        EXPECT_ERROR(MlmHead(t5, "t5", 1), "t5", "no head");
    }
};

FACETER_TEST(TestMlmHead)
#include "test_mlm_head.moc"
