#include "fuzz.h"
#include "text/own_files.h"

using namespace faceter;

namespace {

void use(PipelineSettings settings) {
    const PipelineTokenizer tokenizer(std::move(settings));
    for (const std::string_view sample : {"the of <s> \xE2\x96\x81\xEF\xBC\xA1", "", "\xFF  aaaa bbb\n"}) {
        std::vector<std::int32_t> ids;
        tokenizer.encode(sample, 0, ids);
        for (const std::int32_t id : ids) FUZZ_CHECK(id >= 0 && std::size_t(id) < tokenizer.vocab_size());
    }
}

}  // namespace

/// The input is a .model file of sentencepiece; or, where it begins with a brace, a vocab.json, then (behind a zero byte) a merges.txt.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        if (!text.starts_with('{')) return use(read_sentencepiece_tokenizer(text, "spiece.model", {}));
        const std::size_t border = std::min(text.find('\0'), text.size());
        const std::string_view merges = text.substr(std::min(border + 1, text.size()));
        use(read_byte_level_tokenizer(text.substr(0, border), merges, "/nonexistent", {}));
    });
}
