#include <ucontext.h>

#include <csignal>
#include <cstddef>
#include <vector>

#include "common/cancel.h"
#include "support/test.h"

using namespace faceter;

namespace {

/// Where a product of oneDNN points the stack pointer: a piece of the heap, and what lies below it.
struct HeapStack {
    static constexpr std::size_t below = 1 << 16, own = 1 << 15;
    std::vector<std::byte> memory{below + own, std::byte{0x5a}};
    ucontext_t caller{}, callee{};

    /// Raises a signal with the stack pointer there. Returns the bytes below that are not what they were.
    std::size_t overwritten_by(void (*raises)()) {
        ::getcontext(&callee);
        callee.uc_stack.ss_sp = memory.data();
        callee.uc_stack.ss_size = memory.size();
        callee.uc_link = &caller;
        ::makecontext(&callee, raises, 0);
        ::swapcontext(&caller, &callee);
        std::size_t changed = 0;
        for (std::size_t i = 0; i < below + own; ++i) changed += memory[i] == std::byte{0x5a} ? 0 : 1;
        return changed;
    }
};

}  // namespace

class TestCancel : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() { clear_stop_request(); }
    void cleanup() { clear_stop_request(); }

    void a_signal_asks_for_a_stop() {
        install_stop_handlers();
        for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) {
            clear_stop_request();
            QVERIFY(stop_requested() == StopRequest::none);
            ::raise(signal);
            QVERIFY(stop_requested() == StopRequest::stop);
        }
    }
    /// oneDNN's products point the stack pointer at a buffer: what a signal's frame would overwrite there is the heap.
    void a_signal_during_a_product_leaves_the_heap_alone() {
        install_stop_handlers();
        ::raise(SIGTERM);  // the first call of a function of another library takes stack to find it
        clear_stop_request();
        const std::size_t overwritten = HeapStack().overwritten_by([] { ::raise(SIGTERM); });
        QVERIFY(stop_requested() == StopRequest::stop);
        QVERIFY2(overwritten < 1000, qPrintable(QString("%1 bytes, and a handler's frame takes more").arg(overwritten)));
    }
};

FACETER_TEST(TestCancel)
#include "test_cancel.moc"
