#pragma once

namespace faceter {

/// Why a checkpoint's place in the data cannot be gone on from, and what to do.
inline constexpr const char* other_data =
    "the training data is not what the run began with; put it back as it was, or begin anew with what is there now (faceter rerun)";

}  // namespace faceter
