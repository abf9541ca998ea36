#pragma once
#include <memory>

#include "compare/lineage.h"
#include "compare/run_difference.h"
#include "store/store.h"

namespace faceter::desktop {

/// What the page draws.
struct LineageData {
    Lineage lineage;
    LineageForest forest;
    LineageLayout layout;
    std::size_t runs = 0;  ///< that it shows; a lineage has models besides
};
using LineageDataPtr = std::shared_ptr<const LineageData>;

/// What is around these runs. On the store thread.
LineageDataPtr loadLineage(Store& store, const std::filesystem::path& project, const std::set<std::string>& runs);
/// Null where one of them is gone. On the store thread.
std::shared_ptr<const RunDifference> loadDifference(Store& store, const std::filesystem::path& project, const std::string& before,
                                                    const std::string& after);

}  // namespace faceter::desktop
