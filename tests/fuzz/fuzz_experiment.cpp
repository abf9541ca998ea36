#include "fuzz.h"
#include "support/sample_runs.h"

using namespace faceter;

/// An experiment file: what is taken for right resolves to runs whose settings can be written and read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Catalogue catalogue = testing::sample_catalogue();
    return fuzz_one(data, size, [](std::string_view text) {
        const Experiment experiment = Experiment::parse(text, "/base/input.yaml", catalogue);
        FUZZ_CHECK(!experiment.runs().empty());
        for (const ResolvedRun& run : experiment.runs()) FUZZ_CHECK(!run.variant.empty() && run.settings.is_object());
    });
}
