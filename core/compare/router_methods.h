#pragma once
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter {

/// What the analysis router_study scores in a run of these settings (ResolvedRun::settings): routers, single gates, oracles, by the names
/// that its result has (plugins/router_retriever/study.cpp). Empty: the run has no gates, or not the analysis.
std::vector<std::string> router_methods(const Json& settings);

}  // namespace faceter
