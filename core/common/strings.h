#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

/// Numbers are read and written without the locale (QApplication sets it; under de_DE strtod("1.5") is 1).
std::optional<double> parse_double(std::string_view text);
std::optional<std::int64_t> parse_int(std::string_view text);
/// The shortest text that reads back as the same double.
std::string format_double(double value);

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string lowercase_ascii(std::string_view text);
/// True where the bytes are well-formed UTF-8.
bool is_valid_utf8(std::string_view text);
/// Text for a one-line message: control characters escaped, cut to `max_chars` bytes at a character's border.
std::string quoted(std::string_view text, std::size_t max_chars = 80);

/// The candidate nearest to `word` by edit distance (transpositions count one), or nothing where none is near.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);
/// "; did you mean 'x'? (known: a, b, c)", for messages about unknown names.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// "2 min 14 s", "1 h 03 min", "0.8 s".
std::string format_duration(double seconds);
/// "1.4 GiB".
std::string format_bytes(std::uint64_t bytes);
/// ISO 8601, UTC, with milliseconds.
std::string utc_now();

}  // namespace faceter
