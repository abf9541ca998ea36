#include "fuzz.h"
#include "launch/slurm.h"

using namespace faceter;

namespace {

/// A value stays on its line and in its quotes, whatever the profile says.
void check_script(const Profile& profile) {
    const std::string script = slurm_script(profile, {"name", "/p", "/p/jobs/j", 2, "/bin/faceter", "/bin/faceter-worker"});
    for (const char c : script) FUZZ_CHECK(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace

/// A profile of the user's configuration, from which a script for a cluster is made.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        const Profile profile = parse_profile(text, "/config/input.yaml");
        FUZZ_CHECK(profile.kind == "slurm" || profile.kind == "ssh");
        if (profile.kind == "slurm") check_script(profile);
    });
}
