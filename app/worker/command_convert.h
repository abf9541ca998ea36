#pragma once
#include <CLI/CLI.hpp>

namespace faceter::worker {

/// Like the commands of commands.h: adds `convert` to the parser.
void add_convert(CLI::App& app, int& exit_code);

}  // namespace faceter::worker
