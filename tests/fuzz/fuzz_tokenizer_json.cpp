#include "fuzz.h"
#include "text/tokenizer_files.h"

using namespace faceter;

namespace {

void use(const WordPieceTokenizer& tokenizer, std::string_view text) {
    std::vector<std::int32_t> whole, cut;
    tokenizer.encode(text, 0, whole);
    const std::size_t length = tokenizer.num_special() + 3;
    tokenizer.encode(text, length, cut);
    FUZZ_CHECK(cut.size() == std::min(whole.size(), length));
}

}  // namespace

/// The input is a tokenizer.json; the tokenizer it makes encodes a few texts and the input itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        if (tokenizer_json_kind(text, "input") != "WordPiece") return;
        const WordPieceTokenizer tokenizer(parse_wordpiece_json(text, "input"), "input");
        for (const std::string_view sample : {"unaffable [MASK] Caf\xC3\xA9 \xE4\xB8\xAD", "", "\xFF\xE2\x80 a  b <x>"})
            use(tokenizer, sample);
        use(tokenizer, text);
        FUZZ_CHECK(tokenizer.fingerprint().size() == 32);
    });
}
