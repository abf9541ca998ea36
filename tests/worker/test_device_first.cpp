#include <QProcess>
#include <fstream>

#include "common/file.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

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
        QVERIFY(worker.waitForFinished(hang_ms));
        QCOMPARE(worker.exitCode(), 0);
        QVERIFY(worker.readAllStandardError().contains("find library=libcuda.so.1"));
    }
    /// Through libtorch's CUDA half, which opens without a GPU, and a driver that is made here.
    void a_driver_without_a_gpu_says_what_it_lacks_data() {
        QTest::addColumn<int>("version");
        QTest::addColumn<QByteArray>("said");
        QTest::addRow("too old") << 12040 << QByteArray("the NVIDIA driver serves CUDA 12.4, and libtorch here is of CUDA 13.0; update");
        QTest::addRow("no GPU") << 13000 << QByteArray("the NVIDIA driver shows no GPU (no device is detected); look at nvidia-smi");
    }
    void a_driver_without_a_gpu_says_what_it_lacks() {
        NEED_SHARED();
        QFETCH(int, version);
        QFETCH(QByteArray, said);
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "driver.c")
            << "int cuInit(unsigned flags) { return 100; }\nint cuDriverGetVersion(int* version) { *version = " << version
            << "; return 0; }\nint cuGetErrorString(int code, const char** text) { *text = \"no device is detected\"; return 0; }\n";
        const auto in_folder = [&](const char* name) { return QString::fromStdString((folder.path() / name).string()); };
        QProcess compiler;
        compiler.start("cc", {"-shared", "-fPIC", "-o", in_folder("libcuda.so.1"), in_folder("driver.c")});
        if (!compiler.waitForFinished(hang_ms) || compiler.exitCode() != 0) QSKIP("no C compiler here");
        std::ofstream(folder.path() / "texts.txt") << "a text\n";
        QProcess worker;
        auto variables = QProcessEnvironment::systemEnvironment();
        const QString before = variables.value("LD_LIBRARY_PATH");
        variables.insert("LD_LIBRARY_PATH", in_folder("") + (before.isEmpty() ? "" : ":" + before));
        worker.setProcessEnvironment(variables);
        worker.setProcessChannelMode(QProcess::MergedChannels);
        worker.start(QStringLiteral(FACETER_BINARY_DIR "/bin/faceter-worker"),
                     {"embed", "--model", QString::fromStdString((shared_folder() / "fixtures/bert").string()), "--device", "cuda",
                      "--output", in_folder("v.npy"), in_folder("texts.txt")});
        QVERIFY(worker.waitForFinished(hang_ms));
        const QByteArray output = worker.readAll();
        QCOMPARE(worker.exitCode(), 3);
        if (output.contains("libtorch_cuda.so is missing")) QSKIP("libtorch has no CUDA here (packaging/setup.sh --cuda)");
        QVERIFY2(output.contains(said), output);
    }
};

FACETER_TEST(TestDeviceFirst)
#include "test_device_first.moc"
