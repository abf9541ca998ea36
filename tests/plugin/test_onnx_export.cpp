#include <ATen/ATen.h>
#include <fmt/format.h>

#include <QScopeGuard>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>

#include "common/file.h"
#include "onnx/onnx_file.h"
#include "plugin/model_writer.h"
#include "plugin/onnx_export.h"
#include "plugin/onnx_run.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

std::unique_ptr<EmbeddingModel> fixture(const std::string& name) {
    return EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures" / name));
}

/// Another value for one number of a weight.
void flip(OnnxGraph& graph, const std::string& weight) {
    const auto found = std::find_if(graph.weights.begin(), graph.weights.end(), [&](const OnnxTensor& one) { return one.name == weight; });
    QVERIFY2(found != graph.weights.end(), weight.c_str());
    const float other = 7;
    found->bytes.replace(0, sizeof other, reinterpret_cast<const char*>(&other), sizeof other);
}

}  // namespace

/// Tiny reference models of every family as ONNX graphs, run here and, where FACETER_PEERS names it, in onnxruntime.
class TestOnnxExport : public QObject {
    Q_OBJECT
    const std::vector<OnnxForm> float_form_{OnnxForm::float32}, both_forms_{OnnxForm::float32, OnnxForm::int8};

    void families() const {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"bert", "xlm_roberta", "roberta", "distilbert", "mpnet", "nomic_bert", "modernbert", "mmbert", "qwen3_embedding",
              "qwen3_bidirectional", "embedding_gemma", "eurobert", "gte", "jina_embeddings_v3", "mistral", "t5", "t5_gated"})
            QTest::newRow(name) << name;
    }

  private Q_SLOTS:
    void init() { NEED_SHARED(); }

    void the_graph_gives_what_the_model_gives_data() { families(); }
    void the_graph_gives_what_the_model_gives() {
        QFETCH(QString, name);
        const auto model = fixture(name.toStdString());
        if (const std::string why = beyond_onnx(*model); !why.empty()) QSKIP(why.c_str());
        const TemporaryDirectory out;
        write_onnx_model(out.path(), *model, both_forms_);
        QVERIFY(!fs::exists(out.path() / "model.safetensors"));
        const OnnxCheck check(*model, {});
        for (const OnnxForm form : both_forms_) {
            const ExportDifference difference = check.by_faceter(out.path(), form);
            qInfo("%s %s, smallest cosine %.7f", onnx_file_of(form), difference.sentence().c_str(), difference.smallest_cosine);
            QCOMPARE(difference.texts, export_check_texts().size());
            difference.require(onnx_limits(form));
        }
    }
    void onnxruntime_gives_the_same_data() { families(); }
    void onnxruntime_gives_the_same() {
        QFETCH(QString, name);
        if (!std::getenv("FACETER_PEERS")) QSKIP("no Python with onnxruntime (FACETER_PEERS)");
        const auto model = fixture(name.toStdString());
        if (const std::string why = beyond_onnx(*model); !why.empty()) QSKIP(why.c_str());
        const TemporaryDirectory out;
        write_onnx_model(out.path(), *model, both_forms_);
        const OnnxCheck check(*model, {});
        for (const OnnxForm form : both_forms_) {
            std::string why;
            const auto difference = check.by_onnxruntime(out.path(), form, why);
            if (!difference) QSKIP(why.c_str());
            qInfo("%s %s, smallest cosine %.7f", onnx_file_of(form), difference->sentence().c_str(), difference->smallest_cosine);
            difference->require(onnx_limits(form));
        }
    }
    void so_it_does_behind_each_pooling() {
        for (const Pooling pooling :
             {Pooling::mean, Pooling::cls, Pooling::last_token, Pooling::max, Pooling::mean_sqrt_length, Pooling::weighted_mean}) {
            const auto model = fixture("bert");
            model->folder.pooling = pooling;
            const TemporaryDirectory out;
            write_onnx_model(out.path(), *model, float_form_);
            const OnnxCheck check(*model, {});
            check.by_faceter(out.path(), OnnxForm::float32).require(onnx_limits(OnnxForm::float32));
            std::string why;
            if (const auto difference = check.by_onnxruntime(out.path(), OnnxForm::float32, why))
                difference->require(onnx_limits(OnnxForm::float32));
        }
    }
    void padding_may_stand_before_the_text() {
        for (const char* name : {"roberta", "qwen3_embedding", "mpnet"}) {
            const OnnxRun run(encoder_graph(ModelFolder::open(shared_folder() / "fixtures" / name), OnnxForm::float32));
            const at::Tensor ids = at::tensor({5, 6, 7, 8}, at::kLong).unsqueeze(0), none = at::zeros({1, 3}, at::kLong);
            const at::Tensor alone = run({{"input_ids", ids}, {"attention_mask", at::ones_like(ids)}}).at("sentence_embedding");
            const at::Tensor padded =
                run({{"input_ids", at::cat({none, ids}, 1)}, {"attention_mask", at::cat({none, at::ones_like(ids)}, 1)}})
                    .at("sentence_embedding");
            const double away = (alone - padded).abs().max().item<double>();
            QVERIFY2(away < 1e-6, fmt::format("{}: {}", name, away).c_str());
        }
    }
    /// Ranges are those of a token, not of a batch.
    void a_text_in_int8_does_not_depend_on_its_company() {
        for (const char* name : {"bert", "modernbert", "qwen3_embedding"}) {
            const OnnxRun run(encoder_graph(ModelFolder::open(shared_folder() / "fixtures" / name), OnnxForm::int8));
            const at::Tensor ids = at::tensor({5, 6, 7, 8}, at::kLong).unsqueeze(0);
            const at::Tensor both = at::cat({ids, at::tensor({11, 30, 2, 17}, at::kLong).unsqueeze(0)});
            const auto embedded = [&](const at::Tensor& of) {
                return run({{"input_ids", of}, {"attention_mask", at::ones_like(of)}}).at("sentence_embedding");
            };
            const double away = (embedded(ids) - embedded(both).narrow(0, 0, 1)).abs().max().item<double>();
            QVERIFY2(away < 1e-6, fmt::format("{}: {}", name, away).c_str());
        }
    }
    void what_loses_most_in_int8_stays_in_float32() {
        const auto model = fixture("bert");
        const TemporaryDirectory out;
        write_model(out.path(), *model);
        const ModelFolder folder = ModelFolder::open(out.path());
        const OnnxInt8 none = choose_int8(folder, *model, 0.99);
        QVERIFY2(none.kept.empty() && none.sentence().empty(), none.sentence().c_str());
        const OnnxInt8 some = choose_int8(folder, *model, (1 + none.smallest_cosine) / 2);
        QVERIFY2(!some.kept.empty() && some.kept.size() < some.num_weights, some.sentence().c_str());
        QVERIFY(some.smallest_cosine >= some.wanted_cosine && some.smallest_cosine > none.smallest_cosine);
        std::set<std::string> names;
        for (const OnnxTensor& weight : encoder_graph(folder, OnnxForm::int8, some.plan).weights) names.insert(weight.name);
        for (const std::string& kept : some.kept) QVERIFY2(names.contains(kept) && !names.contains(quantised_name(kept)), kept.c_str());
        const auto integers =
            std::count_if(names.begin(), names.end(), [](const auto& name) { return name.ends_with(quantised_name("")); });
        QCOMPARE(static_cast<std::size_t>(integers), some.num_weights - some.kept.size());
    }
    void the_record_says_what_stayed_in_float32() {
        const auto model = fixture("qwen3_bidirectional");
        const TemporaryDirectory out;
        const OnnxFiles files = write_onnx_model(out.path(), *model, both_forms_);
        prove_onnx_export({*model, {}}, {*model, {}}, out.path(), files, {});
        const Json int8 = read_json(out.path() / "faceter_export.json").at("int8");
        QCOMPARE(int8.at("kept_in_float32"), Json(files.int8->kept));
        QCOMPARE(int8.at("weights").get<std::size_t>(), files.int8->num_weights);
    }
    void a_text_without_tokens_has_no_hidden_states_to_lose() {
        for (const char* name : {"bert", "qwen3_bidirectional"}) {
            const TemporaryDirectory folder, out;
            const fs::path bare = folder.path() / "bare";
            fs::copy(shared_folder() / "fixtures" / name, bare, fs::copy_options::recursive);
            Json tokenizer = Json::parse(read_file(bare / "tokenizer.json"));
            tokenizer["post_processor"] = nullptr;
            write_file_atomic(bare / "tokenizer.json", tokenizer.dump());
            const auto model = EmbeddingModel::open(ModelFolder::open(bare));
            QCOMPARE(model->tokenizer->num_special(), std::size_t{0});
            write_onnx_model(out.path(), *model, both_forms_);
            for (const OnnxForm form : both_forms_) {
                const ExportDifference difference = OnnxCheck(*model, {}).by_faceter(out.path(), form);
                QVERIFY2(difference.smallest_cosine >= onnx_limits(form).smallest_cosine, difference.sentence().c_str());
            }
        }
    }
    void minilm_in_int8_stays_off_the_limit() {
        NEED_MINILM();
        const auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        const TemporaryDirectory out;
        const OnnxFiles files = write_onnx_model(out.path(), *model, {OnnxForm::int8});
        const ExportDifference difference = OnnxCheck(*model, {}).by_faceter(out.path(), OnnxForm::int8);
        qInfo("%s; smallest cosine %.6f; %.1f MB", files.int8->sentence().c_str(), difference.smallest_cosine,
              1e-6 * static_cast<double>(fs::file_size(out.path() / onnx_file_of(OnnxForm::int8))));
        const double limit = onnx_limits(OnnxForm::int8).smallest_cosine;
        QVERIFY2(1 - difference.smallest_cosine < 0.75 * (1 - limit), difference.sentence().c_str());
    }
    void a_flipped_weight_and_a_missing_head_are_refused() {
        const auto model = fixture("t5");
        const TemporaryDirectory out;
        write_onnx_model(out.path(), *model, float_form_);
        const fs::path file = out.path() / onnx_file_of(OnnxForm::float32);
        const OnnxCheck check(*model, {});
        check.by_faceter(out.path(), OnnxForm::float32).require({});
        const OnnxGraph whole = read_onnx(file);
        OnnxGraph broken = whole;
        flip(broken, "encoder.final_layer_norm.weight");
        write_onnx(file, broken);
        EXPECT_ERROR(check.by_faceter(out.path(), OnnxForm::float32).require({}), "does not embed as the model it was written from",
                     "The text that differs most is '");
        ModelFolder without = ModelFolder::open(shared_folder() / "fixtures/t5");
        without.dense.clear();
        write_onnx(file, encoder_graph(without, OnnxForm::float32));
        EXPECT_ERROR(check.by_faceter(out.path(), OnnxForm::float32).require({}), "does not");
    }
    /// What an instruction alone has (a word, say) is in none of the texts.
    void every_instruction_goes_through_the_graph() {
        const auto model = fixture("bert");
        const TemporaryDirectory out;
        write_onnx_model(out.path(), *model, float_form_);
        const OnnxCheck plain(*model, {}), instructed(*model, {Route{"search query: "}, Route{"search document: "}});
        const ExportDifference difference = instructed.by_faceter(out.path(), OnnxForm::float32);
        QCOMPARE(difference.texts, 2 * export_check_texts().size());
        difference.require({});
        const fs::path file = out.path() / onnx_file_of(OnnxForm::float32);
        OnnxGraph graph = read_onnx(file);
        const auto words = std::find_if(graph.weights.begin(), graph.weights.end(),
                                        [](const OnnxTensor& one) { return one.name == "embeddings.word_embeddings.weight"; });
        QVERIFY(words != graph.weights.end());
        std::vector<std::int32_t> ids;
        model->tokenizer->encode("search", 8, ids);
        const float other = 7;
        const std::size_t row = static_cast<std::size_t>(ids.at(1)) * static_cast<std::size_t>(words->shape.at(1)) * sizeof other;
        words->bytes.replace(row, sizeof other, reinterpret_cast<const char*>(&other), sizeof other);
        write_onnx(file, graph);
        plain.by_faceter(out.path(), OnnxForm::float32).require({});
        EXPECT_ERROR(instructed.by_faceter(out.path(), OnnxForm::float32).require({}), "behind 'search ");
    }
    void a_wrong_prompt_is_refused() {
        const auto model = fixture("bert");
        Task task;
        task.name = "retrieval";
        task.query_instruction = "search query: ";
        model->tasks = {task};
        model->route_by_instruction();
        const ServedRoute query{"retrieval", Role::query};
        const ExportCheck check(*model, {query});
        const Route route = model->route(query.task, query.role);
        const OnnxCheck onnx(*model, {route});
        fold_route(*model, route);
        const TemporaryDirectory out;
        const OnnxFiles files = write_onnx_model(out.path(), *model, float_form_);
        const ExportProof proof = prove_onnx_export(check, onnx, out.path(), files, {{"run", "a-run"}});
        QVERIFY2(proof.lines().find("over 12 texts by faceter\n") != std::string::npos, proof.lines().c_str());
        QCOMPARE(read_json(out.path() / "faceter_export.json").at("weights_sha256").count("onnx/model.onnx"), std::size_t{1});
        write_file_atomic(out.path() / "config_sentence_transformers.json",
                          Json{{"prompts", {{"default", "search document: "}}}, {"default_prompt_name", "default"}}.dump());
        EXPECT_ERROR(prove_onnx_export(check, onnx, out.path(), files, {}),
                     "the export's prompt 'default' is 'search document: ', the model's instruction 'search query: '");
    }
    void a_large_graph_keeps_its_weights_beside_it() {
        const OnnxGraph graph = encoder_graph(ModelFolder::open(shared_folder() / "fixtures/bert"), OnnxForm::float32);
        const TemporaryDirectory out;
        const fs::path file = out.path() / "model.onnx";
        write_onnx(file, graph, 1000);
        QVERIFY(fs::file_size(out.path() / "model.onnx_data") > 10 * fs::file_size(file) / 100);
        const OnnxGraph again = read_onnx(file);
        QCOMPARE(again.weights.size(), graph.weights.size());
        for (std::size_t i = 0; i < graph.weights.size(); ++i) QVERIFY(again.weights[i].bytes == graph.weights[i].bytes);
        fs::resize_file(out.path() / "model.onnx_data", 100);
        EXPECT_ERROR(read_onnx(file), "ends behind the end of model.onnx_data");
    }
    void a_disk_that_is_full_is_named_with_its_file() {
        const OnnxGraph graph = encoder_graph(ModelFolder::open(shared_folder() / "fixtures/bert"), OnnxForm::float32);
        const auto restore = qScopeGuard([] { set_file_fault_hook(nullptr); });
        for (const char* name : {"model.onnx", "model.onnx_data"}) {
            const TemporaryDirectory out;
            set_file_fault_hook([name](FileOperation operation, const fs::path& path) {
                return operation == FileOperation::write && path.filename() == name ? ENOSPC : 0;
            });
            EXPECT_ERROR(write_onnx(out.path() / "model.onnx", graph, 1000), std::string(name) + ": cannot write: No space left on device");
        }
    }
    void a_file_that_is_no_graph_is_refused() {
        const TemporaryDirectory out;
        write_file_atomic(out.path() / "model.onnx", "no graph");
        EXPECT_ERROR(read_onnx(out.path() / "model.onnx"), "is no ONNX file that can be read");
    }
    void what_no_graph_gives_is_named() {
        const auto model = fixture("nomic_moe");
        QCOMPARE(beyond_onnx(*model), std::string("its blocks route tokens"));
        const auto bert = fixture("bert");
        bert->folder.include_prompt = false;
        QVERIFY(beyond_onnx(*bert).starts_with("its pooling leaves the instruction's tokens out"));
    }
    /// max_seq_length of sentence_bert_config.json goes on behind max_position_embeddings.
    void positions_that_depend_on_the_length_are_seen_in_a_length_that_is_named_too() {
        EncoderConfig config;
        config.rotary_scaling = 1;
        config.trained_positions = config.length_limit = 64;
        ModelFolder folder;
        folder.max_seq_length = 64;
        QCOMPARE(beyond_onnx(folder, config), std::string());
        folder.max_seq_length = 200;
        QVERIFY(beyond_onnx(folder, config).starts_with("its rotary positions depend on the length"));
    }
};

FACETER_TEST(TestOnnxExport)
#include "test_onnx_export.moc"
