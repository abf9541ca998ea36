#include "plugin/model_writer.h"
#include "plugin/peft_export.h"

#include <cstdlib>
#include <cstring>

#include "common/file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// The tiny BERT with the adapter that PEFT trained on it, twice.
std::unique_ptr<EmbeddingModel> with_adapters() {
    auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
    for (const char* name : {"retrieval", "clustering"})
        model->encoders.front()->add_adapter(name, AdapterFolder::open(shared_folder() / "fixtures/lora"));
    return model;
}

/// Another value for the last number of an adapter.
void flip_a_weight(const fs::path& folder) {
    const fs::path file = folder / "adapter_model.safetensors";
    std::string bytes = read_file(file);
    const float other = 7;
    std::memcpy(bytes.data() + bytes.size() - sizeof other, &other, sizeof other);
    write_file_atomic(file, bytes);
}

}  // namespace

class TestPeftExport : public QObject {
    Q_OBJECT
    std::unique_ptr<EmbeddingModel> model_;
    std::unique_ptr<TemporaryDirectory> out_;
    std::unique_ptr<PeftExport> peft_;

  private Q_SLOTS:
    void init() {
        NEED_SHARED();
        model_ = with_adapters();
        Task task;
        task.name = "retrieval";
        model_->tasks = {task};
        model_->routes[{"retrieval", Role::query}] = {"search: ", 0, Path::of_adapter(0)};
        model_->routes[{"retrieval", Role::document}] = {"answer: ", 0, Path::of_adapter(0)};
        out_ = std::make_unique<TemporaryDirectory>();
        peft_ = std::make_unique<PeftExport>(*model_, out_->path());
        peft_->write(with_adapters());
    }

    void base_and_adapters_open_again_and_embed_as_the_model() {
        QVERIFY(fs::exists(peft_->base_folder() / "model.safetensors"));
        QCOMPARE(peft_->adapter_folder(1).filename().string(), std::string("clustering"));
        const ExportDifference difference = peft_->by_faceter();
        QCOMPARE(difference.texts, 3 * export_check_texts().size());  // both roles of one adapter, and the other that no task takes
        difference.require({});
    }
    void an_adapter_names_the_base_beside_it() {
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
            QCOMPARE(read_json(peft_->adapter_folder(i) / "adapter_config.json").at("base_model_name_or_path").get<std::string>(),
                     peft_->base_folder().string());
    }
    void an_adapter_called_base_lies_beside_the_base() {
        const auto named = [] {
            auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
            model->encoders.front()->add_adapter("base", AdapterFolder::open(shared_folder() / "fixtures/lora"));
            return model;
        };
        const auto model = named();
        const TemporaryDirectory out;
        const PeftExport peft(*model, out.path());
        peft.write(named());
        QCOMPARE(peft.adapter_folder(0).filename().string(), std::string("base-adapter"));
        QVERIFY(fs::exists(peft.base_folder() / "model.safetensors") && !fs::exists(peft.base_folder() / "adapter_config.json"));
        peft.by_faceter().require({});
        QVERIFY(peft.uses().contains("base-adapter"));
    }
    void the_base_has_the_prompts_of_all_tasks() {
        const Json prompts = read_json(peft_->base_folder() / "config_sentence_transformers.json").at("prompts");
        QCOMPARE(prompts, Json::parse(R"({"retrieval.document": "answer: ", "retrieval.query": "search: "})"));
    }
    void a_task_of_one_instruction_is_a_prompt_by_its_own_name_as_well() {
        model_->routes[{"retrieval", Role::document}].instruction = "search: ";
        const std::map<std::string, std::string> wanted = {
            {"retrieval", "search: "}, {"retrieval.document", "search: "}, {"retrieval.query", "search: "}};
        QVERIFY(prompts_of_tasks(*model_) == wanted);
    }
    void a_flipped_weight_of_an_adapter_is_refused_and_its_name_said() {
        flip_a_weight(peft_->adapter_folder(1));
        EXPECT_ERROR(peft_->by_faceter().require({}), "does not embed as the model it was written from", "through the adapter clustering");
    }
    void another_scale_of_an_adapter_is_refused() {
        const fs::path file = peft_->adapter_folder(0) / "adapter_config.json";
        Json config = read_json(file);
        config["lora_alpha"] = 2 * config.at("lora_alpha").get<double>();
        write_file_atomic(file, config.dump());
        EXPECT_ERROR(peft_->by_faceter().require({}), "through the adapter retrieval");
    }
    void a_model_without_adapters_is_refused() {
        const auto plain = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        EXPECT_ERROR(PeftExport(*plain, out_->path()), "the model has no adapters");
    }
    void a_model_whose_layers_have_other_names_in_transformers_is_refused() {
        const auto nomic = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/nomic_bert"));
        nomic->encoders.front()->add_adapter("retrieval", {2, 8, 0, false, {"all-linear"}, ""}, 1);
        EXPECT_ERROR(PeftExport(*nomic, out_->path()), "nomic_bert", "PEFT finds them by their names; leave out --to");
        nomic->folder.config["auto_map"] = {{"AutoModel", "modeling_hf_nomic_bert.NomicBertModel"}};  // that code keeps the names
        PeftExport(*nomic, out_->path()).uses();
    }
    /// transformers reads T5's words by encoder.embed_tokens: PEFT would open the adapter of "shared", and give vectors without it.
    void an_adapter_of_t5s_word_embeddings_is_refused() {
        const auto with = [](const std::string& target) {
            auto t5 = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/t5"));
            t5->encoders.front()->add_adapter("retrieval", {2, 8, 0, false, {target, "q"}, ""}, 1);
            return t5;
        };
        EXPECT_ERROR(PeftExport(*with("shared"), out_->path()), "word embeddings (shared)", "of a t5", "leave out --to");
        PeftExport(*with("k"), out_->path()).uses();
    }
    void peft_gives_the_same() {
        if (!std::getenv("FACETER_PEERS")) QSKIP("no Python with PEFT (FACETER_PEERS)");
        std::string why;
        const auto difference = peft_->by_peft(why);
        if (!difference) QSKIP(why.c_str());
        qInfo("%s", difference->sentence().c_str());
        QVERIFY2(difference->by.starts_with("peft 0."), difference->by.c_str());
        QCOMPARE(difference->texts, 3 * export_check_texts().size());
        difference->require({});
    }
};

FACETER_TEST(TestPeftExport)
#include "test_peft_export.moc"
