#pragma once
#include "data/folder_layout.h"

namespace faceter {

/// Training examples a label in each draw of a classification set: what the entry says, else MTEB's own number for the set that the entry's
/// folder is named after (its name in MTEB, with or without "Classification" and a version, or that of its repository), else 8.
int examples_per_label(const FolderContext& context);

}  // namespace faceter
