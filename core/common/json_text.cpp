#include "common/json_text.h"

#include <fmt/format.h>
#include <unicode/utf8.h>

#include <algorithm>

#include "common/terminal_controls.h"

namespace faceter {

std::string json_text(const Json& json, int indent) {
    const std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
    const auto is_plain = [](char c) { return static_cast<unsigned char>(c) < 0x7F; };
    if (std::all_of(text.begin(), text.end(), is_plain)) return text;
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        UChar32 c = 0;
        U8_NEXT_OR_FFFD(reinterpret_cast<const uint8_t*>(text.data()), at, text.size(), c);
        if (c >= 0x7F && is_terminal_control(c))
            out += fmt::format("\\u{:04x}", c);  // all of them are within four digits
        else
            out.append(text, begin, at - begin);
    }
    return out;
}

}  // namespace faceter
