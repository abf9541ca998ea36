#include "figure/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "common/strings.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

/// Valid UTF-8 is the precondition of every sink; what is not becomes U+FFFD (as do other control characters).
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// Tables of values go to terminals as well: what begins an escape sequence there (C0, delete, C1) becomes U+FFFD; tabs and line breaks
/// stay.
std::string without_sequences(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_space = text[at] == '\t' || text[at] == '\n' || text[at] == '\r';
        const bool is_wide = text[at] == '\xC2' && at + 1 < text.size() && (text[at + 1] & 0xE0) == 0x80;
        if (is_wide || (is_control(text[at]) && !is_space)) {
            out += "\uFFFD";
            at += is_wide;
        } else {
            out += text[at];
        }
    }
    return out;
}

bool is_formula(std::string_view text) {
    return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos && !parse_double(text);
}

std::string_view latex_ascii(char c) {
    switch (c) {
        case '\\':
            return "\\textbackslash{}";
        case '{':
            return "\\{";
        case '}':
            return "\\}";
        case '$':
            return "\\$";
        case '&':
            return "\\&";
        case '#':
            return "\\#";
        case '%':
            return "\\%";
        case '_':
            return "\\_";
        case '^':
            return "\\textasciicircum{}";
        case '~':
            return "\\textasciitilde{}";
        case '<':
            return "\\textless{}";
        case '>':
            return "\\textgreater{}";
        case '|':
            return "\\textbar{}";
        case '"':
            return "\\textquotedbl{}";
        case '`':
            return "\\textasciigrave{}";
        case '[':
            return "{[}";  // a cell that begins with [ would be read as the optional argument of the \\ before it
        case ']':
            return "{]}";
        case '*':
            return "{*}";  // \\* is a command of its own
        default:
            return {};
    }
}

/// "--" would become a dash, ",," and "''" a quotation mark.
bool makes_ligature(const std::string& text, std::size_t at) {
    return at > 0 && text[at] == text[at - 1] && (text[at] == '-' || text[at] == ',' || text[at] == '\'');
}

/// Characters beyond Latin that LaTeX has in its text or mathematics fonts.
constexpr std::pair<char32_t, std::string_view> latex_symbols[] = {
    {0x00A0, "~"},           {0x00AD, "\\-"},        {0x2009, "\\,"},       {0x202F, "\\,"},       {0x2013, "--{}"},
    {0x2014, "---{}"},       {0x2018, "`{}"},        {0x2019, "'{}"},       {0x201C, "``{}"},      {0x201D, "''{}"},
    {0x2022, "$\\bullet$"},  {0x2026, "\\ldots{}"},  {0x2192, "$\\to$"},    {0x2190, "$\\gets$"},  {0x2212, "$-$"},
    {0x221E, "$\\infty$"},   {0x2264, "$\\leq$"},    {0x2265, "$\\geq$"},   {0x2260, "$\\neq$"},   {0x2248, "$\\approx$"},
    {0x03B1, "$\\alpha$"},   {0x03B2, "$\\beta$"},   {0x03B3, "$\\gamma$"}, {0x03B4, "$\\delta$"}, {0x03B5, "$\\varepsilon$"},
    {0x03BB, "$\\lambda$"},  {0x03BC, "$\\mu$"},     {0x03C0, "$\\pi$"},    {0x03C1, "$\\rho$"},   {0x03C3, "$\\sigma$"},
    {0x03C4, "$\\tau$"},     {0x03C6, "$\\varphi$"}, {0x0394, "$\\Delta$"}, {0x03A3, "$\\Sigma$"}, {0x03A9, "$\\Omega$"},
    {0x00D7, "$\\times$"},   {0x00B1, "$\\pm$"},     {0x00F7, "$\\div$"},   {0x00B5, "$\\mu$"},    {0x00AC, "$\\neg$"},
    {0x00B0, "$^{\\circ}$"}, {0x00B2, "$^{2}$"},     {0x00B3, "$^{3}$"},    {0x00B9, "$^{1}$"},    {0x00B7, "$\\cdot$"},
};

/// Letters of Latin-1 and the Czech, Polish, Hungarian, Romanian and Turkish ones, all in T1 fonts.
bool is_latin_letter(char32_t c) {
    constexpr std::array<std::pair<char32_t, char32_t>, 15> ranges{{{0xC0, 0xD6},
                                                                    {0xD8, 0xF6},
                                                                    {0xF8, 0xFF},
                                                                    {0x102, 0x107},
                                                                    {0x10C, 0x111},
                                                                    {0x118, 0x11B},
                                                                    {0x11E, 0x11F},
                                                                    {0x130, 0x131},
                                                                    {0x139, 0x13A},
                                                                    {0x141, 0x144},
                                                                    {0x147, 0x148},
                                                                    {0x150, 0x155},
                                                                    {0x158, 0x15B},
                                                                    {0x15E, 0x165},
                                                                    {0x16E, 0x171}}};
    if (c >= 0x178 && c <= 0x17E) return true;
    return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) { return c >= range.first && c <= range.second; });
}

char32_t decode(std::string_view bytes) {
    char32_t c = static_cast<unsigned char>(bytes[0]);
    if (bytes.size() > 1) c &= 0xFFu >> (bytes.size() + 1);
    for (std::size_t i = 1; i < bytes.size(); ++i) c = c << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3F);
    return c;
}

std::string latex_wide(std::string_view bytes) {
    const char32_t c = decode(bytes);
    for (const auto& [symbol, markup] : latex_symbols)
        if (symbol == c) return std::string(markup);
    if (is_latin_letter(c)) return std::string(bytes);
    return fmt::format("\\faceterunicode{{{:04X}}}{{{}}}", static_cast<std::uint32_t>(c), bytes);
}

std::size_t sequence_length(char first) {
    const auto c = static_cast<unsigned char>(first);
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/// Replaces single bytes of `text` by what `replacement` gives for them (empty: kept).
template <typename Replacement>
std::string replace_each(std::string_view text, Replacement replacement) {
    std::string out;
    for (const char c : text) {
        const std::string_view by = replacement(c);
        if (by.empty())
            out += c;
        else
            out += by;
    }
    return out;
}

}  // namespace

std::string escape_xml(std::string_view text) {
    return replace_each(printable(text), [](char c) -> std::string_view {
        switch (c) {
            case '&':
                return "&amp;";
            case '<':
                return "&lt;";
            case '>':
                return "&gt;";
            case '"':
                return "&quot;";
            case '\'':
                return "&#39;";
            default:
                return {};
        }
    });
}

std::string escape_latex(std::string_view text) {
    const std::string clean = printable(text);
    std::string out;
    for (std::size_t at = 0; at < clean.size();) {
        const std::size_t length = std::min(sequence_length(clean[at]), clean.size() - at);
        if (length > 1) {
            out += latex_wide(std::string_view(clean).substr(at, length));
        } else {
            const std::string_view markup = latex_ascii(clean[at]);
            if (makes_ligature(clean, at)) out += "{}";
            if (markup.empty())
                out += clean[at];
            else
                out += markup;
        }
        at += length;
    }
    return out;
}

std::string escape_csv(std::string_view text) {
    const std::string safe = (is_formula(text) ? "'" : "") + without_sequences(text);
    if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
    return '"' + replace_each(safe, [](char c) -> std::string_view { return c == '"' ? "\"\"" : ""; }) + '"';
}

std::string escape_tsv(std::string_view text) {
    // Spreadsheets take quotes round a field away, and then look for formulas.
    const std::string_view content = text.substr(std::min(text.find_first_not_of('"'), text.size()));
    return (is_formula(content) ? "'" : "") +
           replace_each(without_sequences(text), [](char c) -> std::string_view { return is_control(c) ? " " : ""; });
}

std::string escape_markdown(std::string_view text) {
    return replace_each(printable(text), [](char c) -> std::string_view {
        switch (c) {
            case '|':
                return "\\|";
            case '\\':
                return "\\\\";
            case '`':
                return "\\`";
            case '*':
                return "\\*";
            case '_':
                return "\\_";
            case '[':
                return "\\[";
            case ']':
                return "\\]";
            case '~':
                return "\\~";
            case '$':
                return "\\$";
            case '<':
                return "&lt;";
            case '&':
                return "&amp;";
            default:
                return {};
        }
    });
}

}  // namespace faceter
