#pragma once
#include <string>
#include <vector>

#include "experiment/catalogue.h"
#include "record/run_directory.h"

namespace faceter {

/// BibTeX of the methods that these runs used: what resources/references has of their plugins, else an entry made of the plugin's citation;
/// each entry once. A plugin that is not installed here is left out.
std::string references_of(const std::vector<RunDirectory>& runs, const Catalogue& catalogue);

}  // namespace faceter
