#include "common/cancel.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace faceter {
namespace {

std::atomic<int> requested{0};
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
    if (requested.exchange(1) != 0 && signal == SIGINT) ::_exit(130);
}

/// Gives this thread, which is the one that signals of the process come to, a stack for handlers alone: compiled-at-run-time products of
/// oneDNN point the stack pointer at memory of the heap, and a handler on that "stack" overwrites what lies below.
void give_handlers_a_stack() {
    constexpr std::size_t bytes = 1 << 16;  // the registers of AVX-512 and AMX alone are 11 KB of a handler's frame
    stack_t stack{};
    if (::sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) return;
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack = {};
    stack.ss_sp = memory;
    stack.ss_size = bytes;
    ::sigaltstack(&stack, nullptr);
}

}  // namespace

void install_stop_handlers() {
    give_handlers_a_stack();
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
}

StopRequest stop_requested() { return requested.load() ? StopRequest::stop : StopRequest::none; }
void request_stop() { requested = 1; }
void clear_stop_request() { requested = 0; }

}  // namespace faceter
