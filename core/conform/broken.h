#pragma once
#include <string>

namespace faceter::conform {

/// A law does not hold: what was seen, and the command that shows it.
struct Broken {
    std::string what, command;
};

}  // namespace faceter::conform
