#include "experiment/manifest.h"
#include "fuzz.h"

using namespace faceter;

/// What a plugin says of itself: what is taken is written and read as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        const Manifest manifest = manifest_from_json(parse_json(text, "input.json"), "input.json");
        const Json json = manifest_to_json(manifest);
        FUZZ_CHECK(manifest_to_json(manifest_from_json(json, "copy")) == json);
    });
}
