#include "common/untrusted_json.h"
#include "fuzz.h"

using namespace faceter;

/// A document in JSON, as everything that is not data is read: the two readers agree, and what they give can be copied and written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        const Json untrusted = parse_untrusted_json(text);
        const Json copy = untrusted;
        if (!untrusted.is_discarded())
            FUZZ_CHECK(parse_json(copy.dump(-1, ' ', false, Json::error_handler_t::replace), "copy") == untrusted);
        parse_json(text, "input");
        FUZZ_CHECK(!untrusted.is_discarded());
    });
}
