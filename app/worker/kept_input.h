#pragma once
#include <string>

#include "common/error.h"
#include "common/file.h"

namespace faceter::worker {

/// What a command reads it does not replace: texts are worth more than what is made of them, which can be made again. Links are followed.
/// Usage error where both are one file.
inline void keep_input(const std::string& input, const std::string& output) {
    std::error_code ignored;
    if (fs::is_regular_file(output, ignored) && fs::equivalent(output, input, ignored))
        throw usage_error("--output {}: is a file that this command reads, which would be replaced; give another", output);
}

}  // namespace faceter::worker
