#pragma once
#include "cli/commands.h"

namespace faceter::cli {

void add_doctor_command(Cli& cli);

}  // namespace faceter::cli
