#include <ATen/ATen.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "common/file.h"
#include "onnx/onnx_file.h"
#include "plugin/model_writer.h"
#include "plugin/onnx_export.h"
#include "plugin/peft_export.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const ServedRoute query{"retrieval", Role::query}, document{"retrieval", Role::document};

/// The tiny T5, which has a head and a norm behind its pooling, with an adapter for each role of a task and instructions.
std::unique_ptr<EmbeddingModel> model_with_adapters() {
    auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/t5"));
    Task task;
    task.name = query.task;
    task.query_instruction = "search query: ";
    task.document_instruction = "search document: ";
    model->tasks = {task};
    model->route_by_instruction();
    Encoder& encoder = *model->encoders.front();
    for (const ServedRoute& route : {query, document}) {
        const std::size_t index = encoder.add_adapter(std::string(role_name(route.role)), {2, 8, 0, false, {}, ""}, 1);
        model->routes[{route.task, route.role}].path = Path::of_adapter(static_cast<int>(index));
    }
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < 2; ++i)
        for (const Parameter& parameter : encoder.adapter_parameters(i)) at::Tensor(parameter.tensor).fill_(i == 0 ? 0.05 : -0.03);
    return model;
}

/// Another value for the first number of a norm.
void flip_a_weight(const fs::path& folder) {
    const float other = 7;
    for (const OnnxForm form : {OnnxForm::float32, OnnxForm::int8}) {
        const fs::path file = folder / onnx_file_of(form);
        if (!fs::exists(file)) continue;
        OnnxGraph graph = read_onnx(file);
        for (OnnxTensor& weight : graph.weights)
            if (weight.name == "encoder.final_layer_norm.weight")
                weight.bytes.replace(0, sizeof other, reinterpret_cast<const char*>(&other), sizeof other);
        write_onnx(file, graph);
    }
    const fs::path file = folder / "model.safetensors";
    if (!fs::exists(file)) return;
    std::string bytes = read_file(file);
    std::uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
    const Json header = Json::parse(bytes.substr(sizeof header_bytes, header_bytes));
    const auto offset = header.at("encoder.final_layer_norm.weight").at("data_offsets").at(0).get<std::size_t>();
    std::memcpy(bytes.data() + sizeof header_bytes + header_bytes + offset, &other, sizeof other);
    write_file_atomic(file, bytes);
}

void lose_the_head(const fs::path& folder) {
    Json modules = Json::array();
    for (const Json& module : read_json(folder / "modules.json"))
        if (!module.at("type").get<std::string>().ends_with("Dense")) modules.push_back(module);
    write_file_atomic(folder / "modules.json", modules.dump());
}

/// In every file that says what stands in front of a text.
void change_the_prompt(const fs::path& folder) {
    for (const char* name : {"config_sentence_transformers.json", "faceter.json"}) {
        if (!fs::exists(folder / name)) continue;
        std::string text = read_file(folder / name);
        const std::string own = "search query: ";
        const std::size_t at = text.find(own);
        QVERIFY2(at != std::string::npos, text.c_str());
        write_file_atomic(folder / name, text.replace(at, own.size(), "search queries: "));
    }
}

void change_the_pooling(const fs::path& folder) {
    Json config = read_json(folder / "1_Pooling/config.json");
    config["pooling_mode_mean_tokens"] = false;
    config["pooling_mode_cls_token"] = true;
    write_file_atomic(folder / "1_Pooling/config.json", config.dump());
}

void cut_texts_shorter(const fs::path& folder) {
    Json config = read_json(folder / "sentence_bert_config.json");
    config["max_seq_length"] = 12;
    write_file_atomic(folder / "sentence_bert_config.json", config.dump());
}

using Fault = std::function<void(const fs::path&)>;

const std::vector<std::pair<const char*, Fault>> faults = {{"nothing", [](const fs::path&) {}},     {"a flipped weight", flip_a_weight},
                                                           {"a missing head", lose_the_head},       {"a wrong prompt", change_the_prompt},
                                                           {"a wrong pooling", change_the_pooling}, {"a wrong length", cut_texts_shorter}};

}  // namespace

/// A folder of every target, written as `faceter export` writes it, damaged, and put to its proof.
class TestCorruptedExports : public QObject {
    Q_OBJECT
    QByteArray peers_;
    std::unique_ptr<EmbeddingModel> model_;

    static std::unique_ptr<EmbeddingModel> alone(const ServedRoute& served) {
        auto model = model_with_adapters();
        fold_route(*model, model->route(served.task, served.role));
        return model;
    }
    ExportProof sentence_transformers(const fs::path& out, const Fault& fault) const {
        write_model(out, *alone(query));
        fault(out);
        return prove_export({*model_, {query}}, out, {});
    }
    ExportProof onnx(const fs::path& out, const Fault& fault) const {
        const OnnxFiles files = write_onnx_model(out, *alone(query), {OnnxForm::float32, OnnxForm::int8});
        fault(out);
        return prove_onnx_export({*model_, {query}}, {*model_, {model_->route(query.task, query.role)}}, out, files, {});
    }
    ExportProof peft(const fs::path& out, const Fault& fault) const {
        const PeftExport adapters(*model_, out);
        adapters.write(model_with_adapters());
        fault(adapters.base_folder());
        return adapters.prove({});
    }
    ExportProof faceter(const fs::path& out, const Fault& fault) const {
        write_model(out, *model_);
        fault(out);
        return prove_export({*model_, {query, document}}, out, {});
    }
    ExportProof exported(const QString& target, const fs::path& out, const Fault& fault) const {
        if (target == "onnx") return onnx(out, fault);
        if (target == "peft") return peft(out, fault);
        if (target == "faceter") return faceter(out, fault);
        return sentence_transformers(out, fault);
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        peers_ = qgetenv("FACETER_PEERS");
        qunsetenv("FACETER_PEERS");
        model_ = model_with_adapters();
    }
    void cleanupTestCase() {
        if (!peers_.isEmpty()) qputenv("FACETER_PEERS", peers_);
    }

    void what_is_damaged_is_refused_data() {
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("fault");
        for (const char* target : {"sentence-transformers", "onnx", "peft", "faceter"})
            for (std::size_t i = 0; i < faults.size(); ++i)
                QTest::addRow("%s, %s", target, faults[i].first) << target << static_cast<int>(i);
    }
    void what_is_damaged_is_refused() {
        QFETCH(QString, target);
        QFETCH(int, fault);
        const TemporaryDirectory out;
        const fs::path record = out.path() / "faceter_export.json";
        const Fault& damage = faults[static_cast<std::size_t>(fault)].second;
        if (fault == 0) {
            const std::string lines = exported(target, out.path(), damage).lines();
            QVERIFY2(lines.find("texts by faceter\n") != std::string::npos, lines.c_str());
            QVERIFY(fs::exists(record));
        } else {
            EXPECT_ERROR(exported(target, out.path(), damage), "othing was left");
            QVERIFY(!fs::exists(record));
        }
    }
};

FACETER_TEST(TestCorruptedExports)
#include "test_corrupted_exports.moc"
