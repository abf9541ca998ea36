#pragma once
#include "cli/commands.h"

namespace faceter::cli {

void add_plugin_commands(Cli& cli);  // plugin new

}  // namespace faceter::cli
