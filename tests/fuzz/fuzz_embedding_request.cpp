#include "fuzz.h"
#include "serve/embedding_request.h"

using namespace faceter;
using namespace faceter::worker;

namespace {

/// Texts or ids, never both, none without any, and no more than a request may have.
void check(const EmbeddingRequest& request, const ApiLimits& limits) {
    FUZZ_CHECK(request.texts.empty() != request.ids.empty());
    FUZZ_CHECK(request.texts.size() <= limits.texts && request.ids.size() <= limits.texts);
    for (const auto& ids : request.ids) {
        FUZZ_CHECK(!ids.empty());
        for (const std::int32_t id : ids) FUZZ_CHECK(id >= 0);
    }
    FUZZ_CHECK(!request.dimensions || *request.dimensions >= 1);
}

template <typename Read>
void read(const Read& reader, std::string_view body) {
    constexpr ApiLimits limits{4};
    try {
        check(reader(body, limits), limits);
    } catch (const Refused& refused) {
        FUZZ_CHECK(refused.status == 400 || refused.status == 413);
    }
}

}  // namespace

/// The body of a request to the embedding server, in both of its forms: the first byte says which.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        if (text.empty()) return;
        text.front() == 'o' ? read(read_openai_request, text.substr(1)) : read(read_tei_request, text.substr(1));
    });
}
