#include <QProcess>
#include <fstream>

#include "data/sources.h"
#include "eval/embedder.h"
#include "plugin/loader.h"
#include "plugin/model_writer.h"
#include "plugin/run_model.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const std::vector<const char*> families = {"bert", "xlm_roberta", "t5", "t5_gated", "nomic_bert", "modernbert"};

struct Method {
    const char* name;
    Json settings;
    bool dense_routes;  ///< each route is a dense model, which sentence-transformers can hold
};

const std::vector<Method> methods = {
    {"EM", {{"method", "dense"}}, true},
    {"IC", {{"method", "instruction"}}, true},
    {"SEM", {{"method", "specialists"}}, true},
    {"MoTE EOB", {{"method", "mote"}}, true},
    {"MoTE EB shared norms", {{"method", "mote"}, {"placement", "every"}, {"expert_norms", "shared"}}, true},
    {"MoTE averaged", {{"method", "mote"}, {"placement", "every"}, {"final_form", "averaged"}}, true},
    {"TLR top 1", {{"method", "token_routed_moe"}, {"router_scale", 1.0}}, false},
    {"TLR top 2", {{"method", "token_routed_moe"}, {"top_k", 2}, {"weights", "renormalised"}, {"placement", "every"}}, false},
    {"TLR capacity", {{"method", "token_routed_moe"}, {"capacity", 0.5}, {"router_scale", 1.0}}, false},
    {"router", {{"method", "router_retriever"}, {"rank", 2}, {"targets", {"all-linear"}}, {"library_examples", 12}}, false},
    {"router dataset", {{"method", "router_retriever"}, {"rank", 2}, {"router", "dataset"}, {"library_examples", 12}}, false},
    {"router both sides", {{"method", "router_retriever"}, {"rank", 2}, {"sides", "both"}, {"library_examples", 12}}, false},
    {"router fixed",
     {{"method", "router_retriever"}, {"rank", 2}, {"router", "fixed"}, {"fixed_gate", "music"}, {"library_examples", 12}},
     true},
};

const Json tasks = {{"nature", {{"type", "retrieval"}, {"instructions", {{"query", "query: "}, {"document", "passage: "}}}}},
                    {"music", {{"type", "clustering"}, {"instructions", {{"query", "group: "}, {"document", "group: "}}}}}};

const std::vector<std::string> texts = {"a boat on the lake", "the song of a river, and of all that lives in it", "guitar",
                                        "stones and water stones"};

std::vector<std::string_view> views() { return {texts.begin(), texts.end()}; }

/// All that a step might train is moved.
void shake(EmbeddingModel& model) {
    const at::NoGradGuard no_grad;
    at::manual_seed(3);
    for (const auto& encoder : model.encoders) {
        for (const Parameter& p : encoder->parameters()) p.tensor.add_(0.03 * at::randn(p.tensor.sizes()));
        for (std::size_t a = 0; a < encoder->adapters().size(); ++a)
            for (const Parameter& p : encoder->adapter_parameters(a)) p.tensor.copy_(0.05 * at::randn(p.tensor.sizes()));
    }
}

/// A model of a route that was written and opened again.
struct Exported {
    std::string folder;
    std::string prompt;  ///< of sentence-transformers' encode(); empty: the folder's default
    at::Tensor expected;
    bool dense;
};

}  // namespace

/// What a run's model answers is what it answers however it was written and opened: whole, a route alone, exported, in another program.
class TestVariants : public QObject {
    Q_OBJECT
    TemporaryDirectory root_;
    std::vector<TrainingSet> training_;
    std::vector<Exported> exported_;

    void load_training() {
        for (const char* task : {"nature", "music"}) {
            const fs::path file = root_.path() / (std::string(task) + ".jsonl");
            std::ofstream out(file);
            for (int i = 0; i < 16; ++i)
                out << Json{{"query", std::string(task) + " question " + std::to_string(i * 7 % 13)},
                            {"document", "what " + std::string(task) + " says of " + std::to_string(i)}}
                           .dump()
                    << "\n";
            out.close();
            training_.push_back(load_training_set({{{"source", "file"}, {"path", file.string()}}, root_.path()}, "retrieval"));
            training_.back().task = task;
        }
    }

    /// The final model of a run of `method` on the family's fixture, as training might leave it.
    std::unique_ptr<EmbeddingModel> trained(const std::string& family, const Method& method) const {
        const Json settings = {{"model", (shared_folder() / "fixtures" / family).string()}, {"tasks", tasks}, {"variant", method.settings}};
        auto model = open_start_model(settings);
        const auto variant = variant_of(settings);
        variant->prepare(*model);
        shake(*model);
        variant->finish(*model, {training_, 1, {}});
        for (const auto& encoder : model->encoders) encoder->require_grad(false);
        return model;
    }

    fs::path fresh(const std::string& name) const {
        const fs::path folder = root_.path() / name;
        make_directories(folder);
        return folder;
    }

    static Route default_route(const EmbeddingModel& model) {
        const std::string& name = model.folder.default_prompt;
        return {name.empty() ? "" : model.folder.prompt(name), 0, Path{}, model.router != nullptr};
    }

    void compare(const at::Tensor& got, const at::Tensor& expected, const std::string& what, double bound = 1e-6) const {
        const double difference = relative_difference(got, expected);
        QVERIFY2(difference < bound, (what + ": " + std::to_string(difference)).c_str());
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        load_training();
    }

    void a_model_answers_alike_however_it_was_written_and_opened_data() {
        QTest::addColumn<QString>("family");
        QTest::addColumn<int>("method");
        for (const char* family : families)
            for (std::size_t m = 0; m < methods.size(); ++m)
                QTest::addRow("%s, %s", methods[m].name, family) << family << static_cast<int>(m);
    }
    void a_model_answers_alike_however_it_was_written_and_opened() {
        NEED_SHARED();
        QFETCH(QString, family);
        QFETCH(int, method);
        const Method& one = methods[static_cast<std::size_t>(method)];
        const c10::AutoGradMode no_grad(false);
        const auto model = trained(family.toStdString(), one);
        const std::string name = QTest::currentDataTag();
        const fs::path run = fresh(name);
        write_model(run, *model);
        for (const Task& task : model->tasks)
            for (const Role role : {Role::query, Role::document}) {
                const std::string where = task.name + "." + std::string(role_name(role));
                const at::Tensor expected = embed_texts(*model, views(), model->route(task.name, role));
                const auto whole = open_folder_model(run), alone = open_folder_model(run, ServedRoute{task.name, role});
                compare(embed_texts(*whole, views(), whole->route(task.name, role)), expected, where + ", whole");
                QVERIFY(whole->route(task.name, role).instruction == model->route(task.name, role).instruction);
                compare(embed_texts(*alone, views(), alone->route(task.name, role)), expected, where + ", alone");
                fold_route(*alone, alone->route(task.name, role));
                const fs::path folder = fresh(name + " " + where);
                write_model(folder, *alone);
                const auto exported = open_folder_model(folder);
                const bool merged = model->router && model->router->always();  // an adapter in the weights: other sums in float32
                compare(embed_texts(*exported, views(), default_route(*exported)), expected, where + ", exported", merged ? 1e-5 : 1e-6);
                const bool dense = one.dense_routes || (method >= 9 && !model->route(task.name, role).routed);
                QCOMPARE(beyond_sentence_transformers(*exported).empty(), dense);
                exported_.push_back({folder.string(), "", expected, dense});
            }
        if (beyond_sentence_transformers(*model).empty())
            exported_.push_back({run.string(), "music.query", embed_texts(*model, views(), model->route("music", Role::query)), true});
    }

    void a_text_whose_instruction_has_no_expert_goes_through_the_dense_blocks() {
        NEED_SHARED();
        const c10::AutoGradMode no_grad(false);
        const auto model = trained("bert", methods[3]);
        const at::Tensor plain = embed_texts(*model, views(), Route{"other: "});
        for (Block& block : model->encoders.front()->blocks())
            for (Expert& expert : block.experts)
                if (block.is_mixture()) expert.up.mul_(2);
        compare(embed_texts(*model, views(), Route{"other: "}), plain, "experts have no part in it");
        QVERIFY(relative_difference(embed_texts(*model, views(), Route{"other: ", 0, Path::of_expert(0)}), plain) > 1e-3);
    }

    void a_vector_does_not_depend_on_the_company_under_a_capacity() {
        NEED_SHARED();
        const c10::AutoGradMode no_grad(false);
        const auto model = trained("bert", methods[8]);
        const at::Tensor together = embed_texts(*model, views(), model->route("nature", Role::query));
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::string_view text = texts[i];
            compare(embed_texts(*model, {&text, 1}, model->route("nature", Role::query))[0], together[static_cast<std::int64_t>(i)],
                    texts[i]);
        }
    }

    /// Every text was cut to its special tokens, and trained on without a word; with less room the error named no folder.
    void a_length_that_leaves_nothing_of_a_text_is_refused() {
        NEED_SHARED();
        const fs::path bert = shared_folder() / "fixtures/bert", folder = root_.path() / "short";
        fs::copy(bert, folder, fs::copy_options::recursive);
        fs::permissions(folder, fs::perms::owner_write, fs::perm_options::add);
        const Json of_folder = {{"model", folder.string()}, {"tasks", tasks}};
        for (const int longest : {1, 2}) {
            fs::remove(folder / "sentence_bert_config.json");
            write_file_atomic(folder / "sentence_bert_config.json", Json{{"max_seq_length", longest}}.dump());
            EXPECT_ERROR(open_start_model(of_folder), folder.string() + ": its longest text", std::string("leaves nothing of a text"));
        }
        const Json of_settings = {{"model", bert.string()}, {"tasks", tasks}, {"max_length", 2}};
        EXPECT_ERROR(open_start_model(of_settings), "max_length is 2", "leaves nothing of it");
    }
    void adapters_without_a_router_stay_with_the_model() {
        NEED_SHARED();
        const c10::AutoGradMode no_grad(false);
        const auto model = open_start_model({{"model", (shared_folder() / "fixtures/bert").string()}, {"tasks", tasks}});
        for (const char* name : {"one", "two"}) model->encoders.front()->add_adapter(name, AdapterConfig{2, 8, 0, false, {}, ""}, 1);
        model->routes[{"nature", Role::query}] = {"query: ", 0, Path::of_adapter(1)};
        model->routes[{"music", Role::query}] = {"", 0, Path::of_adapter(0)};
        shake(*model);
        const fs::path folder = fresh("adapters");
        write_model(folder, *model);
        for (const char* task : {"nature", "music"}) {
            const at::Tensor expected = embed_texts(*model, views(), model->route(task, Role::query));
            const auto whole = open_folder_model(folder), alone = open_folder_model(folder, ServedRoute{task, Role::query});
            QCOMPARE(whole->encoders.front()->adapters().size(), std::size_t{2});
            QCOMPARE(alone->encoders.front()->adapters().size(), std::size_t{1});
            compare(embed_texts(*whole, views(), whole->route(task, Role::query)), expected, task);
            compare(embed_texts(*alone, views(), alone->route(task, Role::query)), expected, task);
        }
    }

    void a_text_of_no_tokens_is_the_zero_vector() {
        NEED_SHARED();
        const c10::AutoGradMode no_grad(false);
        const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        const std::vector<std::int32_t> ids = {101, 1045, 102};
        for (const Pooling pooling : {Pooling::mean, Pooling::cls, Pooling::last_token}) {
            model->folder.pooling = pooling;
            const at::Tensor alone = model->embed(*model->encoders.front(), make_packed_batch({{ids.data(), 3}}), {});
            const at::Tensor rows =
                model->embed(*model->encoders.front(), make_packed_batch({{ids.data(), 0}, {ids.data(), 3}, {ids.data(), 0}}), {});
            compare(rows[1], alone[0], "its neighbour");
            QCOMPARE(rows[0].abs().max().item<double>() + rows[2].abs().max().item<double>(), 0.0);
        }
    }

    void sentence_transformers_embeds_each_export_alike_or_refuses_it() {
        NEED_SHARED();
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no python with sentence-transformers (FACETER_PEERS)");
        if (exported_.empty()) QSKIP("no exports; they are made by the test before, run both");
        Json wanted = Json::array();
        for (const Exported& one : exported_) wanted.push_back({{"folder", one.folder}, {"texts", texts}, {"prompt", one.prompt}});
        const fs::path input = root_.path() / "wanted.json", output = root_.path() / "answers.json";
        write_file_atomic(input, wanted.dump());
        QProcess peer;
        peer.setProcessChannelMode(QProcess::MergedChannels);
        peer.start(python, {FACETER_SOURCE_DIR "/tests/worker/peer_exports.py", input.c_str(), output.c_str()});
        QVERIFY2(peer.waitForFinished(-1) && peer.exitCode() == 0, peer.readAll().constData());
        const Json answers = read_json(output);
        for (std::size_t i = 0; i < exported_.size(); ++i) {
            QVERIFY2(answers[i].contains("rows") == exported_[i].dense,
                     (exported_[i].folder + ": " + answers[i].dump().substr(0, 300)).c_str());
            if (!exported_[i].dense) continue;
            for (std::size_t t = 0; t < texts.size(); ++t) {
                const auto row = answers[i]["rows"][t].get<std::vector<double>>();
                const double difference = relative_difference(at::tensor(at::ArrayRef<double>(row), at::kDouble),
                                                              exported_[i].expected[static_cast<std::int64_t>(t)]);
                QVERIFY2(difference < 1e-5, (exported_[i].folder + ", " + texts[t] + ": " + std::to_string(difference)).c_str());
            }
        }
    }
};

FACETER_TEST(TestVariants)
#include "test_variants.moc"
