#pragma once
#include <string>
#include <vector>

#include "data/folder_layout.h"

namespace faceter {

// Languages or other parts of one data set, as MTEB has them: each a sub-folder in the set's layout, or told apart by a member of the
// records. Each is scored by itself.

/// One part: its name and what is read for it.
struct SubsetPlace {
    std::string name;
    fs::path folder;
    bool by_record = false;  ///< the records of `folder` whose member "subset", "lang" or "language" is the name
};

/// The parts of the data set in a folder, by name; empty where it has none. A data error where sub-folders are data sets of different
/// kinds.
std::vector<SubsetPlace> find_subsets(const FolderContext& context);
/// Those that the entry asks for, or all. A data error names one that is not there.
std::vector<SubsetPlace> choose_subsets(const FolderContext& context, std::vector<SubsetPlace> all);

/// The subset that a record says it belongs to; empty: none, it belongs to all.
std::string_view subset_of(const Record& record);

}  // namespace faceter
