#include <malloc.h>

#include <ATen/Parallel.h>

#include "commands.h"
#include "common/cancel.h"
#include "common/error.h"

namespace faceter::worker {
namespace {

/// Activations come and go every step: keep their memory in the heap instead of handing it back to the system and faulting it in again.
void keep_freed_memory() {
    ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
    ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
    ::mallopt(M_TOP_PAD, 64 << 20);
}

int run(int argc, char** argv) {
    keep_freed_memory();
    install_stop_handlers();
    CLI::App app{"faceter-worker: trains, evaluates and embeds. Usually started by faceter."};
    app.require_subcommand(1);
    int exit_code = 0;
    add_run(app, exit_code);
    add_embed(app, exit_code);
    add_evaluate(app, exit_code);
    add_export(app, exit_code);
    add_describe(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : static_cast<int>(ExitCode::usage);
    }
    return exit_code;
}

}  // namespace
}  // namespace faceter::worker

int main(int argc, char** argv) { return faceter::run_guarded("faceter-worker", faceter::worker::run, argc, argv); }
