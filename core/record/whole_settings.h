#pragma once
#include "record/run_directory.h"

namespace faceter {

/// The settings of a run that is to be worked with, not only listed. A data error names run.json and the member where one is missing or of
/// another kind that every run of an experiment has: the file was edited, or is a stranger's.
const Json& whole_settings(const RunDirectory& run);

}  // namespace faceter
