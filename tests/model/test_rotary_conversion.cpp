#include "model/rotary_conversion.h"

#include <cmath>

#include "support/backbones.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using Tensors = std::map<std::string, at::Tensor>;

/// Pair (i, i + d/2) of a head's row at place p, turned by p base^(-2i/d) (Su et al., 2021): element by element.
at::Tensor turned(const at::Tensor& rows, std::int64_t heads, double base) {
    const at::Tensor out = rows.clone();
    const std::int64_t d = rows.size(1) / heads, half = d / 2;
    for (std::int64_t p = 0; p < rows.size(0); ++p)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t i = 0; i < half; ++i) {
                const double angle = static_cast<double>(p) * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(d));
                const double a = rows[p][h * d + i].item<double>(), b = rows[p][h * d + half + i].item<double>();
                out[p][h * d + i] = a * std::cos(angle) - b * std::sin(angle);
                out[p][h * d + half + i] = b * std::cos(angle) + a * std::sin(angle);
            }
    return out;
}

/// One text through the written tensors, in float64, after NomicBERT's own description: no code of the encoder.
at::Tensor slow_forward(const Tensors& t, const Json& config, const std::vector<std::int64_t>& ids) {
    const auto get = [&](const std::string& name) { return t.at(name).to(at::kDouble); };
    const auto linear = [&](const at::Tensor& x, const std::string& name) { return x.mm(get(name + ".weight").t()) + get(name + ".bias"); };
    const std::int64_t dim = config.at("n_embd"), heads = config.at("n_head"), d = dim / heads,
                       length = static_cast<std::int64_t>(ids.size());
    const auto norm = [&](const at::Tensor& x, const std::string& name) {
        return at::layer_norm(x, {dim}, get(name + ".weight"), get(name + ".bias"), config.at("layer_norm_epsilon").get<double>());
    };
    at::Tensor x = get("embeddings.word_embeddings.weight").index_select(0, at::tensor(at::ArrayRef<std::int64_t>(ids)));
    if (config.at("type_vocab_size") > 0) x = x + get("embeddings.token_type_embeddings.weight")[0];
    x = norm(x, "emb_ln");
    for (std::int64_t b = 0; b < config.at("n_layer").get<std::int64_t>(); ++b) {
        const std::string place = "encoder.layers." + std::to_string(b) + ".";
        const auto qkv = linear(x, place + "attn.Wqkv").split(dim, 1);
        const double base = config.at("rotary_emb_base");
        const auto by_head = [&](const at::Tensor& rows) { return rows.view({length, heads, d}).transpose(0, 1); };
        const at::Tensor q = by_head(turned(qkv[0].contiguous(), heads, base)), k = by_head(turned(qkv[1].contiguous(), heads, base)),
                         v = by_head(qkv[2].contiguous());
        const at::Tensor attended =
            q.matmul(k.transpose(1, 2)).div(std::sqrt(static_cast<double>(d))).softmax(-1).matmul(v).transpose(0, 1).reshape({length, dim});
        x = norm(x + linear(attended, place + "attn.out_proj"), place + "norm1");
        x = norm(x + linear(at::gelu(linear(x, place + "mlp.fc1")), place + "mlp.fc2"), place + "norm2");
    }
    return x;
}

Json bert_json() { return {{"model_type", "bert"}, {"pad_token_id", 0}}; }

}  // namespace

class TestRotaryConversion : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void all_weights_stay_but_the_table_of_positions() {
        Encoder bert(small_config("bert"), {}, at::kFloat);
        fill(bert);
        const Json config = rotary_config(bert.config(), bert_json(), {10000, 2048});
        const auto rotary = with_rotary_positions(bert, config, {});
        QCOMPARE(rotary->total_parameters(), bert.total_parameters() - 32 * 24);
        QCOMPARE(rotary->config().length_limit, std::int64_t{2048});
        QCOMPARE(rotary->config().rotary.base, 10000.0);
        Tensors before, after;
        for (const NamedTensor& t : bert.named_tensors()) before[t.name] = t.tensor;
        for (const NamedTensor& t : rotary->named_tensors()) after[t.name] = t.tensor;
        QVERIFY(!after.contains("embeddings.position_embeddings.weight"));
        QCOMPARE(after.at("encoder.layers.1.attn.Wqkv.weight").sizes().vec(), (std::vector<std::int64_t>{72, 24}));
        QVERIFY(at::equal(after.at("encoder.layers.1.attn.Wqkv.weight").narrow(0, 24, 24),
                          before.at("encoder.layer.1.attention.self.key.weight")));
        QVERIFY(at::equal(after.at("encoder.layers.3.mlp.fc2.bias"), before.at("encoder.layer.3.output.dense.bias")));
        QVERIFY(at::equal(after.at("encoder.layers.3.norm1.weight"), before.at("encoder.layer.3.attention.output.LayerNorm.weight")));
    }
    void the_written_configuration_and_tensors_compute_what_explicit_rotation_does_data() {
        QTest::addColumn<double>("base");
        QTest::newRow("base 10000") << 10000.0;
        QTest::newRow("base 100") << 100.0;
    }
    void the_written_configuration_and_tensors_compute_what_explicit_rotation_does() {
        QFETCH(double, base);
        Encoder bert(small_config("bert"), {}, at::kFloat);
        fill(bert);
        const Json config = rotary_config(bert.config(), bert_json(), {base, 64});
        const auto rotary = with_rotary_positions(bert, parse_json(config.dump(), "config.json"), {});
        Tensors tensors;
        for (const NamedTensor& t : rotary->named_tensors()) tensors[t.name] = t.tensor;
        std::vector<std::int32_t> ids;
        for (std::int32_t i = 0; i < 41; ++i) ids.push_back((17 * i + 3) % 100);  // longer than the old table
        const c10::AutoGradMode no_grad(false);
        const at::Tensor got = rotary->forward(make_packed_batch({{ids.data(), 41, 0, {}, 0}}), {});
        const at::Tensor wanted = slow_forward(tensors, config, {ids.begin(), ids.end()});
        const double difference = max_difference(got, wanted);
        QVERIFY2(difference < 2e-5, std::to_string(difference).c_str());
    }
    void what_nomic_bert_has_no_form_for_is_refused() {
        EXPECT_ERROR(rotary_config(small_config("nomic_bert"), {{"model_type", "nomic_bert"}}, {}), "nomic_bert",
                     "no table of absolute positions");
        EXPECT_ERROR(rotary_config(small_config("t5"), {{"model_type", "t5"}}, {}), "t5", "no table");
        EXPECT_ERROR(rotary_config(small_config("mpnet"), {{"model_type", "mpnet"}}, {}), "mpnet", "reads relative positions");
        EncoderConfig relu = small_config("bert");
        relu.activation = Activation::relu;
        EXPECT_ERROR(rotary_config(relu, bert_json(), {}), "gelu");
    }
};

FACETER_TEST(TestRotaryConversion)
#include "test_rotary_conversion.moc"
