#pragma once
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter {

enum class FindingState {
    fine,
    alarm,    ///< beyond the threshold
    unknown,  ///< could not be measured; `says` tells why
};
std::string_view finding_state_name(FindingState state);

/// One thing that a diagnosis looked at.
struct Finding {
    std::string check;    ///< identifier: "texts_cut", "movement" ...
    std::string subject;  ///< of what: "retrieval, query side", "adapter pairs"; empty: the run
    FindingState state = FindingState::fine;
    double value = 0, threshold = 0;
    std::string says;    ///< what was measured, one sentence with its number
    std::string reason;  ///< why the threshold is where it is
    std::string advice;  ///< what to do about an alarm, one sentence
    Json details = Json::object();
    Json to_json() const;
};

/// What was looked at in a run; alarms first, else in the order of the checks.
struct Diagnosis {
    std::string run;
    std::vector<Finding> findings;
    void add(std::vector<Finding> more);
    void sort();
    std::size_t count(FindingState state) const;
    Json to_json() const;
    /// Alarms with reason and advice, then a line for each other finding; of many of one check and task, the one nearest to its threshold.
    std::string to_text() const;
};

}  // namespace faceter
