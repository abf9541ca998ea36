#include <QProcess>

#include "support/checkout.h"
#include "support/test.h"

/// An interactive worker may be asked for anything on the CPU before it trains on a GPU.
class TestDeviceFirst : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_session_looks_for_a_gpu_before_its_first_request() {
#ifndef __GLIBC__
        QSKIP("the dynamic linker of glibc alone says what it looks for");
#endif
        QProcess worker;
        auto variables = QProcessEnvironment::systemEnvironment();
        variables.insert("LD_DEBUG", "libs");
        worker.setProcessEnvironment(variables);
        worker.setStandardInputFile(QProcess::nullDevice());  // no request comes
        worker.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter-worker"), {"session"});
        QVERIFY(worker.waitForFinished(faceter::testing::hang_ms));
        QCOMPARE(worker.exitCode(), 0);
        QVERIFY(worker.readAllStandardError().contains("find library=libcuda.so.1"));
    }
};

FACETER_TEST(TestDeviceFirst)
#include "test_device_first.moc"
