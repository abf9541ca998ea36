#pragma once
#include "data/sources.h"

namespace faceter {

/// What a data entry is read for.
enum class DataUse { training, evaluation, texts };

/// What loading a data entry of source folder would say of a folder that is none, that holds no data set in a known layout, or that lacks
/// a file of it: its split, its corpus. Of its records only one is looked at, where the layout shows by it.
void require_folder_files(const DataRequest& request, DataUse use);

}  // namespace faceter
