#include "fuzz.h"
#include "settings/yaml.h"

using namespace faceter;

/// A settings file: what is read, written and read again is the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        const Json json = yaml_to_json(parse_yaml(text, "input.yaml"));
        if (!json.is_object() || json.empty()) return;
        const std::string written = to_yaml(json);
        FUZZ_CHECK(yaml_to_json(parse_yaml(written, "written.yaml", {64u << 20, 1'000'000, 128})) == json);
    });
}
