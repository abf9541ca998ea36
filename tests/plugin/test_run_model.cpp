#include "plugin/run_model.h"

#include <ATen/ATen.h>
#include <sys/stat.h>

#include "eval/embedder.h"
#include "model/ops.h"
#include "plugin/abi.h"
#include "plugin/loader.h"
#include "plugin/model_writer.h"
#include "plugin/teacher.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestRunModel : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;

  private Q_SLOTS:
    void a_run_that_is_not_done_is_to_go_on() {
        const RunDirectory run = sample_run(project_.path());
        write_attempt(run, 1, 3, "stopped");
        const std::string next = "faceter resume " + run.info().id;
        EXPECT_ERROR(open_run_model(run), "has no final model yet", next.c_str());
    }
    /// As a bundle leaves it where it is opened: 'faceter resume' would say that it is done.
    void a_run_whose_record_alone_is_here_is_not_to_go_on() {
        const RunDirectory run = sample_run(project_.path());
        write_attempt(run, 1, 3, "finished");
        const std::string next = "faceter rerun " + run.info().id;
        EXPECT_ERROR(open_run_model(run), "the run is done, and its model is not here", next.c_str());
    }
    /// Its texts pass as those of its own task, in front of which its instruction stands, and through what was trained for it.
    void a_run_that_teaches_embeds_a_task_that_it_knows_as_it_was_trained_to() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        Task task;
        task.name = "news";
        task.query_instruction = "news search: ";
        task.document_instruction = "news: ";
        model->tasks = {task};
        model->route_by_instruction();
        write_model(folder.path(), *model);
        ModelTeacher teacher(folder.path().string(), 0, c10::kCPU, nullptr);
        QCOMPARE(teacher.route("news", Role::query).instruction, std::string("news search: "));
        QCOMPARE(teacher.route("news", Role::document).instruction, std::string("news: "));
        QCOMPARE(teacher.route("other", Role::query).instruction, std::string());
        const std::vector<std::string_view> texts{"a cat"};
        const at::Tensor wanted = normalize_rows(embed_texts(*model, texts, model->route("news", Role::query)));
        QVERIFY(at::allclose(teacher.of_task("news").embed(texts, Role::query), wanted, 1e-5, 1e-6));
    }
    /// An export of one task has its instruction as the prompt that needs no name.
    void a_teachers_default_prompt_stands_in_front_where_it_has_none_for_the_role() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        fold_route(*model, Route{"news search: "});
        model->folder.prompts = {{"default", "news search: "}};
        write_model(folder.path(), *model);
        const ModelTeacher teacher(folder.path().string(), 0, c10::kCPU, nullptr);
        for (const Role role : {Role::query, Role::document})
            QCOMPARE(teacher.route("news", role).instruction, std::string("news search: "));
    }
    /// sentence-transformers' encode_query() and encode_document() would have an empty prompt in its place.
    void a_model_of_one_route_has_its_instruction_under_every_name_that_is_asked_for() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        fold_route(*model, Route{"news search: "});
        write_model(folder.path(), *model);
        const ModelFolder written = ModelFolder::open(folder.path());
        for (const char* name : {"default", "query", "document"}) QCOMPARE(written.prompt(name), std::string("news search: "));
        QCOMPARE(written.default_prompt, std::string("default"));
    }
    /// What is left would be read as another model, and embed.
    void a_model_that_lost_a_file_of_its_own_is_refused_data() {
        QTest::addColumn<QString>("run");
        QTest::addColumn<QString>("lost");
        QTest::addColumn<QString>("why");
        QTest::newRow("experts") << "kept-mote-s1-20261123-013413-fb01"
                                 << "faceter.json"
                                 << "which of the experts in the folder belong to which task";
        QTest::newRow("adapters") << "kept-lora-s1-20261123-013413-e98b"
                                  << "faceter.json"
                                  << "which of the adapters in the folder belong to which task";
        QTest::newRow("router") << "kept-gates-s1-20261123-013413-157a"
                                << "router.json"
                                << "by it a router chooses a gate";
        QTest::newRow("modules") << "kept-mote-s1-20261123-013413-fb01"
                                 << "modules.json"
                                 << "would be read with another pooling";
    }
    void a_model_that_lost_a_file_of_its_own_is_refused() {
        QFETCH(QString, run);
        QFETCH(QString, lost);
        QFETCH(QString, why);
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "model", kept = FACETER_SOURCE_DIR "/tests/versions/0.1.0/project/runs";
        fs::copy(kept / run.toStdString() / "model", model, fs::copy_options::recursive);
        fs::permissions(model, fs::perms::owner_write, fs::perm_options::add);
        if (lost != "router.json") QVERIFY(open_folder_model(model) != nullptr);  // whose plugin is not here
        fs::remove(model / lost.toStdString());
        const std::string missing = lost.toStdString() + ": is missing", reason = why.toStdString();
        EXPECT_ERROR(open_folder_model(model), missing, reason);
    }
    void a_pipe_in_the_place_of_a_plugins_library_is_left_out() {
        const TemporaryDirectory folder;
        Manifest manifest;
        manifest.id = "piped";
        manifest.abi = plugin_abi;
        manifest.fingerprint = build_fingerprint();
        manifest.file = folder.path() / "piped.json";
        QCOMPARE(::mkfifo(manifest.library().c_str(), 0600), 0);
        Registry registry;
        const std::vector<RejectedPlugin> rejected = load_plugins({manifest}, registry);
        QCOMPARE(rejected.size(), std::size_t{1});
        QCOMPARE(rejected[0].reason, std::string("it is not a file that can be read"));
        manifest.variants.push_back({"piped_variant", "", {}});
        load_plugins({manifest}, registry);
        EXPECT_ERROR(registry.make_variant("piped_variant", Json{{"seed", 1}}),
                     "'piped_variant' is of a plugin that was left out: ", "piped.so: it is not a file that can be read");
    }
    void a_folder_that_is_given_as_a_project_and_is_none_is_named() {
        const TemporaryDirectory folder;
        EXPECT_ERROR(find_run("EM-1", folder.path()), "not a project");
        const RunDirectory run = sample_run(project_.path());
        QCOMPARE(find_run(run.info().name, project_.path())->folder(), run.folder());
    }
};

FACETER_TEST(TestRunModel)
#include "test_run_model.moc"
