#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace faceter::cli {

struct Machine {
    std::string processor;
    int cores = 0;
    std::vector<std::string> vector_instructions;
    std::uint64_t memory_bytes = 0, memory_available_bytes = 0;
    std::vector<std::string> gpus;   ///< model names that the NVIDIA driver reports
    std::string torch;               ///< path of libtorch_cpu.so; empty: not found
};

/// From /proc and the environment; starts no program and loads no library.
Machine this_machine();

}  // namespace faceter::cli
