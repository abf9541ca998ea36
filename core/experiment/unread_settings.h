#pragma once
#include <string>
#include <vector>

#include "experiment/catalogue.h"
#include "experiment/experiment.h"

namespace faceter {

/// What is worth a warning: settings that are not as by default and change nothing, because another setting stands in their way, in every
/// run of the experiment that has them (a sweep may hold both against each other); analyses of core that have nothing to look at.
std::vector<std::string> unread_settings(const Experiment& experiment, const Catalogue& catalogue);

}  // namespace faceter
