#include "packaging/command.h"

using namespace faceter;
using namespace faceter::packaging;

class TestExperiments : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_ready_experiment_passes_the_check_data() {
        QTest::addColumn<QString>("file");
        for (const auto& entry : fs::directory_iterator(project / "experiments"))
            if (entry.path().extension() == ".yaml") QTest::newRow(entry.path().filename().c_str()) << text(entry.path());
    }
    void every_ready_experiment_passes_the_check() {
        QFETCH(QString, file);
        if (!fs::exists(binaries / "bin/faceter")) QSKIP("faceter is not built");
        NEED_MINILM();
        VERIFY_CODE(run(binaries / "bin/faceter", {"check", file}), 0);
    }
};

FACETER_TEST(TestExperiments)
#include "test_experiments.moc"
