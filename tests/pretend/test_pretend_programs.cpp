#include <QProcess>

#include "support/test.h"

using namespace faceter::testing;

/// The programs as they are, with the pretend devices in place of GPUs.
class TestPretendPrograms : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_script_for_gpus_runs_to_its_table() {
        NEED_SHARED();
        QProcess script;
        script.setProcessChannelMode(QProcess::MergedChannels);
        script.start("bash", {FACETER_SOURCE_DIR "/tests/bench/gpu.sh", "--build", FACETER_BINARY_DIR, "--pretend", "--model",
                              QString::fromStdString((shared_folder() / "fixtures/bert").string())});
        QVERIFY(script.waitForFinished(5 * hang_ms));
        const QByteArray output = script.readAll();
        QVERIFY2(script.exitCode() == 0, output);
        QVERIFY2(output.contains("PASS   : TestGpu::steps_equal_those_of_the_processor(MoTE)"), output);
        for (const char* row : {"| train IC | 1 |", "| train IC | 2 |", "| train MoTE | 2 |", "| train TLR | 2 |", "| embed"})
            QVERIFY2(output.contains(row), output);
        QVERIFY2(!output.contains("| 0 |"), output);
    }
};

FACETER_TEST(TestPretendPrograms)
#include "test_pretend_programs.moc"
