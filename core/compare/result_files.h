#pragma once
#include <map>
#include <optional>
#include <string>

#include "record/run_directory.h"

namespace faceter {

/// A run's results that have a score, by the names of their data sets, as its folder has them. A score that is not a number (a correlation
/// of constants) is none; files that cannot be read are left out.
std::map<std::string, Json> scored_results(const RunDirectory& run);

/// The run of the untrained model that `run` began from: of its experiment and project, with scores and the same model, max_length,
/// precision and instructions (a sweep over one of these has several start models). Of several, one of the same evaluation data and
/// analyses, then one that is done, then the newest.
std::optional<RunDirectory> start_run_of(const RunDirectory& run);
/// False where both results say which data they are of, and these differ.
bool may_be_of_same_data(const Json& result, const Json& other);

}  // namespace faceter
