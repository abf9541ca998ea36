#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/strings.h"

namespace faceter::worker {

/// As CLI::Range, which lets nan pass.
inline CLI::Validator finite_range(double least, double most) {
    return CLI::Validator(
        [least, most](std::string& text) {
            const auto number = parse_double(text);
            if (!number) return fmt::format("{} is no number", faceter::quoted(text));
            return *number >= least && *number <= most ? std::string()
                                                       : fmt::format("Value {} not in range {} to {}", faceter::quoted(text), least, most);
        },
        fmt::format("FLOAT in [{} - {}]", least, most));
}

}  // namespace faceter::worker
