#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "figure/escape.h"
#include "figure/text_width.h"
#include "fuzz.h"
#include "text/graphemes.h"
#include "text/utf8.h"

using namespace faceter;

namespace {

/// Nothing that a terminal takes for a command: C0 and C1 controls, turned directions.
void check_quiet(std::string_view text, bool with_lines) {
    FUZZ_CHECK(is_valid_utf8(text));
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        FUZZ_CHECK((c >= 0x20 && c != 0x7F) || (with_lines && c == '\n'));
        FUZZ_CHECK(c != 0xC2 || static_cast<unsigned char>(text[i + 1]) >= 0xA0);
        FUZZ_CHECK(!text.substr(i).starts_with("\u202E") && !text.substr(i).starts_with("\u2066"));
    }
}

void check_widths(const std::string& text) {
    for (const int width : {1, 7, 40}) {
        FUZZ_CHECK(display_width(shorten(text, width)) <= width);
        FUZZ_CHECK(is_valid_utf8(shorten(text, width)));
        for (const std::string& line : wrap(text, width)) FUZZ_CHECK(is_valid_utf8(line) && (width < 2 || display_width(line) <= width));
    }
}

void check_graphemes(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = grapheme_length(text);
        FUZZ_CHECK(length >= 1 && length <= text.size());
        text.remove_prefix(length);
    }
}

/// What a field says stays in it.
void check_fields(std::string_view text) {
    FUZZ_CHECK(escape_xml(text).find_first_of("<>\"") == std::string::npos && is_valid_utf8(escape_xml(text)));
    FUZZ_CHECK(escape_tsv(text).find_first_of("\t\n\r") == std::string::npos);
    FUZZ_CHECK(escape_markdown(text).find_first_of("\n\r") == std::string::npos);
    const std::string field = escape_csv(text);
    const bool in_quotes = field.size() >= 2 && field.front() == '"' && field.back() == '"';
    FUZZ_CHECK(in_quotes || field.find_first_of(",\"\n\r") == std::string::npos);
    for (const std::string& cell : {in_quotes ? field.substr(1) : field, escape_tsv(text)})
        FUZZ_CHECK(cell.empty() || std::string_view("=+-@").find(cell.front()) == std::string_view::npos || parse_double(cell));
    const std::string latex = escape_latex(text);
    FUZZ_CHECK(latex.find("\\input") == std::string::npos && latex.find("\\write") == std::string::npos);
}

}  // namespace

/// Any text from outside on its way to a terminal, a page or a table.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        check_quiet(printable(text), false);
        check_quiet(printable_lines(text), true);
        check_quiet(printable(quoted(text)), false);
        const std::string valid = replace_invalid_utf8(text);
        check_widths(valid);
        check_graphemes(valid);
        check_fields(text);
    });
}
