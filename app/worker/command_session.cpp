#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "commands.h"
#include "common/error.h"
#include "model/accelerator.h"
#include "session/session_data.h"
#include "session/session_server.h"
#include "session/set_views.h"

namespace faceter::worker {
namespace {

/// A copy of standard output that only the session writes to; descriptor 1 becomes standard error, since libraries print there.
int private_output() {
    const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        throw failure("session: cannot duplicate standard output: {}", errno_text(errno));
    return output;
}

int serve() {
    std::signal(SIGPIPE, SIG_IGN);
    open_accelerators();  // an estimate may choose one behind requests that used the CPU
    const auto data = std::make_shared<SessionData>();
    const auto with_data = [data](auto body) {
        return [data, body](const Json& params, Request& request) { return body(params, *data, request); };
    };
    SessionServer server(STDIN_FILENO, private_output(),
                         {{"preview", with_data(preview)},
                          {"estimate", with_data(estimate)},
                          {"embed", with_data(embed)},
                          {"example_texts", with_data(example_texts)},
                          {"batch_examples", with_data(batch_examples)},
                          {"planned_order", with_data(planned_order)},
                          {"data_set", with_data(data_set)},
                          {"data_examples", with_data(data_examples)},
                          {"data_lengths", with_data(data_lengths)},
                          {"data_duplicates", with_data(data_duplicates)},
                          {"data_overlap", with_data(data_overlap)},
                          {"corpus", with_data(corpus)},
                          {"neighbours", with_data(neighbours)},
                          {"map", with_data(map)},
                          {"token_experts", with_data(token_experts)},
                          {"route", with_data(route)},
                          {"change_router", with_data(change_router)}});
    return server.serve();
}

}  // namespace

void add_session(CLI::App& app, int& exit_code) {
    auto* command = app.add_subcommand(
        "session",
        "Answer requests as JSON lines on standard input and output (data preview, estimate, embedding, search); for the workbench.");
    command->footer(
        "Example:\n  echo '{\"id\": 1, \"method\": \"embed\", \"params\": {\"model\": \"minilm\", \"texts\": [\"a text\"]}}' | "
        "faceter-worker session");
    command->callback([&exit_code] { exit_code = serve(); });
}

}  // namespace faceter::worker
