#include "experiment/experiment.h"
#include "support/checkout.h"
#include "support/test.h"
#include "workspace/workspace.h"

using namespace faceter;
using namespace faceter::desktop;

/// Experiments that are composed mean the same as those that are checked and run by the command line.
class TestRunAsModel : public QObject {
    Q_OBJECT

    static std::string model_of(const fs::path& file) {
        const std::string text = "model: routed-1\ntasks:\n  retrieval:\n    train: [{source: debian, view: synopsis_description}]\n";
        return Experiment::parse(text, file, Catalogue::load({})).runs().front().settings.at("model");
    }

  private Q_SLOTS:
    void a_run_of_the_open_project_is_a_model_by_its_name() {
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "project", file = folder.path() / "mine.yaml";
        fs::copy(fs::path(FACETER_SOURCE_DIR) / "tests/versions/0.1.0/project", project, fs::copy_options::recursive);
        Workspace workspace;
        QCOMPARE(model_of(file), std::string("routed-1"));
        workspace.openProject(project);
        QCOMPARE(model_of(file), (project / "runs/kept-routed-s1-20261123-013413-7124").string());
        workspace.closeProject();
        QCOMPARE(model_of(file), std::string("routed-1"));
    }
};

FACETER_TEST(TestRunAsModel)
#include "test_run_as_model.moc"
