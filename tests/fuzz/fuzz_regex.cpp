#include "fuzz.h"
#include "text/regex.h"
#include "text/utf8.h"

using namespace faceter;

/// A pattern, and behind a zero byte a text: matches lie in the text, in order, on the borders of characters.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view input) {
        const std::size_t border = std::min(input.find('\0'), input.size());
        const std::string pattern = replace_invalid_utf8(input.substr(0, border));
        const std::string text = replace_invalid_utf8(input.substr(std::min(border + 1, input.size())));
        const Regex regex(pattern, "input");
        Regex::Budget budget(text.size());
        std::size_t done = 0;
        regex.for_each_match(text, budget, [&](std::size_t begin, std::size_t end) {
            FUZZ_CHECK(begin >= done && end >= begin && end <= text.size());
            FUZZ_CHECK(begin == text.size() || (static_cast<unsigned char>(text[begin]) & 0xC0) != 0x80);
            done = end;
        });
    });
}
