#include "fuzz.h"
#include "launch/feed.h"

using namespace faceter;

/// What another machine sends of a run: frames do not depend on how their bytes arrive.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        FrameReader whole, pieces;
        whole.add(text);
        std::size_t frames = 0;
        while (const auto frame = whole.next()) {
            FUZZ_CHECK(frame->head.is_object());
            if (frame->head.contains("file") && frame->head["file"].is_string()) is_fed_file(frame->head["file"].get<std::string>());
            ++frames;
        }
        for (std::size_t at = 0; at < text.size(); ++at) {
            pieces.add(text.substr(at, 1));
            while (pieces.next()) --frames;
        }
        FUZZ_CHECK(frames == 0);
    });
}
