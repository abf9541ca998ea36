#pragma once
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter {

/// What keeps a result in a run's folder, in a file that is called after it.
struct ResultOwner {
    std::string where;  ///< "evaluation.datasets[1]"
    std::string name;   ///< "STS/B"
};

/// The data sets of a run's evaluation (ResolvedRun::settings), in their order, then its analyses and what is measured of the model.
std::vector<ResultOwner> result_owners(const Json& settings);
/// What the results of an analysis are called: "method", where the experiment asks for it again "method-2" ...
std::string analysis_result_name(const std::string& method, int time);

/// Two owners with one file: the second's result would stand in place of the first's, or never be computed.
struct NameMeeting {
    std::size_t first = 0, second = 0;  ///< indices of owners
    std::string message;                ///< which they are, and what to do
};
/// Every owner that meets one before it.
std::vector<NameMeeting> meeting_names(const std::vector<ResultOwner>& owners);

}  // namespace faceter
