#include <nlohmann/json.hpp>

#include "common/json.h"
#include "eval/embedder.h"
#include "model/embedding_model.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/objective.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

PackedBatch batch_of(const std::vector<std::vector<std::int32_t>>& ids) {
    std::vector<SequenceInput> inputs;
    for (const auto& text : ids) inputs.push_back({text.data(), static_cast<std::int64_t>(text.size()), 0, 0, 0});
    return make_packed_batch(inputs);
}

}  // namespace

/// The tiny BERT checkpoint of the reference fixtures, computed by Hugging Face's transformers; and the real all-MiniLM-L6-v2.
class TestFixtures : public QObject {
    Q_OBJECT
    std::filesystem::path bert() const { return shared_folder() / "fixtures/bert"; }

  private Q_SLOTS:
    void init() { force_composed_ops(false); }
    void cleanup() { force_composed_ops(false); }

    void embeddings_equal_transformers_data() {
        QTest::addColumn<bool>("composed");
        QTest::newRow("own kernels") << false;
        QTest::newRow("composed of ATen operations") << true;
    }
    void embeddings_equal_transformers() {
        NEED_SHARED();
        QFETCH(bool, composed);
        force_composed_ops(composed);
        const auto model = EmbeddingModel::open(ModelFolder::open(bert()));
        const SafetensorsFile expected(bert() / "expected.safetensors");
        const Json about = read_json(bert() / "expected.json");
        const auto ids = about.at("token_ids").get<std::vector<std::vector<std::int32_t>>>();
        const c10::AutoGradMode no_grad(false);
        const PackedBatch batch = batch_of(ids);
        const at::Tensor hidden = model->encoders.front()->forward(batch, {});
        const at::Tensor wanted = read_tensor(expected, "last_hidden_state");
        double worst = 0;
        for (std::size_t s = 0; s < ids.size(); ++s) {
            const auto length = static_cast<std::int64_t>(ids[s].size());
            worst = std::max(worst, max_difference(hidden.narrow(0, batch.layout->offsets()[s], length), wanted[static_cast<std::int64_t>(s)].narrow(0, 0, length)));
        }
        QVERIFY2(worst < 2e-5, std::to_string(worst).c_str());
        const double difference = max_difference(model->embed(*model->encoders.front(), batch, {}), read_tensor(expected, "normalised_f64"));
        QVERIFY2(difference < 2e-6, std::to_string(difference).c_str());
    }

    void gradients_equal_transformers() {
        NEED_SHARED();
        const auto model = EmbeddingModel::open(ModelFolder::open(bert()));
        model->encoders.front()->require_grad(true);
        const SafetensorsFile expected(bert() / "expected.safetensors");
        const Json pairs = read_json(bert() / "expected.json").at("pairs");
        std::vector<std::vector<std::int32_t>> ids;
        for (const char* side : {"queries", "documents"})
            for (const auto& text : pairs.at(side)) {
                ids.emplace_back();
                model->tokenizer->encode(text.get<std::string>(), model->max_length, ids.back());
            }
        const at::Tensor rows = model->embed(*model->encoders.front(), batch_of(ids), {});
        const auto count = static_cast<std::int64_t>(pairs.at("queries").size());
        PairEmbeddings batch;
        batch.queries = rows.narrow(0, 0, count);
        batch.documents = rows.narrow(0, count, count);
        batch.temperature = pairs.at("tau").get<double>();
        const LossResult result = InfoNce({})(batch);
        QVERIFY(std::abs(result.loss.item<double>() - pairs.at("loss").get<double>()) < 1e-5);
        result.loss.backward();
        compare_gradients(*model->encoders.front(), expected);
    }

    void minilm_embeds_as_sentence_transformers_does() {
        NEED_SHARED();
        NEED_MINILM();
        const auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        const Json about = read_json(shared_folder() / "fixtures/minilm/expected.json");
        const SafetensorsFile expected(shared_folder() / "fixtures/minilm/expected.safetensors");
        const auto texts = about.at("texts").get<std::vector<std::string>>();
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const at::Tensor rows = embed_texts(*model, views, {});
        const double difference = max_difference(rows, read_tensor(expected, "embeddings"));
        QVERIFY2(difference < 2e-6, std::to_string(difference).c_str());
    }

  private:
    void compare_gradients(const Encoder& encoder, const SafetensorsFile& expected) {
        std::map<std::string, at::Tensor> gradients;
        for (const Parameter& p : encoder.parameters()) {
            const at::Tensor g = p.tensor.grad();
            QVERIFY2(g.defined(), p.name.c_str());
            const auto at = p.name.find("self.qkv.");
            if (at == std::string::npos) {
                gradients[p.name] = g;
                continue;
            }
            const char* parts[] = {"query", "key", "value"};
            for (int i = 0; i < 3; ++i)
                gradients[p.name.substr(0, at) + "self." + parts[i] + "." + p.name.substr(at + 9)] = g.chunk(3)[i];
        }
        int compared = 0;
        for (const TensorInfo& info : expected.tensors()) {
            const bool rows = info.name.starts_with("gradrows.") && info.name.ends_with(".value");
            if (!info.name.starts_with("grad.") && !rows) continue;
            const std::string name = rows ? info.name.substr(9, info.name.size() - 15) : info.name.substr(5);
            if (name.starts_with("pooler")) continue;
            QVERIFY2(gradients.contains(name), name.c_str());
            at::Tensor got = gradients[name];
            if (rows) got = got.index_select(0, read_tensor(expected, "gradrows." + name + ".index"));
            const at::Tensor wanted = read_tensor(expected, info.name);
            // The key's bias shifts all scores of a row alike, so its gradient is zero: what rounding leaves is measured against the query's bias.
            const bool zero = name.ends_with("self.key.bias");
            const double scale = zero ? gradients[name.substr(0, name.size() - 8) + "query.bias"].abs().max().item<double>() : wanted.abs().max().item<double>();
            const double difference = max_difference(got, wanted) / scale;
            QVERIFY2(difference < 1e-4, (name + " " + std::to_string(difference)).c_str());
            ++compared;
        }
        QVERIFY(compared > 20);
    }
};

FACETER_TEST(TestFixtures)
#include "test_fixtures.moc"
