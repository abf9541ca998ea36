#include "common/cancel.h"

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

}  // namespace

void install_stop_handlers() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
}

StopRequest stop_requested() { return requested.load() ? StopRequest::stop : StopRequest::none; }
void request_stop() { requested = 1; }
void clear_stop_request() { requested = 0; }

}  // namespace faceter
