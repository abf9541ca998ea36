#include "common/strings.h"
#include "fuzz.h"
#include "launch/slurm.h"

using namespace faceter;

/// Lines of squeue and sacct.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        for (const std::string_view line : split(text, '\n'))
            if (const auto state = parse_job_line(line)) FUZZ_CHECK(!state->job.empty());
    });
}
