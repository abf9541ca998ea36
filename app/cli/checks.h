#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace faceter::cli {

// What CLI11 lets pass: it takes -1 for 18446744073709551615, 010 for 8, what is too large for the largest number, and nan for one that
// lies within any range.

/// A whole number in this range. For ->transform(): the option gets it in the form that CLI11 reads as people do.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// A finite number in this range.
CLI::Validator finite_number(double least, double most = std::numeric_limits<double>::max());
/// An empty word is a variable of the shell that was never set, not a wish for the default.
CLI::Validator not_empty();

/// Of a file that is written at the end of long work: error now, not then, where it is a folder, or its own is missing or cannot be
/// written.
void check_can_write(const std::string& file);

}  // namespace faceter::cli
