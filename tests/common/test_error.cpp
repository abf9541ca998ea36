#include "common/error.h"

#include <new>

#include "support/test.h"

using namespace faceter;

class TestError : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// PyTorch's words, and those of CUDA's libraries.
    void what_lacks_memory_says_so_and_what_to_do_data() {
        QTest::addColumn<QByteArray>("said");
        QTest::addColumn<QByteArray>("told");
        QTest::addRow("a GPU") << QByteArray("CUDA out of memory. Tried to allocate 2.00 GiB.\nException raised from malloc at x.cpp:1")
                               << QByteArray("CUDA out of memory. Tried to allocate 2.00 GiB.");
        QTest::addRow("a GPU's driver") << QByteArray("CUDA error: out of memory\nCUDA kernel errors might be reported elsewhere")
                                        << QByteArray("CUDA error: out of memory");
        QTest::addRow("cuBLAS") << QByteArray("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
                                << QByteArray("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
        QTest::addRow("the processor") << QByteArray("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")
                                       << QByteArray("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.");
    }
    void what_lacks_memory_says_so_and_what_to_do() {
        QFETCH(QByteArray, said);
        QFETCH(QByteArray, told);
        try {
            throw std::runtime_error(said.toStdString());
        } catch (...) {
            const auto [code, message] = describe_current_exception();
            QVERIFY(code == ExitCode::out_of_memory);
            QCOMPARE(message, told.toStdString() + "; use a smaller batch, shorter texts or a gradient cache");
        }
    }
    void any_other_error_is_a_failure_in_its_own_words() {
        try {
            throw std::runtime_error("CUDA error: device-side assert triggered\nException raised from x at y.cpp:2");
        } catch (...) {
            const auto [code, message] = describe_current_exception();
            QVERIFY(code == ExitCode::failed);
            QCOMPARE(message, std::string("CUDA error: device-side assert triggered"));
        }
    }
    void a_host_without_memory_is_told_alike() {
        try {
            throw std::bad_alloc();
        } catch (...) {
            QVERIFY(describe_current_exception().first == ExitCode::out_of_memory);
        }
    }
};

FACETER_TEST(TestError)
#include "test_error.moc"
