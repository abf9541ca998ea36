#pragma once
#include "common/file.h"
#include "common/json.h"

namespace faceter::worker {

/// Writes the token caches that the first attempts of runs would make, of their training data as they are read. `runs`: a list of resolved
/// settings, whose paths are absolute.
void write_token_caches(const Json& runs, const fs::path& folder);

}  // namespace faceter::worker
