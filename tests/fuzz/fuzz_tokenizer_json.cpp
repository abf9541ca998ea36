#include "fuzz.h"
#include "text/pipeline_json.h"
#include "text/tokenizer_files.h"

using namespace faceter;

namespace {

void use(const Tokenizer& tokenizer, std::string_view text) {
    std::vector<std::int32_t> whole, cut;
    tokenizer.encode(text, 0, whole);
    const std::size_t length = tokenizer.num_special() + 3;
    tokenizer.encode(text, length, cut);
    FUZZ_CHECK(cut.size() == std::min(whole.size(), length));
}

void use_all(const Tokenizer& tokenizer, std::string_view input) {
    for (const std::string_view sample :
         {"unaffable [MASK] Caf\xC3\xA9 \xE4\xB8\xAD", "", "\xFF\xE2\x80 a  b <x>", "it's \xEF\xBC\xA1\xCC\x81\r\n 12"})
        use(tokenizer, sample);
    use(tokenizer, input);
    FUZZ_CHECK(tokenizer.fingerprint().size() == 32);
}

}  // namespace

/// The input is a tokenizer.json; the tokenizer it makes encodes a few texts and the input itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        if (tokenizer_json_kind(text, "input") == "WordPiece")
            return use_all(WordPieceTokenizer(parse_wordpiece_json(text, "input"), "input"), text);
        use_all(PipelineTokenizer(parse_pipeline_json(text, "input")), text);
    });
}
