#include <fstream>

#include "common/file.h"
#include "common/json.h"
#include "data/child_process.h"
#include "model/embedding_model.h"
#include "support/backbones.h"
#include "support/ops_forms.h"
#include "support/rounding.h"
#include "support/taken_memory.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/objective.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

std::unique_ptr<Encoder> small_encoder(const std::string& family) {
    auto encoder = std::make_unique<Encoder>(small_config(family), std::vector<DenseModule>{}, at::kFloat);
    fill(*encoder);
    return encoder;
}

/// Both parts of every update at random, so that it changes something.
void fill_adapter(Encoder& encoder, std::size_t index) {
    at::manual_seed(17 + static_cast<std::uint64_t>(index));
    for (const Parameter& p : encoder.adapter_parameters(index)) p.tensor.copy_(0.2 * at::randn(p.tensor.sizes()));
}

/// W + scale * B A in place of W, and no adapter: what the adapter means.
std::unique_ptr<Encoder> merged(const Encoder& encoder, std::size_t index) {
    auto dense = encoder.clone();
    const Adapter adapter = dense->adapters()[index];
    for (const auto& block : adapter.blocks)
        for (const auto& updates : block)
            for (const LowRankUpdate& u : updates) {
                Block& b = dense->blocks()[u.place.block];
                const at::Tensor weights[] = {b.qkv.weight, b.attention_output.weight, b.experts[0].up, b.experts[0].down};
                weights[static_cast<std::size_t>(u.place.which)]
                    .narrow(0, u.place.first_row, u.place.rows)
                    .add_(u.b.mm(u.a), adapter.config.scale());
            }
    while (!dense->adapters().empty()) dense->remove_adapter(0);
    return dense;
}

/// Numbers: 0 no adapter, n the n-th.
Path through(int number) { return number == 0 ? Path{} : Path::of_adapter(number - 1); }
PackedBatch batch_through(const std::vector<int>& numbers) {
    std::vector<Path> paths;
    for (const int number : numbers) paths.push_back(through(number));
    return batch_on(paths);
}

PackedBatch batch_of(const std::vector<std::vector<std::int32_t>>& ids, const Path& path) {
    std::vector<SequenceInput> inputs;
    for (const auto& text : ids) inputs.push_back({text.data(), static_cast<std::int64_t>(text.size()), 0, path, 0});
    return make_packed_batch(inputs);
}

std::vector<std::vector<std::int32_t>> unpadded(const SafetensorsFile& file, const std::string& ids, const std::string& mask) {
    const at::Tensor all = read_tensor(file, ids), real = read_tensor(file, mask);
    std::vector<std::vector<std::int32_t>> texts;
    for (std::int64_t row = 0; row < all.size(0); ++row) {
        texts.emplace_back();
        for (std::int64_t i = 0; i < real[row].sum().item<std::int64_t>(); ++i)
            texts.back().push_back(static_cast<std::int32_t>(all[row][i].item<std::int64_t>()));
    }
    return texts;
}

/// The reference BERT with the adapter that PEFT trained on it.
struct PeftFixture {
    fs::path folder = shared_folder() / "fixtures/lora";
    std::unique_ptr<EmbeddingModel> model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
    SafetensorsFile expected{folder / "expected.safetensors"};
    PeftFixture() { encoder().add_adapter("peft", AdapterFolder::open(folder)); }
    Encoder& encoder() { return *model->encoders.front(); }
};

void every_family() {
    QTest::addColumn<QString>("family");
    for (const char* family : backbone_families) QTest::newRow(family) << family;
}

}  // namespace

class TestLowRank : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void an_adapter_of_peft_gives_its_embeddings_data() {
        QTest::addColumn<OpsForm>("form");
        for (const auto& [name, form] : ops_forms) QTest::newRow(name) << form;
    }
    void an_adapter_of_peft_gives_its_embeddings() {
        NEED_SHARED();
        QFETCH(OpsForm, form);
        const InForm in_form(form);
        PeftFixture fixture;
        const c10::AutoGradMode no_grad(false);
        const auto ids = unpadded(fixture.expected, "input_ids", "attention_mask");
        const PackedBatch batch = batch_of(ids, Path::of_adapter(0));
        const at::Tensor hidden = fixture.encoder().forward(batch, {}), wanted = read_tensor(fixture.expected, "last_hidden_state");
        for (std::int64_t s = 0; s < batch.layout->num_sequences(); ++s) {
            const double difference = max_difference(hidden.narrow(0, batch.layout->offsets()[s], batch.layout->length(s)),
                                                     wanted[s].narrow(0, 0, batch.layout->length(s)));
            QVERIFY2(difference < 2e-5, std::to_string(difference).c_str());
        }
        const double difference =
            max_difference(normalize_rows(pool(hidden, batch.layout, Pooling::mean, {})), read_tensor(fixture.expected, "normalised_f64"));
        QVERIFY2(difference < 2e-6, std::to_string(difference).c_str());
    }

    void an_adapter_of_peft_gives_its_gradients() {
        NEED_SHARED();
        PeftFixture fixture;
        Encoder& encoder = fixture.encoder();
        const auto parameters = encoder.adapter_parameters(0);
        for (const Parameter& p : parameters) p.tensor.requires_grad_(true);
        auto ids = unpadded(fixture.expected, "pairs.query_ids", "pairs.query_mask");
        const auto documents = unpadded(fixture.expected, "pairs.document_ids", "pairs.document_mask");
        const auto count = static_cast<std::int64_t>(ids.size());
        ids.insert(ids.end(), documents.begin(), documents.end());
        const PackedBatch batch = batch_of(ids, Path::of_adapter(0));
        const at::Tensor rows = pool(encoder.forward(batch, {}), batch.layout, Pooling::mean, {});
        PairEmbeddings pairs;
        pairs.queries = rows.narrow(0, 0, count);
        pairs.documents = rows.narrow(0, count, count);
        const Json about = read_json(fixture.folder / "expected.json").at("pairs");
        pairs.temperature = about.at("tau").get<double>();
        const LossResult result = InfoNce({})(pairs);
        QVERIFY(std::abs(result.loss.item<double>() - about.at("loss").get<double>()) < 1e-5);
        result.loss.backward();
        for (const Parameter& p : parameters) {
            const at::Tensor wanted =
                read_tensor(fixture.expected, "grad.base_model.model." + p.name.substr(std::string("adapters.peft.").size()));
            const double difference = relative_difference(p.tensor.grad(), wanted);
            QVERIFY2(difference < 1e-4, (p.name + " " + std::to_string(difference)).c_str());
        }
        for (const Parameter& p : encoder.parameters()) QVERIFY2(!p.tensor.grad().defined(), p.name.c_str());
    }

    void an_adapter_is_written_as_it_was_read() {
        NEED_SHARED();
        PeftFixture fixture;
        TemporaryDirectory folder;
        fixture.encoder().write_adapter(0, folder.path());
        const AdapterFolder first = AdapterFolder::open(fixture.folder), second = AdapterFolder::open(folder.path());
        QVERIFY(first.modules == second.modules && first.config.rank == second.config.rank && first.config.alpha == second.config.alpha);
        QVERIFY(first.config.targets == second.config.targets && second.config.dropout == 0.05);
        const std::size_t index = fixture.encoder().add_adapter("again", second);
        const auto a = fixture.encoder().adapter_parameters(0), b = fixture.encoder().adapter_parameters(index);
        QCOMPARE(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) QVERIFY(at::equal(a[i].tensor, b[i].tensor));
    }

    void peft_loads_an_adapter_written_here_and_embeds_alike() {
        NEED_SHARED();
        const char* python = std::getenv("FACETER_PEERS");
        if (!python) QSKIP("no Python with peft and transformers (FACETER_PEERS)");
        const fs::path base = shared_folder() / "fixtures/bert";
        const auto model = EmbeddingModel::open(ModelFolder::open(base));
        Encoder& encoder = *model->encoders.front();
        AdapterConfig config{4, 12, 0.1, false, {"query", "value", "dense"}, base.string()};
        fill_adapter(encoder, encoder.add_adapter("gate", config, 3));
        TemporaryDirectory folder;
        encoder.write_adapter(0, folder.path());
        std::ofstream(folder.path() / "ask.py") << R"(
import sys, json, torch
from transformers import AutoModel
from peft import PeftModel
torch.manual_seed(0)
model = PeftModel.from_pretrained(AutoModel.from_pretrained(sys.argv[1]), sys.argv[2]).eval()
ids = torch.tensor([[101, 1045, 2031, 3229, 102]])
with torch.no_grad(): hidden = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
print(json.dumps([len(model.peft_config), hidden.flatten().tolist()]))
)";
        const ChildResult answer = run_child({python, (folder.path() / "ask.py").string(), base.string(), folder.path().string()},
                                             std::chrono::seconds(200), 1 << 20);
        QVERIFY2(answer.exit_code == 0, answer.last_lines.c_str());
        const Json json = parse_json(answer.output.substr(answer.output.find("[1")), "answer");
        const c10::AutoGradMode no_grad(false);
        const at::Tensor hidden = encoder.forward(batch_of({{101, 1045, 2031, 3229, 102}}, Path::of_adapter(0)), {});
        const auto wanted = json[1].get<std::vector<double>>();
        QCOMPARE(static_cast<std::int64_t>(wanted.size()), hidden.numel());
        const double difference = max_difference(hidden.flatten(), at::tensor(at::ArrayRef<double>(wanted), at::kDouble));
        QVERIFY2(difference < 2e-5, std::to_string(difference).c_str());
    }

    void an_adapter_of_every_layer_equals_the_merged_weights_data() { every_family(); }
    void an_adapter_of_every_layer_equals_the_merged_weights() {
        QFETCH(QString, family);
        const auto encoder = small_encoder(family.toStdString());
        fill_adapter(*encoder, encoder->add_adapter("all", {3, 6, 0, false, {"all-linear"}, ""}, 1));
        QVERIFY(encoder->adapter_parameters(0).size() == 2 * encoder->linears().size());
        const c10::AutoGradMode no_grad(false);
        const PackedBatch adapted = batch_through({1, 1, 1, 1, 1}), plain = batch_through({0, 0, 0, 0, 0});
        const auto whole = merged(*encoder, 0);
        const at::Tensor wanted = whole->forward(plain, {});
        QVERIFY(max_difference(encoder->forward(plain, {}), wanted) > 1e-3);
        const double difference = relative_difference(encoder->forward(adapted, {}), wanted);
        QVERIFY2(difference < noise_factor * float32_noise(*whole, plain), std::to_string(difference).c_str());
        const auto wide = encoder->clone(at::kDouble);
        QVERIFY(relative_difference(wide->forward(adapted, {}), merged(*wide, 0)->forward(plain, {})) < 1e-12);
    }

    void texts_of_several_gates_in_one_batch_are_as_each_by_itself_data() { every_family(); }
    void texts_of_several_gates_in_one_batch_are_as_each_by_itself() {
        QFETCH(QString, family);
        const auto encoder = small_encoder(family.toStdString());
        for (const char* name : {"a", "b", "c"}) fill_adapter(*encoder, encoder->add_adapter(name, {2, 8, 0, false, {}, ""}, 1));
        const c10::AutoGradMode no_grad(false);
        const std::vector<int> experts{0, 0, 1, 2, 2, 3, 3};
        const PackedBatch batch = batch_through(experts);
        const at::Tensor all = encoder->forward(batch, {});
        for (std::size_t s = 0; s < experts.size(); ++s) {
            const std::int64_t begin = batch.layout->offsets()[s], length = batch.layout->length(static_cast<std::int64_t>(s));
            std::vector<std::int32_t> ids;
            for (std::int64_t i = 0; i < length; ++i) ids.push_back(static_cast<std::int32_t>(batch.ids[begin + i].item<std::int64_t>()));
            const at::Tensor one = encoder->forward(make_packed_batch({{ids.data(), length, 0, through(experts[s]), 0}}), {});
            const double difference = relative_difference(all.narrow(0, begin, length), one);
            QVERIFY2(difference < 1e-5, std::to_string(difference).c_str());
        }
    }

    void gradients_equal_those_of_the_plain_form_in_float64_data() {
        QTest::addColumn<QString>("family");
        QTest::addColumn<double>("dropout");
        for (const char* family : backbone_families)
            for (const double p : {0.0, 0.3}) QTest::addRow("%s, dropout %g", family, p) << family << p;
    }
    void gradients_equal_those_of_the_plain_form_in_float64() {
        QFETCH(QString, family);
        QFETCH(double, dropout);
        const auto encoder = small_encoder(family.toStdString());
        for (const char* name : {"a", "b"})
            fill_adapter(*encoder, encoder->add_adapter(name, {2, 8, dropout, false, {"all-linear"}, ""}, 1));
        const PackedBatch batch = batch_through({0, 1, 1, 2, 2});
        // Not the sum of squares: behind a norm it hardly changes, and its gradient is rounding.
        at::manual_seed(11);
        const at::Tensor towards = at::randn({batch.ids.size(0), encoder->config().hidden_dim}, at::kDouble);
        const auto pass = [&](const Encoder& one) {
            const at::Tensor hidden = one.forward(batch, {true, 5, 2, 0, 0});
            return (hidden * towards.to(hidden.scalar_type())).sum();
        };
        const auto of_adapters = [](const Encoder& one) {
            std::vector<Parameter> all = one.adapter_parameters(0);
            for (const Parameter& p : one.adapter_parameters(1)) all.push_back(p);
            return all;
        };
        QCOMPARE(beyond_float32(*encoder, pass, of_adapters), std::string());
        for (const Parameter& p : encoder->parameters()) QVERIFY(!p.tensor.grad().defined());
    }

    /// Of a block of Qwen3: what its halves begin with and both norms of it, q | k | v before their norms, what attention gives, and
    /// the rows of the gated layer before its activation. Nothing that can be made of these again.
    void a_forward_pass_keeps_little_for_backward() {
        const auto encoder = small_encoder("qwen3");
        fill_adapter(*encoder, encoder->add_adapter("a", {1, 1, 0, false, {"all-linear"}, ""}, 1));
        for (const Parameter& p : encoder->adapter_parameters(0)) p.tensor.requires_grad_(true);
        const PackedBatch batch = batch_through({1, 1, 1, 1, 1, 1});
        const auto memory = std::make_shared<TakenMemory>();
        at::Tensor hidden;
        {
            const c10::DebugInfoGuard watched(c10::DebugInfoKind::PROFILER_STATE, memory);
            hidden = encoder->forward(batch, {true, 5, 2, 0, 0});
        }
        const EncoderConfig& c = encoder->config();
        const double all = static_cast<double>(memory->now()) / 4 / static_cast<double>(batch.ids.size(0) * c.num_layers);
        const double needed = static_cast<double>(4 * c.hidden_dim + c.qkv_dim() + c.num_heads * c.head_dim + 2 * c.intermediate_dim);
        qInfo("%.0f floats a token and block, %.0f needed", all, needed);
        QVERIFY2(all < 1.15 * needed, std::to_string(all / needed).c_str());
        QVERIFY(hidden.requires_grad());
    }

    void gradients_equal_finite_differences() {
        at::manual_seed(4);
        LowRankUpdate update{{"x", 0, BlockLinear::qkv, 3, 5, 6}, at::randn({2, 6}, at::kDouble), at::randn({5, 2}, at::kDouble)};
        at::Tensor x = at::randn({7, 6}, at::kDouble);
        const at::Tensor weight = at::randn({7, 9}, at::kDouble);
        const auto loss = [&] { return (add_low_rank(at::zeros({7, 9}, at::kDouble), x, {{2, 6, &update, 1.5}}).square() * weight).sum(); };
        for (at::Tensor* t : {&update.a, &update.b, &x}) t->requires_grad_(true);
        loss().backward();
        for (at::Tensor* t : {&update.a, &update.b, &x}) {
            const at::Tensor gradient = t->grad();
            const c10::AutoGradMode no_grad(false);
            double* values = t->data_ptr<double>();
            for (std::int64_t i = 0; i < t->numel(); i += 3) {
                const double kept = values[i], step = 1e-5;
                values[i] = kept + step;
                const double above = loss().item<double>();
                values[i] = kept - step;
                const double below = loss().item<double>();
                values[i] = kept;
                QVERIFY(std::abs((above - below) / (2 * step) - gradient.flatten()[i].item<double>()) < 1e-6 * (1 + std::abs(above)));
            }
        }
    }

    void a_new_adapter_changes_nothing_and_is_the_same_for_the_same_seed() {
        const auto encoder = small_encoder("bert");
        const c10::AutoGradMode no_grad(false);
        encoder->add_adapter("a", {4, 8, 0, false, {}, ""}, 7);
        QVERIFY(at::equal(encoder->forward(batch_through({1, 1, 1}), {}), encoder->forward(batch_through({0, 0, 0}), {})));
        const auto first = encoder->adapter_parameters(0);
        QCOMPARE(first.size(), std::size_t{16});  // query and value of four blocks
        QVERIFY(first[0].tensor.abs().max().item<double>() <= 1 / std::sqrt(24.0) && first[0].tensor.abs().max().item<double>() > 0.1);
        encoder->remove_adapter(0);
        encoder->add_adapter("a", {4, 8, 0, false, {}, ""}, 7);
        for (std::size_t i = 0; i < first.size(); ++i) QVERIFY(at::equal(first[i].tensor, encoder->adapter_parameters(0)[i].tensor));
    }

    void a_target_that_no_layer_has_is_named() {
        const auto encoder = small_encoder("bert");
        EXPECT_ERROR(encoder->add_adapter("a", {4, 8, 0, false, {"qery"}, ""}, 7), "qery", "did you mean 'query'");
    }

    void an_adapter_of_all_linear_layers_may_hold_the_pooler() {  // PEFT's "all-linear" on BertModel; no embedding goes through it
        const auto encoder = small_encoder("bert");
        encoder->add_adapter("a", {4, 8, 0, false, {"all-linear"}, ""}, 7);
        TemporaryDirectory folder;
        encoder->write_adapter(0, folder.path());
        std::vector<std::pair<std::string, at::Tensor>> tensors{{adapter_tensor_name("pooler.dense", 'A'), at::ones({4, 24})},
                                                                {adapter_tensor_name("pooler.dense", 'B'), at::zeros({24, 4})}};
        {
            const SafetensorsFile file(folder.path() / "adapter_model.safetensors");
            for (const TensorInfo& info : file.tensors()) tensors.emplace_back(info.name, read_tensor(file, info.name));
        }
        SafetensorsWriter writer;
        for (const auto& [name, tensor] : tensors) writer.add(name, DType::f32, tensor.sizes().vec(), tensor.data_ptr());
        writer.write(folder.path() / "adapter_model.safetensors");
        const std::size_t read = encoder->add_adapter("b", AdapterFolder::open(folder.path()));
        QCOMPARE(encoder->adapter_parameters(read).size(), encoder->adapter_parameters(0).size());
    }

    void an_adapter_of_another_model_is_refused_by_layer_and_shape() {
        NEED_SHARED();
        const auto encoder = small_encoder("bert");  // 24 wide, the fixture 48
        EXPECT_ERROR(encoder->add_adapter("a", AdapterFolder::open(shared_folder() / "fixtures/lora")), "lora_A.weight", "[8, 48]",
                     "[8, 24]", "another model");
        const auto other = small_encoder("modernbert");
        EXPECT_ERROR(other->add_adapter("a", AdapterFolder::open(shared_folder() / "fixtures/lora")),
                     "encoder.layer.0.attention.self.query", "lacks");
        QVERIFY(encoder->adapters().empty() && other->adapters().empty());
    }

    /// By it vectors are kept.
    void adapters_travel_with_a_models_checkpoint() {
        NEED_SHARED();
        PeftFixture fixture;
        fill_adapter(fixture.encoder(), 0);
        TemporaryDirectory folder;
        SafetensorsWriter writer;
        const auto tensors = fixture.model->named_tensors();
        std::vector<at::Tensor> kept;
        for (const NamedTensor& t : tensors) kept.push_back(t.tensor.contiguous());
        for (std::size_t i = 0; i < tensors.size(); ++i) writer.add(tensors[i].name, DType::f32, kept[i].sizes().vec(), kept[i].data_ptr());
        writer.write(folder.path() / "model.safetensors");
        PeftFixture other;
        QVERIFY(other.model->fingerprint() != fixture.model->fingerprint());
        QCOMPARE(other.model->base_fingerprint(), fixture.model->base_fingerprint());
        other.model->load_weights(Weights(std::vector<fs::path>{folder.path() / "model.safetensors"}));
        QCOMPARE(other.model->fingerprint(), fixture.model->fingerprint());
    }
};

FACETER_TEST(TestLowRank)
#include "test_low_rank.moc"
