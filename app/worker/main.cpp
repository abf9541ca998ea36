#include <cstdio>
#include <cstdlib>

#include "commands.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/file.h"
#include "figure/command_tree.h"
#include "figure/help_formatter.h"
#include "figure/usage_message.h"
#include "model/tensor_memory.h"

namespace faceter::worker {
namespace {

int run(int argc, char** argv) {
    use_frugal_memory();
    install_stop_handlers();
    // Help says what was typed: faceter starts this program under its own name.
    CLI::App app{"faceter-worker: trains, evaluates and embeds. Usually started by faceter.", fs::path(argv[0]).filename().string()};
    app.formatter(std::make_shared<HelpFormatter>());
    app.require_subcommand(1);
    int exit_code = 0;
    add_run(app, exit_code);
    add_embed(app, exit_code);
    add_evaluate(app, exit_code);
    add_export(app, exit_code);
    add_convert(app, exit_code);
    add_describe(app, exit_code);
    add_diagnose(app, exit_code);
    add_data(app, exit_code);
    add_memory(app, exit_code);
    add_router(app, exit_code);
    add_serve(app, exit_code);
    add_session(app, exit_code);
    app.add_subcommand("commands", "Print what these commands take, as JSON")->group("")->callback([&app] {
        fmt::print("{}\n", command_tree(app).dump());
    });
    try {
        parse_as_typed(app, argc, argv);
    } catch (const CLI::Success& asked_for_help) {
        return app.exit(asked_for_help);
    } catch (const CLI::ParseError& error) {
        throw usage_error("{}", usage_message(app, error));
    }
    return exit_code;
}

}  // namespace
}  // namespace faceter::worker

/// libtorch takes its registries apart for longer than a short text is embedded; the system takes all of it back at once.
int main(int argc, char** argv) {
    // What was typed stands in front of errors, too.
    const bool handed_on = argc > 0 && faceter::fs::path(argv[0]).filename() == "faceter";
    const int code = faceter::run_guarded(handed_on ? "faceter" : "faceter-worker", faceter::worker::run, argc, argv);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return code;  // they report at the end
#else
    std::fflush(nullptr);
    std::quick_exit(code);
#endif
}
