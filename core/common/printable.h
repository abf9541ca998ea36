#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace faceter {

// What goes to a terminal or a log, whatever files, other machines and models say: the escape of those sinks.

/// One line: control characters (escape sequences, line breaks) and bidirectional overrides replaced, so that a name cannot take over the
/// terminal; bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);
/// The same, but line breaks stay: a message of several lines, a log.
std::string printable_lines(std::string_view text);
/// What standard error cannot take (a log on a full disk) is lost: nothing fails because it could not be said. Others throw.
void put(std::FILE* stream, std::string_view text);
/// Prints a message through printable_lines().
template <typename... Args>
void say(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
    put(stream, printable_lines(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace faceter
