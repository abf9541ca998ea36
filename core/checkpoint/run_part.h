#pragma once
#include <filesystem>

namespace faceter {

/// RUN/gates/NAME means what lies in the model of a run's folder, RUN/model/gates/NAME; any other path is given back as it is.
std::filesystem::path part_of_run(const std::filesystem::path& path);

}  // namespace faceter
