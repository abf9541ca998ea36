#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace faceter {

struct ChildResult {
    int exit_code = -1;      ///< 128 + signal where a signal ended it
    std::string output;      ///< standard output
    std::string last_lines;  ///< the end of standard error, at most 4 KiB
};

/// Runs a program without a shell: the arguments reach it as they are. Standard input is empty, LC_ALL is C.
/// A program that is not there gives exit code 127. Throws a data error where it runs longer than the limit or writes more than
/// `max_output` bytes (it is killed then, with what it started), and stops with exit code `stopped` on a stop request.
ChildResult run_child(const std::vector<std::string>& arguments, std::chrono::seconds time_limit, std::uint64_t max_output);

}  // namespace faceter
