#pragma once
#include <map>
#include <optional>
#include <string>

#include "record/run_directory.h"

namespace faceter {

/// A run's results that have a score, by the names of their data sets, as its folder has them. A score that is not a number (a correlation
/// of constants) is none; files that cannot be read are left out.
std::map<std::string, Json> scored_results(const RunDirectory& run);

/// The run of the untrained model that `run` began from: the newest of its experiment and project that has scores and whose model,
/// max_length and instructions are the same. A sweep over one of these has several start models.
std::optional<RunDirectory> start_run_of(const RunDirectory& run);
/// False where both results say which data they are of, and these differ.
bool may_be_of_same_data(const Json& result, const Json& other);

}  // namespace faceter
