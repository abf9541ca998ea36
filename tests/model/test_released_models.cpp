#include <fstream>
#include <nlohmann/json.hpp>

#include "checkpoint/native_config.h"
#include "common/file.h"
#include "common/json.h"
#include "data/child_process.h"
#include "eval/embedder.h"
#include "model/task_adapters.h"
#include "support/ops_forms.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/checkpoint.h"
#include "train/objective.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

fs::path fixture(const std::string& name) { return shared_folder() / "fixtures" / name; }

/// A fixture from its texts to its vectors, as sentence-transformers opens it.
struct Opened {
    fs::path path;
    Json about;
    SafetensorsFile expected;
    std::unique_ptr<EmbeddingModel> model;
    explicit Opened(const std::string& name, const fs::path& folder = {})
        : path(fixture(name)),
          about(read_json(path / "expected.json")),
          expected(path / "expected.safetensors"),
          model(EmbeddingModel::open(ModelFolder::open(folder.empty() ? path : folder))) {}
    Encoder& encoder() const { return *model->encoders.front(); }
    double tolerance(const char* of) const { return about.at("tolerance").at(of).get<double>(); }
    at::Tensor embed(const Route& route) const {
        const auto texts = about.at("texts").get<std::vector<std::string>>();
        return embed_texts(*model, std::vector<std::string_view>(texts.begin(), texts.end()), route);
    }
};

void differ_by_less(const at::Tensor& got, const at::Tensor& wanted, double tolerance) {
    const double difference = max_difference(got, wanted);
    QVERIFY2(difference < tolerance, std::to_string(difference).c_str());
}

/// A copy of a fixture's model, with `replaced` under the name of `by`.
void copy_folder(const fs::path& from, const fs::path& to, const char* by, const char* replaced) {
    fs::copy(from, to, fs::copy_options::recursive);
    fs::permissions(to / replaced, fs::perms::owner_write, fs::perm_options::add);
    fs::copy_file(from / by, to / replaced, fs::copy_options::overwrite_existing);
}

/// The unpadded ids of rows of a file.
std::vector<std::vector<std::int32_t>> ids_of(const SafetensorsFile& file, const std::string& ids, const std::string& mask) {
    const at::Tensor all = read_tensor(file, ids), real = read_tensor(file, mask);
    std::vector<std::vector<std::int32_t>> texts;
    for (std::int64_t row = 0; row < all.size(0); ++row) {
        texts.emplace_back();
        for (std::int64_t i = 0; i < all.size(1); ++i)
            if (real[row][i].item<std::int64_t>()) texts.back().push_back(static_cast<std::int32_t>(all[row][i].item<std::int64_t>()));
    }
    return texts;
}

PackedBatch batch_of(const std::vector<std::vector<std::int32_t>>& ids, const std::vector<Path>& paths) {
    std::vector<SequenceInput> inputs;
    for (std::size_t i = 0; i < ids.size(); ++i)
        inputs.push_back({ids[i].data(), static_cast<std::int64_t>(ids[i].size()), 0, paths[i], 0});
    return make_packed_batch(inputs);
}

void copy_release(const std::string& family, const fs::path& folder) {
    fs::copy(fixture(family), folder);
    for (const char* file : {"config.json", "model.safetensors"}) {
        fs::remove(folder / file);
        fs::copy_file(fixture(family) / "released_layout" / file, folder / file);
    }
    fs::copy(fixture(family) / "1_Pooling", folder / "1_Pooling");
}

/// The weights of a dense NomicBERT as transformers' own class names them.
void write_native_nomic(const fs::path& released, const fs::path& native) {
    const SafetensorsFile file(released);
    std::vector<NamedTensor> tensors;
    for (const TensorInfo& info : file.tensors()) {
        const at::Tensor values = read_tensor(file, info.name);
        QString name = QString::fromStdString(info.name);
        for (const auto& [from, to] : {std::pair("encoder.layers", "layers"), std::pair("attn.out_proj", "self_attn.o_proj"),
                                       std::pair("norm1", "post_attention_layernorm"), std::pair("norm2", "post_mlp_layernorm"),
                                       std::pair("fc11", "up_proj"), std::pair("fc12", "gate_proj"), std::pair("fc2", "down_proj")})
            name.replace(QLatin1String(from), QLatin1String(to));
        if (name.startsWith(QLatin1String("emb_ln"))) name.replace(QLatin1String("emb_ln"), QLatin1String("embeddings.LayerNorm"));
        if (!name.contains(QLatin1String("attn.Wqkv"))) {
            tensors.push_back({name.toStdString(), values});
            continue;
        }
        const auto parts = values.chunk(3);
        for (const int i : {0, 1, 2})
            tensors.push_back({QString(name)
                                   .replace(QLatin1String("attn.Wqkv"), QStringLiteral("self_attn.%1_proj").arg(QLatin1Char("qkv"[i])))
                                   .toStdString(),
                               parts[static_cast<std::size_t>(i)].contiguous()});
    }
    write_tensors(native, tensors);
}

}  // namespace

/// Encoders as they are released: from texts to vectors, under their prompts, in the layouts of the hub, with the adapters of their tasks.
class TestReleasedModels : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void texts_become_the_vectors_of_sentence_transformers_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"qwen3_embedding", "qwen3_bidirectional", "eurobert", "mistral", "embedding_gemma", "gte",
                                 "jina_embeddings_v3", "mmbert", "mpnet", "distilbert", "roberta", "deberta_v2"})
            QTest::newRow(name) << name;
    }
    void texts_become_the_vectors_of_sentence_transformers() {
        NEED_SHARED();
        QFETCH(QString, name);
        const Opened opened(name.toStdString());
        differ_by_less(opened.embed({}), read_tensor(opened.expected, "normalised_f64"), opened.tolerance("normalised"));
        for (const auto& [prompt, text] : opened.about.at("prompts").items())
            differ_by_less(opened.embed({opened.model->folder.prompt(prompt)}),
                           read_tensor(opened.expected, "prompted." + prompt + ".normalised"), opened.tolerance("normalised"));
    }

    void a_dense_head_with_tanh_takes_the_place_of_normalisation() {
        NEED_SHARED();
        TemporaryDirectory folder;
        copy_folder(fixture("distilbert"), folder.path() / "model", "modules_distiluse.json", "modules.json");
        const Opened opened("distilbert", folder.path() / "model");
        differ_by_less(opened.embed({}), read_tensor(opened.expected, "distiluse_output"), 1e-5);
    }

    /// Weights in another layout beside a release, or a state of a training: what they lack lies in the folder above.
    void a_folder_of_weights_alone_has_the_tokenizer_and_modules_of_the_one_above() {
        NEED_SHARED();
        for (const auto& [family, expected, tensor] : {std::tuple("gte", "expected_ntk.safetensors", "normalised_f64"),
                                                       std::tuple("jina_embeddings_v3", "expected.safetensors", "normalised_f64")}) {
            const Opened opened(family, fixture(family) / "released_layout");
            const SafetensorsFile vectors(fixture(family) / expected);
            differ_by_less(opened.embed({}), read_tensor(vectors, tensor), opened.tolerance("normalised"));
            QCOMPARE(opened.model->folder.folder.filename(), fs::path("released_layout"));
        }
    }

    /// What sentence-transformers saves of a NomicBERT that was trained on there.
    void nomics_weights_are_read_under_the_names_of_transformers() {
        NEED_SHARED();
        const Opened released("nomic_bert");
        TemporaryDirectory folder;
        fs::copy(fixture("nomic_bert"), folder.path() / "native", fs::copy_options::recursive);
        Json config = with_native_members(read_json(released.path / "config.json"), released.encoder().config());
        for (const char* key : {"n_embd", "n_inner", "n_layer", "n_head", "n_positions", "activation_function", "layer_norm_epsilon",
                                "rotary_emb_base", "rotary_emb_fraction"})
            config.erase(key);
        for (const char* file : {"config.json", "model.safetensors"}) fs::remove(folder.path() / "native" / file);
        write_file_atomic(folder.path() / "native/config.json", config.dump());
        write_native_nomic(released.path / "model.safetensors", folder.path() / "native/model.safetensors");
        const Opened native("nomic_bert", folder.path() / "native");
        QVERIFY(at::equal(native.embed({}), released.embed({})));
    }

    void a_fixed_stretch_of_rotary_positions_is_read_in_both_spellings() {
        NEED_SHARED();
        const SafetensorsFile expected(fixture("gte") / "expected_ntk.safetensors");
        TemporaryDirectory native, released;
        copy_folder(fixture("gte"), native.path() / "model", "config_ntk.json", "config.json");
        copy_release("gte", released.path() / "model");
        for (const fs::path& folder : {native.path() / "model", released.path() / "model"}) {
            const Opened opened("gte", folder);
            differ_by_less(opened.embed({}), read_tensor(expected, "normalised_f64"), opened.tolerance("normalised"));
            QCOMPARE(opened.model->folder.model_type, std::string("gte"));
        }
    }

    void a_release_with_names_of_its_own_holds_the_tensors_of_the_native_layout_data() {
        QTest::addColumn<QString>("family");
        for (const char* family : {"gte", "jina_embeddings_v3"}) QTest::newRow(family) << family;
    }
    void a_release_with_names_of_its_own_holds_the_tensors_of_the_native_layout() {
        NEED_SHARED();
        QFETCH(QString, family);
        TemporaryDirectory folder;
        copy_release(family.toStdString(), folder.path() / "model");
        const auto native = EmbeddingModel::open(ModelFolder::open(fixture(family.toStdString()))),
                   released = EmbeddingModel::open(ModelFolder::open(folder.path() / "model"));
        const auto wanted = native->named_tensors(), got = released->named_tensors();
        QCOMPARE(got.size(), wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            QCOMPARE(got[i].name, wanted[i].name);
            QVERIFY2(at::equal(got[i].tensor, wanted[i].tensor), got[i].name.c_str());
        }
    }

    void a_task_goes_through_the_adapter_of_its_name_data() {
        QTest::addColumn<bool>("released");
        QTest::newRow("stacked in the release") << true;
        QTest::newRow("folders of PEFT") << false;
    }
    void a_task_goes_through_the_adapter_of_its_name() {
        NEED_SHARED();
        QFETCH(bool, released);
        TemporaryDirectory folder;
        const fs::path path = released ? folder.path() / "model" : fixture("jina_embeddings_v3");
        if (released) copy_release("jina_embeddings_v3", path);
        const Opened opened("jina_embeddings_v3", path);
        open_task_adapters(*opened.model, ModelFolder::open(path));
        QCOMPARE(opened.encoder().adapters().size(), released ? std::size_t{5} : std::size_t{3});
        for (const auto& [name, task] : opened.about.at("tasks").items()) {
            const auto adapter = find_task_adapter(*opened.model, task.at("task").get<std::string>());
            QVERIFY2(adapter.has_value(), name.c_str());
            Route route;
            route.path = Path::of_adapter(static_cast<int>(*adapter));
            differ_by_less(opened.embed(route), read_tensor(opened.expected, "task." + name + ".normalised_f64"),
                           opened.tolerance("normalised"));
            if (task.at("prompt_name").is_null()) continue;
            route.instruction = opened.model->folder.prompt(task.at("prompt_name").get<std::string>());
            differ_by_less(opened.embed(route), read_tensor(opened.expected, "task." + name + ".prompted.normalised"),
                           opened.tolerance("normalised"));
        }
        QVERIFY(!find_task_adapter(*opened.model, "summarisation"));
        Encoder& encoder = *opened.model->encoders.front();  // of two names that differ in their marks alone, each is its own
        AdapterConfig small;
        small.rank = 2;
        small.targets = {"all-linear"};
        for (const char* name : {"one.task", "one_task", "one-task"}) encoder.add_adapter(name, small, 1);
        for (const char* name : {"one.task", "one_task", "one-task"})
            QCOMPARE(encoder.adapters().at(find_task_adapter(*opened.model, name).value()).name, std::string(name));
        differ_by_less(opened.embed({}), read_tensor(opened.expected, "normalised_f64"), opened.tolerance("normalised"));
    }

    void the_adapters_of_two_tasks_have_the_gradients_of_peft_data() {
        QTest::addColumn<OpsForm>("form");
        for (const auto& [name, form] : ops_forms) QTest::newRow(name) << form;
    }
    void the_adapters_of_two_tasks_have_the_gradients_of_peft() {
        NEED_SHARED();
        QFETCH(OpsForm, form);
        const InForm in_form(form);
        const Opened opened("jina_embeddings_v3");
        Encoder& encoder = opened.encoder();
        const std::vector<std::string> tasks{"retrieval_query", "retrieval_passage"};
        for (const std::string& task : tasks) encoder.add_adapter(task, AdapterFolder::open(opened.path / task));
        for (std::size_t i = 0; i < tasks.size(); ++i)
            for (const Parameter& p : encoder.adapter_parameters(i)) p.tensor.requires_grad_(true);
        auto ids = ids_of(opened.expected, "pairs.query_ids", "pairs.query_mask");
        const auto documents = ids_of(opened.expected, "pairs.document_ids", "pairs.document_mask");
        const std::size_t count = ids.size();
        ids.insert(ids.end(), documents.begin(), documents.end());
        std::vector<Path> paths(count, Path::of_adapter(0));
        paths.resize(2 * count, Path::of_adapter(1));
        const PackedBatch packed = batch_of(ids, paths);
        const at::Tensor rows = pool(encoder.forward(packed, {}), packed.layout, Pooling::mean, {});
        PairEmbeddings pairs;
        pairs.queries = rows.narrow(0, 0, static_cast<std::int64_t>(count));
        pairs.documents = rows.narrow(0, static_cast<std::int64_t>(count), static_cast<std::int64_t>(count));
        pairs.temperature = opened.about.at("pairs").at("tau").get<double>();
        const LossResult result = InfoNce({})(pairs);
        QVERIFY(std::abs(result.loss.item<double>() - opened.about.at("task_loss").get<double>()) < 1e-5);
        result.loss.backward();
        int compared = 0;
        for (std::size_t i = 0; i < tasks.size(); ++i)
            for (const Parameter& p : encoder.adapter_parameters(i)) {
                const std::string own = p.name.substr(("adapters." + tasks[i] + ".").size());
                const at::Tensor wanted = read_tensor(opened.expected, "taskgrad." + tasks[i] + ".base_model.model." + own);
                if (wanted.abs().max().item<double>() < 1e-6) continue;
                const double difference = relative_difference(p.tensor.grad(), wanted);
                QVERIFY2(difference < opened.tolerance("gradient_relative"), (p.name + " " + std::to_string(difference)).c_str());
                ++compared;
            }
        QVERIFY(compared > 40);
    }

    void an_adapter_of_tables_is_written_as_it_was_read() {
        NEED_SHARED();
        const Opened opened("jina_embeddings_v3");
        Encoder& encoder = opened.encoder();
        encoder.add_adapter("first", AdapterFolder::open(opened.path / "text_matching"));
        TemporaryDirectory folder;
        encoder.write_adapter(0, folder.path());
        encoder.add_adapter("second", AdapterFolder::open(folder.path()));
        const auto a = encoder.adapter_parameters(0), b = encoder.adapter_parameters(1);
        QCOMPARE(a.size(), b.size());
        QCOMPARE(encoder.adapters()[1].tables.size(), std::size_t{2});
        for (std::size_t i = 0; i < a.size(); ++i) QVERIFY2(at::equal(a[i].tensor, b[i].tensor), a[i].name.c_str());
    }

    void an_adapter_of_every_layer_is_written_with_the_names_of_the_layers() {
        NEED_SHARED();
        const Opened opened("qwen3_embedding");
        opened.encoder().add_adapter("all", {2, 4, 0, false, {"all-linear"}, ""}, 1);
        TemporaryDirectory folder;
        opened.encoder().write_adapter(0, folder.path());
        const std::vector<std::string> layers{"mlp.down_proj",    "mlp.gate_proj",    "mlp.up_proj",     "self_attn.k_proj",
                                              "self_attn.o_proj", "self_attn.q_proj", "self_attn.v_proj"};
        QVERIFY(AdapterFolder::open(folder.path()).config.targets == layers);
    }

    void a_written_folder_opens_in_sentence_transformers_with_the_same_vectors_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("released");
        for (const char* name :
             {"qwen3_embedding", "qwen3_bidirectional", "eurobert", "mistral", "embedding_gemma", "gte", "jina_embeddings_v3", "mmbert"})
            QTest::newRow(name) << name << false;
        for (const char* name : {"gte", "jina_embeddings_v3"}) QTest::addRow("%s, as it was released", name) << name << true;
    }
    void a_written_folder_opens_in_sentence_transformers_with_the_same_vectors() {
        NEED_SHARED();
        QFETCH(QString, name);
        QFETCH(bool, released);
        const char* python = std::getenv("FACETER_PEERS");
        if (!python) QSKIP("no Python with sentence-transformers (FACETER_PEERS)");
        TemporaryDirectory folder;
        const fs::path from = released ? folder.path() / "release" : fixture(name.toStdString()), written = folder.path() / "written";
        if (released) copy_release(name.toStdString(), from);
        const Opened opened(name.toStdString(), from);
        fs::create_directory(written);
        write_sentence_transformers_files(written, opened.model->folder);
        write_tensors(written, *opened.model);
        const at::Tensor wanted = opened.embed({});
        differ_by_less(Opened(name.toStdString(), written).embed({}), wanted, 1e-6);

        std::ofstream(folder.path() / "ask.py") << R"(
import sys, json
from sentence_transformers import SentenceTransformer
about = json.load(open(sys.argv[2]))
model = SentenceTransformer(sys.argv[1], device='cpu', tokenizer_kwargs=about.get('tokenizer_kwargs') or {})
print('vectors ' + json.dumps(model.encode(about['texts'], batch_size=1).astype('float64').tolist()))
)";
        const ChildResult answer =
            run_child({python, (folder.path() / "ask.py").string(), written.string(), (opened.path / "expected.json").string()},
                      std::chrono::seconds(300), 8 << 20);
        QVERIFY2(answer.exit_code == 0, answer.last_lines.c_str());
        const auto vectors =
            parse_json(answer.output.substr(answer.output.find("vectors ") + 8), "answer").get<std::vector<std::vector<double>>>();
        at::Tensor got = at::empty({static_cast<std::int64_t>(vectors.size()), wanted.size(1)}, at::kDouble);
        for (std::size_t i = 0; i < vectors.size(); ++i) got[static_cast<std::int64_t>(i)].copy_(at::tensor(vectors[i], at::kDouble));
        differ_by_less(got, wanted, 1e-5);
    }

  private:
    static void write_tensors(const fs::path& folder, const EmbeddingModel& model) {
        SafetensorsWriter encoder, heads;
        std::map<std::string, SafetensorsWriter> modules;
        std::vector<at::Tensor> kept;
        for (const NamedTensor& t : model.named_tensors()) {
            kept.push_back(t.tensor.contiguous());
            const auto module = std::find_if(model.folder.dense.begin(), model.folder.dense.end(),
                                             [&](const DenseModule& dense) { return t.name.starts_with(dense.name + "."); });
            SafetensorsWriter& to = module == model.folder.dense.end() ? encoder : modules[module->name];
            to.add(module == model.folder.dense.end() ? t.name : t.name.substr(module->name.size() + 1), DType::f32,
                   kept.back().sizes().vec(), kept.back().data_ptr<float>());
        }
        encoder.write(folder / "model.safetensors");
        for (auto& [module, writer] : modules) writer.write(folder / module / "model.safetensors");
    }
};

FACETER_TEST(TestReleasedModels)
#include "test_released_models.moc"
