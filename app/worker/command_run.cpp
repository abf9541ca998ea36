#include "commands.h"
#include "run_session.h"

namespace faceter::worker {

void add_run(CLI::App& app, int& exit_code) {
    auto* command = app.add_subcommand("run", "Train and score the run of a run directory; continues where an earlier attempt stopped.");
    const auto folder = std::make_shared<std::string>();
    command->add_option("RUNDIR", *folder, "The run directory, such as my-project/runs/quickstart-mote-s1-...")->required();
    command->callback([=, &exit_code] { exit_code = RunSession(absolute_path(*folder)).execute(); });
}

}  // namespace faceter::worker
