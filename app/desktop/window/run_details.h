#pragma once
#include "store/store.h"

namespace faceter::desktop {

/// What the inspector shows of a run beyond its row.
struct RunDetails {
    Json settings;
    ModelCost cost;
    Json machine;                       ///< of the newest attempt
    std::vector<std::string> warnings;  ///< the run's own, in order
    std::string best;                   ///< "retrieval 61.20 · clustering 41.00": means by task type
};

RunDetails readRunDetails(Store& store, const std::filesystem::path& project, const std::string& run);

}  // namespace faceter::desktop
