#include "cli/program.h"
#include "common/file.h"
#include "conform/embeddings.h"
#include "launch/supervisor.h"
#include "record/state.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What earlier versions wrote (README.md).
class TestVersions : public QObject {
    Q_OBJECT

    /// The same texts by the same weights in float32, perhaps on another processor; a tensor in the wrong place is off by 1e-2 and more.
    static constexpr double same_embedding = 1e-5;

    fs::path folder_;

    static void every_version() {
        QTest::addColumn<QString>("version");
        for (const fs::directory_entry& entry : fs::directory_iterator(FACETER_SOURCE_DIR "/tests/versions"))
            if (entry.is_directory()) QTest::newRow(entry.path().filename().c_str()) << QString(entry.path().filename().c_str());
    }

    static void put_paths(const fs::path& folder) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
            const fs::path& file = entry.path();
            const bool text = file.extension() == ".json" || file.extension() == ".yaml";
            if (!entry.is_regular_file() || !text) continue;
            std::string content = read_file(file);
            for (const auto& [mark, path] : {std::pair<std::string, std::string>("@FOLDER@", folder.string()),
                                             std::pair<std::string, std::string>("@PROGRAMS@", FACETER_BINARY_DIR "/bin")})
                for (std::size_t at; (at = content.find(mark)) != std::string::npos;) content.replace(at, mark.size(), path);
            write_file_atomic(file, content);
        }
    }

    fs::path project() const { return folder_ / "project"; }

    conform::Embeddings embed(std::vector<std::string> model) const {
        std::vector<std::string> arguments = {
            "embed", "--threads", "1", "--output", (folder_ / "now.npy").string(), (folder_ / "texts/embed.jsonl").string(), "--model"};
        arguments.insert(arguments.end(), model.begin(), model.end());
        const Outcome outcome = faceter::testing::faceter(arguments);
        if (outcome.code != 0) throw std::runtime_error(outcome.err);
        return conform::Embeddings::read_npy(folder_ / "now.npy");
    }

    /// The models that gave embeddings then.
    std::vector<std::string> variants() const {
        std::vector<std::string> names;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "vectors")) names.push_back(entry.path().stem().string());
        return names;
    }

    double from_then(const std::string& variant, const std::vector<std::string>& model) const {
        return conform::difference(conform::Embeddings::read_npy(folder_ / "vectors" / (variant + ".npy")), embed(model));
    }

  private Q_SLOTS:
    void init() {
        QFETCH(QString, version);
        folder_ = fs::temp_directory_path() / ("faceter-versions-" + std::to_string(QCoreApplication::applicationPid()));
        fs::remove_all(folder_);
        fs::copy(fs::path(FACETER_SOURCE_DIR "/tests/versions") / version.toStdString(), folder_, fs::copy_options::recursive);
        put_paths(folder_);
    }
    void cleanup() { fs::remove_all(folder_); }

    void its_runs_embed_as_they_did_data() { every_version(); }
    void its_runs_embed_as_they_did() {
        QVERIFY(variants().size() >= 5);
        for (const std::string& variant : variants())
            QVERIFY2(from_then(variant, {"kept-" + variant, "--project", project().string(), "--task", "retrieval.query"}) < same_embedding,
                     variant.c_str());
    }

    void its_exports_embed_as_the_runs_did_data() { every_version(); }
    void its_exports_embed_as_the_runs_did() {
        for (const std::string& variant : variants()) {
            const fs::path whole = folder_ / "exports" / variant, own = whole / "retrieval.query";
            std::vector<std::string> model = {fs::is_directory(own) ? own.string() : whole.string()};
            const bool has_tasks = !fs::is_directory(own) && fs::exists(whole / "faceter.json");
            if (has_tasks) model.insert(model.end(), {"--task", "retrieval.query"});
            QVERIFY2(from_then(variant, model) < same_embedding, variant.c_str());
        }
    }

    void a_run_that_it_stopped_goes_on_from_its_checkpoint_data() { every_version(); }
    void a_run_that_it_stopped_goes_on_from_its_checkpoint() {
        const RunDirectory run = Project(project(), false).find_run("stopped");
        QVERIFY(read_state(run).phase == RunPhase::stopped);
        const Outcome outcome = faceter::testing::faceter({"resume", run.info().id, "--project", project().string()});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        QVERIFY(read_state(run).phase == RunPhase::done);
        QVERIFY(read_journal(run.attempt_journal(2)).events.at(0).fields.at("from_step").get<int>() > 0);
    }

    void its_project_lists_scores_and_its_experiment_passes_data() { every_version(); }
    void its_project_lists_scores_and_its_experiment_passes() {
        const Outcome list = faceter::testing::faceter({"list", "--project", project().string(), "--json"});
        QVERIFY2(list.code == 0, list.err.c_str());
        for (const std::string& variant : variants()) HAS(list.out, "\"" + variant + "\"");
        const Outcome compare = faceter::testing::faceter({"compare", "--project", project().string()});
        QVERIFY2(compare.code == 0, compare.err.c_str());
        HAS(compare.out, "similar");
        const Outcome check = faceter::testing::faceter({"check", (folder_ / "kept.yaml").string()});
        QVERIFY2(check.code == 0, check.err.c_str());
        std::size_t runs = 0;
        for (const fs::directory_entry& queue : fs::directory_iterator(project() / "queue")) runs += Queue::open(queue.path()).runs.size();
        QCOMPARE(runs, variants().size() + 1);
    }
};

FACETER_TEST(TestVersions)
#include "test_versions.moc"
