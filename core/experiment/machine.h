#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "experiment/catalogue.h"

namespace faceter {

struct Machine {
    std::string processor;
    int cores = 0;
    std::vector<std::string> vector_instructions;
    std::uint64_t memory_bytes = 0, memory_available_bytes = 0;
    std::vector<std::string> gpus;  ///< model names that the NVIDIA driver reports
    std::string torch;              ///< path of libtorch_cpu.so; empty: not found
};

/// From /proc and the environment; starts no program and loads no library.
Machine this_machine();
/// Cores that this process may use (taskset, containers and batch systems give fewer than the machine has).
int usable_cores();

/// What this installation can do, for `faceter doctor` and the desktop's start page: version, the machine's members, "libtorch", "cache",
/// "plugin_folders", "plugins", and "problems": sentences, each of something that keeps a part from working.
Json examine_installation(const Catalogue& catalogue);

/// A file that comes with Faceter ("experiments/quickstart.yaml"): from FACETER_DATA_DIR, from PREFIX/share/faceter beside an installed
/// program, or from the source tree of a program in its build folder. A failure naming these places where it is in none.
fs::path shared_resource(std::string_view relative);

/// FACETER_WORKER, else faceter-worker in the folder of this program. A failure where there is none.
fs::path worker_program();

}  // namespace faceter
