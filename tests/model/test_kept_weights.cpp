#include "common/file.h"
#include "common/json.h"
#include "eval/embedder.h"
#include "plugin/model_writer.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const std::vector<std::string_view> texts = {"how to bake bread", "a river runs through it", "",
                                             "rye flour, water and salt; then patience"};

at::Tensor embedded(const EmbeddingModel& model) { return embed_texts(model, texts, {}); }

bool is_halved(const Encoder& encoder) {
    const Block& block = encoder.blocks().front();
    for (const at::Tensor& t : {block.qkv.weight, block.attention_output.weight, block.experts[0].up, block.experts[0].down})
        if (t.scalar_type() != at::kBFloat16) return false;
    return true;
}

}  // namespace

/// Checkpoints in bfloat16, which are kept so.
class TestKeptWeights : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path path_;

    std::unique_ptr<EmbeddingModel> opened() const { return EmbeddingModel::open(ModelFolder::open(path_)); }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        path_ = folder_.path() / "model";
        const fs::path from = shared_folder() / "fixtures/qwen3_embedding";
        fs::copy(from, path_, fs::copy_options::recursive);
        fs::permissions(path_, fs::perms::owner_write, fs::perm_options::add);
        fs::permissions(path_ / "model.safetensors", fs::perms::owner_write, fs::perm_options::add);
        std::vector<NamedTensor> tensors;
        const SafetensorsFile file(from / "model.safetensors");
        for (const TensorInfo& info : file.tensors()) tensors.push_back({info.name, read_tensor(file, info.name).to(at::kBFloat16)});
        fs::remove(path_ / "model.safetensors");
        write_tensors(path_ / "model.safetensors", tensors);
    }

    void products_and_words_stay_as_they_are_stored_and_give_the_bits_of_float32() {
        const auto kept = opened(), wide = opened();
        wide->widen();
        const Encoder& encoder = *kept->encoders.front();
        QVERIFY(is_halved(encoder) && !is_halved(*wide->encoders.front()));
        for (const Parameter& p : encoder.parameters())
            QVERIFY2(p.tensor.dim() == 1 ? p.tensor.scalar_type() == at::kFloat : p.tensor.scalar_type() == at::kBFloat16, p.name.c_str());
        QVERIFY(embedded(*kept).equal(embedded(*wide)));
        QCOMPARE(kept->fingerprint(), wide->fingerprint());
    }

    void an_adapter_learns_over_a_base_that_stays_as_it_is_stored() {
        std::vector<at::Tensor> gradients[2];
        for (const bool widened : {false, true}) {
            const auto model = opened();
            if (widened) model->widen();
            Encoder& encoder = *model->encoders.front();
            encoder.add_adapter("gate", {4, 16, 0, false, {"all-linear"}, ""}, 5);
            for (const Parameter& p : encoder.adapter_parameters(0)) {
                p.tensor.fill_(0.05);
                p.tensor.requires_grad_(true);
            }
            std::vector<std::vector<std::int32_t>> ids(texts.size());
            std::vector<SequenceInput> inputs;
            for (std::size_t i = 0; i < texts.size(); ++i) {
                model->tokenizer->encode(std::string(texts[i]), 64, ids[i]);
                inputs.push_back({ids[i].data(), static_cast<std::int64_t>(ids[i].size()), i, Path::of_adapter(0), 0});
            }
            ForwardContext context;
            context.training = context.recompute = true;
            (model->embed(encoder, make_packed_batch(inputs), context) * at::arange(model->dim())).sum().backward();
            QCOMPARE(is_halved(encoder), !widened);
            for (const Parameter& p : encoder.adapter_parameters(0)) gradients[widened].push_back(p.tensor.grad());
        }
        for (std::size_t i = 0; i < gradients[0].size(); ++i) QVERIFY(relative_difference(gradients[0][i], gradients[1][i]) < 1e-5);
    }

    void whoever_trains_or_merges_gets_full_weights() {
        const auto model = opened();
        Encoder& encoder = *model->encoders.front();
        encoder.add_adapter("gate", {4, 16, 0, false, {"all-linear"}, ""}, 5);
        for (const Parameter& p : encoder.adapter_parameters(0)) p.tensor.fill_(1e-3);
        const at::Tensor before = encoder.blocks().front().qkv.weight.to(at::kFloat);
        encoder.merge_adapter(0);
        QVERIFY(!is_halved(encoder));
        const at::Tensor moved = (encoder.blocks().front().qkv.weight - before).abs();
        QVERIFY(moved.max().item<float>() < 2e-5 && moved.min().item<float>() > 1e-5);  // far below a step of bfloat16
    }

    /// What a run goes on from: full weights where it trained them, halves where they were frozen.
    void weights_are_read_back_in_the_type_in_which_they_were_written() {
        const auto model = opened();
        const fs::path halves = folder_.path() / "halves.safetensors", full = folder_.path() / "full.safetensors";
        write_tensors(halves, model->named_tensors());
        model->widen();
        for (const NamedTensor& t : model->named_tensors()) t.tensor.add_(1e-4);
        write_tensors(full, model->named_tensors());
        const auto resumed = opened();
        resumed->load_weights(Weights(std::vector<fs::path>{full}));
        QVERIFY(!is_halved(*resumed->encoders.front()) && embedded(*resumed).equal(embedded(*model)));
        resumed->load_weights(Weights(std::vector<fs::path>{halves}));
        QVERIFY(is_halved(*resumed->encoders.front()) && embedded(*resumed).equal(embedded(*opened())));
    }

    void a_folder_says_the_type_that_it_is_written_in() {
        const auto model = opened();
        model->folder.config["torch_dtype"] = "bfloat16";
        for (const char* type : {"bfloat16", "float32"}) {
            const fs::path out = folder_.path() / type;
            make_directories(out);
            write_model(out, *model);
            QCOMPARE(read_json(out / "config.json").at("torch_dtype").get<std::string>(), std::string(type));
            QVERIFY(embedded(*EmbeddingModel::open(ModelFolder::open(out))).equal(embedded(*model)));
            model->widen();
        }
    }
};

FACETER_TEST(TestKeptWeights)
#include "test_kept_weights.moc"
