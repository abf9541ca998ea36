#include "experiment/finding.h"

#include "support/test.h"

using namespace faceter;

/// What `faceter doctor` says of a libtorch without CUDA, on a machine with a GPU.
class TestFinding : public QObject {
    Q_OBJECT
    const QByteArray cache_ = qgetenv("FACETER_CACHE"), root_ = qgetenv("FACETER_TORCH_ROOT");

  private Q_SLOTS:
    void initTestCase() {
        qputenv("FACETER_CACHE", "/home/me/cache");
        qunsetenv("FACETER_TORCH_ROOT");
    }
    void cleanupTestCase() {
        cache_.isNull() ? qunsetenv("FACETER_CACHE") : qputenv("FACETER_CACHE", cache_);
        root_.isNull() ? qunsetenv("FACETER_TORCH_ROOT") : qputenv("FACETER_TORCH_ROOT", root_);
    }
    void the_one_of_the_cache_gets_cuda_by_setup() {
        QCOMPARE(command_for_cuda("/home/me/cache/torch-2.11.0/torch/lib/libtorch_cpu.so"), std::string("faceter setup --cuda"));
    }
    /// Setup would fetch 3 GB that nothing reads.
    void the_one_of_a_python_environment_gets_it_there() {
        const std::string command = command_for_cuda("/home/me/venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so");
        QVERIFY2(command.starts_with("pip install ") && command.find("torch==2.11.*") != std::string::npos, command.c_str());
    }
    void one_that_is_named_gives_way_to_that_of_the_cache() {
        qputenv("FACETER_TORCH_ROOT", "/opt/torch");
        QCOMPARE(command_for_cuda("/opt/torch/torch/lib/libtorch_cpu.so"), std::string("unset FACETER_TORCH_ROOT && faceter setup --cuda"));
    }
};

FACETER_TEST(TestFinding)
#include "test_finding.moc"
