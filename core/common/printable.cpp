#include "common/printable.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <atomic>

#include "common/strings.h"
#include "common/terminal_controls.h"

namespace faceter {

bool is_terminal_control(std::int32_t c) {
    const bool turns = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
    return turns || c == 0x2028 || c == 0x2029 || u_charType(c) == U_CONTROL_CHAR;
}

std::string printable(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        UChar32 c = 0;
        U8_NEXT_OR_FFFD(reinterpret_cast<const uint8_t*>(text.data()), at, text.size(), c);
        if (c == '\n' || c == '\r' || c == '\t' || c == 0x2028 || c == 0x2029)
            out += ' ';
        else if (c == 0xFFFD || is_terminal_control(c))
            out += "\uFFFD";
        else
            out += text.substr(begin, at - begin);
    }
    return out;
}

std::string printable_lines(std::string_view text) {
    std::string out;
    for (const std::string_view line : split(text, '\n')) out += printable(line) + '\n';
    out.pop_back();
    return out;
}

namespace {

constexpr std::string_view from_the_beginning = "\r\033[K";  // what a line of progress is drawn behind (progress.h)

/// A line of progress stands unfinished on the terminal; other text does not go on in it.
std::atomic<bool> progress_stands{false};

void put_error(std::string_view text) {
    const bool is_progress = text.starts_with(from_the_beginning);
    const bool stands = is_progress && text.size() > from_the_beginning.size() && !text.ends_with('\n');
    if (progress_stands.exchange(stands) && !is_progress) std::fwrite(from_the_beginning.data(), 1, from_the_beginning.size(), stderr);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void put(std::FILE* stream, std::string_view text) {
    if (stream == stderr)
        put_error(text);
    else
        fmt::print(stream, "{}", text);
}

}  // namespace faceter
