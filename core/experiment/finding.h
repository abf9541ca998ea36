#pragma once
#include <functional>
#include <string>
#include <vector>

#include "experiment/catalogue.h"

namespace faceter {

/// Something that keeps an installation or a project from working, and what mends it (`faceter doctor`).
struct DoctorFinding {
    std::string what;            ///< a sentence
    std::string command;         ///< for a POSIX shell, by somebody who wants it mended; empty where no command does it
    std::function<void()> mend;  ///< the same by `faceter doctor --fix`: only what loses nothing. Empty: somebody has to decide
};

/// What brings CUDA to the libtorch at this path: `faceter setup` fills the one of the cache alone.
std::string command_for_cuda(const fs::path& torch);

/// Plugins that were refused, a program or libtorch or a start model that is missing, a GPU without the libraries for it. Mends what
/// packaging/setup.sh fetches into the cache; what that says goes to standard error.
std::vector<DoctorFinding> find_in_installation(const Catalogue& catalogue);

}  // namespace faceter
