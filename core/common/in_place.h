#pragma once
#include "common/file.h"

namespace faceter {

/// Throws where a part of a run is not there any more: the run was moved or removed while it is at work. What would be written from here on
/// would lie in a new folder at the old place, and the record would say of the moved run that it is whole.
void check_in_place(const fs::path& part);

}  // namespace faceter
