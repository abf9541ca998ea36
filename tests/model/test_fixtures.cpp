#include <nlohmann/json.hpp>

#include "common/json.h"
#include "eval/embedder.h"
#include "model/embedding_model.h"
#include "support/ops_forms.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/objective.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

PackedBatch batch_of(const std::vector<std::vector<std::int32_t>>& ids) {
    std::vector<SequenceInput> inputs;
    for (const auto& text : ids) inputs.push_back({text.data(), static_cast<std::int64_t>(text.size()), 0, {}, 0});
    return make_packed_batch(inputs);
}

}  // namespace

/// The tiny checkpoints of the reference fixtures, computed by Hugging Face's transformers (and by contrastors' code where that has no
/// form); and the real all-MiniLM-L6-v2.
class TestFixtures : public QObject {
    Q_OBJECT

    /// The encoder of a fixture without its tokenizer; `config`: a configuration to use in place of config.json.
    struct Opened {
        std::filesystem::path path;
        ModelFolder folder;
        std::unique_ptr<Encoder> encoder;
        explicit Opened(const QString& name, const char* config = nullptr)
            : path(shared_folder() / "fixtures" / name.toStdString()), folder(ModelFolder::open(path)) {
            if (config) folder.config = read_json(path / config);
            encoder = std::make_unique<Encoder>(EncoderConfig::from_json(folder.config, "config.json", folder.weights()), folder.dense,
                                                at::kFloat);
            encoder->load_weights(folder.weights());
        }
        /// What the fixture allows, measured against its own noise; older ones say nothing.
        double tolerance(const char* of, double otherwise) const {
            return json_or<double>(json_or<Json>(about(), "tolerance", Json::object(), "about"), of, otherwise, "about");
        }
        /// Newer fixtures take the Dense modules as a part of the model, older ones (T5's) hold them apart.
        bool heads_belong() const { return about().contains("dense_modules"); }
        at::Tensor pooled(const at::Tensor& hidden, const PackedBatch& batch) const {
            const at::Tensor rows = pool(hidden, batch.layout, folder.pooling, {});
            return heads_belong() ? encoder->apply_heads(rows) : rows;
        }
        SafetensorsFile expected() const { return SafetensorsFile(path / "expected.safetensors"); }
        Json about() const { return read_json(path / "expected.json"); }
    };

    /// The unpadded ids of rows of a file.
    static std::vector<std::vector<std::int32_t>> ids_of(const SafetensorsFile& file, const std::string& ids, const std::string& mask) {
        const at::Tensor all = read_tensor(file, ids), real = read_tensor(file, mask);
        std::vector<std::vector<std::int32_t>> texts;
        for (std::int64_t row = 0; row < all.size(0); ++row) {
            texts.emplace_back();
            for (std::int64_t i = 0; i < all.size(1); ++i)
                if (real[row][i].item<std::int64_t>()) texts.back().push_back(static_cast<std::int32_t>(all[row][i].item<std::int64_t>()));
        }
        return texts;
    }

    static double worst_hidden_difference(const at::Tensor& hidden, const PackedBatch& batch, const at::Tensor& wanted) {
        double worst = 0;
        for (std::int64_t s = 0; s < batch.layout->num_sequences(); ++s)
            worst = std::max(worst, max_difference(hidden.narrow(0, batch.layout->offsets()[s], batch.layout->length(s)),
                                                   wanted[s].narrow(0, 0, batch.layout->length(s))));
        return worst;
    }

    static void every_fixture() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<OpsForm>("form");
        for (const char* name : {"bert", "xlm_roberta", "nomic_bert", "nomic_moe", "t5", "t5_gated", "modernbert", "mpnet", "distilbert",
                                 "roberta", "mmbert", "qwen3_embedding", "qwen3_bidirectional", "eurobert", "mistral", "embedding_gemma",
                                 "gte", "jina_embeddings_v3", "deberta_v2"})
            for (const auto& [form_name, form] : ops_forms) QTest::addRow("%s, %s", name, form_name) << name << form;
    }

  private Q_SLOTS:
    void embeddings_equal_transformers_data() { every_fixture(); }
    void embeddings_equal_transformers() {
        NEED_SHARED();
        QFETCH(QString, name);
        QFETCH(OpsForm, form);
        const InForm in_form(form);
        const Opened model(name);
        const c10::AutoGradMode no_grad(false);
        const PackedBatch batch = batch_of(ids_of(model.expected(), "input_ids", "attention_mask"));
        const at::Tensor hidden = model.encoder->forward(batch, {});
        const double worst = worst_hidden_difference(hidden, batch, read_tensor(model.expected(), "last_hidden_state"));
        QVERIFY2(worst < model.tolerance("last_hidden_state", 2e-5), std::to_string(worst).c_str());
        const at::Tensor pooled = model.pooled(hidden, batch);
        const double difference = max_difference(normalize_rows(pooled), read_tensor(model.expected(), "normalised_f64"));
        QVERIFY2(difference < model.tolerance("normalised", 2e-6), std::to_string(difference).c_str());
        if (model.folder.dense.empty() || model.heads_belong()) return;
        const double behind =
            max_difference(normalize_rows(model.encoder->apply_heads(pooled)), read_tensor(model.expected(), "normalised_after_dense"));
        QVERIFY2(behind < 2e-6, std::to_string(behind).c_str());
    }

    void gradients_equal_transformers_data() { every_fixture(); }
    void gradients_equal_transformers() {
        NEED_SHARED();
        QFETCH(QString, name);
        QFETCH(OpsForm, form);
        const InForm in_form(form);
        const Opened model(name);
        model.encoder->require_grad(true);
        const SafetensorsFile expected = model.expected();
        const Json pairs = model.about().at("pairs");
        auto ids = ids_of(expected, "pairs.query_ids", "pairs.query_mask");
        const auto documents = ids_of(expected, "pairs.document_ids", "pairs.document_mask");
        const auto count = static_cast<std::int64_t>(ids.size());
        ids.insert(ids.end(), documents.begin(), documents.end());
        const PackedBatch packed = batch_of(ids);
        const at::Tensor rows = model.pooled(model.encoder->forward(packed, {}), packed);
        PairEmbeddings batch;
        batch.queries = rows.narrow(0, 0, count);
        batch.documents = rows.narrow(0, count, count);
        batch.temperature = pairs.at("tau").get<double>();
        const LossResult result = InfoNce({})(batch);
        QVERIFY2(std::abs(result.loss.item<double>() - pairs.at("loss").get<double>()) < 1e-5,
                 std::to_string(result.loss.item<double>()).c_str());
        result.loss.backward();
        compare_gradients(*model.encoder, expected);
    }

    void newer_configuration_keys_of_nomic_bert_make_the_same_encoder() {
        NEED_SHARED();
        const Opened model("nomic_bert", "config_with_native_keys.json");
        const c10::AutoGradMode no_grad(false);
        const PackedBatch batch = batch_of(ids_of(model.expected(), "input_ids", "attention_mask"));
        QVERIFY(worst_hidden_difference(model.encoder->forward(batch, {}), batch, read_tensor(model.expected(), "last_hidden_state")) <
                2e-5);
    }

    /// The released code stretches a whole batch as its longest text asks: such texts have its numbers, those within the trained positions
    /// the numbers of a model without scaling.
    void dynamic_ntk_stretches_the_base_with_the_length_of_each_text() {
        NEED_SHARED();
        constexpr std::int64_t trained = 32;
        const Opened model("nomic_bert", "config_ntk.json");
        const SafetensorsFile stretched(model.path / "expected_ntk.safetensors"), usual = model.expected();
        const c10::AutoGradMode no_grad(false);
        for (const auto& [name, form] : ops_forms) {
            const InForm in_form(form);
            const PackedBatch batch = batch_of(ids_of(stretched, "input_ids", "attention_mask"));
            const at::Tensor hidden = model.encoder->forward(batch, {});
            int compared[2] = {0, 0};
            for (std::int64_t s = 0; s < batch.layout->num_sequences(); ++s) {
                const std::int64_t length = batch.layout->length(s), longest = batch.layout->max_length();
                if (length > trained && length < longest) continue;
                const bool is_long = length == longest;
                const at::Tensor wanted = read_tensor(is_long ? stretched : usual, "last_hidden_state")[s].narrow(0, 0, length);
                const double difference = max_difference(hidden.narrow(0, batch.layout->offsets()[s], length), wanted);
                QVERIFY2(difference < 2e-5, (std::string(name) + " " + std::to_string(s) + ": " + std::to_string(difference)).c_str());
                ++compared[is_long];
            }
            QVERIFY(compared[0] == 7 && compared[1] == 3);
        }
    }

    void a_padding_token_that_a_text_spells_takes_no_position_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"mpnet", "roberta"}) QTest::newRow(name) << name;
    }
    void a_padding_token_that_a_text_spells_takes_no_position() {
        NEED_SHARED();
        QFETCH(QString, name);
        const Opened model(name);
        const SafetensorsFile expected = model.expected();
        const c10::AutoGradMode no_grad(false);
        const at::Tensor ids = read_tensor(expected, "literal_pad.input_ids").flatten();
        std::vector<std::int32_t> text;
        for (std::int64_t i = 0; i < ids.numel(); ++i) text.push_back(static_cast<std::int32_t>(ids[i].item<std::int64_t>()));
        const PackedBatch batch = batch_of({text});
        const at::Tensor got = normalize_rows(pool(model.encoder->forward(batch, {}), batch.layout, model.folder.pooling, {}));
        const double difference = max_difference(got.flatten(), read_tensor(expected, "literal_pad.normalised").flatten());
        QVERIFY2(difference < 2e-6, std::to_string(difference).c_str());
    }

    void routers_pick_the_experts_of_the_reference() {
        NEED_SHARED();
        const Opened model("nomic_moe");
        const SafetensorsFile expected = model.expected();
        const c10::AutoGradMode no_grad(false);
        RoutingTrace trace;
        ForwardContext context;
        context.routing = &trace;
        model.encoder->forward(batch_of(ids_of(expected, "input_ids", "attention_mask")), context);
        QCOMPARE(trace.size(), std::size_t{2});
        for (const RouterOutput& router : trace) {
            const std::string prefix = "router." + std::to_string(router.block) + ".";
            QVERIFY(max_difference(router.probabilities, read_tensor(expected, prefix + "probabilities")) < 1e-5);
            QVERIFY(at::equal(router.experts, read_tensor(expected, prefix + "experts")));
            QVERIFY(at::equal(router.load, read_tensor(expected, prefix + "load").to(at::kDouble)));
            QCOMPARE(router.dropped.item<double>(), 0.0);
        }
    }

    void a_checkpoint_is_written_with_the_tensors_it_was_read_from_data() { every_fixture(); }
    void a_checkpoint_is_written_with_the_tensors_it_was_read_from() {
        NEED_SHARED();
        QFETCH(QString, name);
        const Opened model(name);
        const Weights weights = model.folder.weights();
        const std::string prefix = prefix_of(weights.names());
        int compared = 0;
        for (const NamedTensor& tensor : model.encoder->named_tensors()) {
            const TensorInfo& info = weights.at(prefix + tensor.name);
            at::Tensor stored = at::empty(info.shape, at::kFloat);
            weights.read_float(prefix + tensor.name, {stored.data_ptr<float>(), static_cast<std::size_t>(stored.numel())});
            QVERIFY2(at::equal(stored, tensor.tensor), tensor.name.c_str());
            ++compared;
        }
        QVERIFY(compared > 20);
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
    /// What stands in front of the encoder's names: checkpoints of a model with a head have its name there.
    static std::string prefix_of(const std::vector<std::string>& names) {
        for (const std::string& name : names)
            for (const std::string prefix : {"roberta.", "model.", "deberta."})
                if (name.starts_with(prefix)) return prefix;
        return "";
    }

    /// Gradients under the checkpoint's names: a copy of the encoder that holds them as weights writes them.
    static std::map<std::string, at::Tensor> gradients_of(const Encoder& encoder) {
        const auto holder = encoder.clone();
        const auto from = encoder.parameters(), to = holder->parameters();
        for (std::size_t i = 0; i < from.size(); ++i)
            if (from[i].tensor.grad().defined())
                to[i].tensor.copy_(from[i].tensor.grad());
            else
                to[i].tensor.zero_();
        std::map<std::string, at::Tensor> gradients;
        for (const NamedTensor& tensor : holder->named_tensors()) gradients[tensor.name] = tensor.tensor;
        return gradients;
    }

    void compare_gradients(const Encoder& encoder, const SafetensorsFile& expected) {
        const auto gradients = gradients_of(encoder);
        int compared = 0;
        for (const TensorInfo& info : expected.tensors()) {
            const bool rows = info.name.starts_with("gradrows.") && info.name.ends_with(".value");
            if (!info.name.starts_with("grad.") && !rows) continue;
            const std::string name = rows ? info.name.substr(9, info.name.size() - 15) : info.name.substr(5);
            if (name.find("pooler") != std::string::npos || name.find("lm_head") != std::string::npos) continue;
            std::string own = name;
            for (const std::string& prefix : encoder.config().names.prefixes)
                if (!prefix.empty() && name.starts_with(prefix)) own = name.substr(prefix.size());
            QVERIFY2(gradients.contains(own), name.c_str());
            at::Tensor got = gradients.at(own);
            if (rows) got = got.index_select(0, read_tensor(expected, "gradrows." + name + ".index"));
            const at::Tensor wanted = read_tensor(expected, info.name);
            // The key's bias shifts all scores of a row alike, so its gradient is zero: what rounding leaves is measured against the
            // query's bias.
            const bool zero = name.ends_with("self.key.bias");
            if (!zero && wanted.abs().max().item<double>() < 1e-6) continue;
            const double scale = zero ? gradients.at(own.substr(0, own.size() - 8) + "query.bias").abs().max().item<double>()
                                      : wanted.abs().max().item<double>();
            const double difference = max_difference(got, wanted) / scale;
            QVERIFY2(difference < 1e-4, (name + " " + std::to_string(difference)).c_str());
            ++compared;
        }
        QVERIFY(compared > 20);
    }
};

FACETER_TEST(TestFixtures)
#include "test_fixtures.moc"
