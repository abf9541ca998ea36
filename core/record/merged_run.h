#pragma once
#include <string>
#include <vector>

#include "record/run_directory.h"

namespace faceter {

/// What `faceter merge` asks for.
struct MergeRequest {
    std::vector<RunDirectory> parents;
    std::string how = "mean";  ///< mean, soup, task_arithmetic
    double weight = 1;         ///< of task_arithmetic
    bool fold_experts = false;
    std::string name;  ///< of the variant; empty: merged-HOW
};

/// The record of the run that merges them (variant merged): the first one's settings, with all parents named. Errors (usage): one has no
/// finished model, or models that cannot be merged, with the reason: another start model, other tensors, adapters or a router of gates,
/// task experts of other instructions, none to fold, a soup without validation data, task arithmetic on a merged run whose own parents are
/// gone and needed.
RunInfo merged_run(const MergeRequest& request);

/// Folder of the first of the runs that a merged run was made of: as recorded, or of the same name beside it.
fs::path first_parent_of(const RunDirectory& merged);

}  // namespace faceter
