#include "common/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "common/printable.h"
#include "common/strings.h"

namespace faceter {

bool is_terminal(std::FILE* stream) {
    const char* term = std::getenv("TERM");
    return ::isatty(::fileno(stream)) && !(term && std::strcmp(term, "dumb") == 0);
}

bool use_colour(std::FILE* stream) { return is_terminal(stream) && !std::getenv("NO_COLOR"); }

int terminal_columns(std::FILE* stream, int fallback) {
    constexpr int least = 20, most = 10'000;
    if (const char* set = std::getenv("COLUMNS")) {
        int columns = 0;
        const auto [end, error] = std::from_chars(set, set + std::strlen(set), columns);
        if (error == std::errc() && *end == '\0' && columns >= least && columns <= most) return columns;
    }
    winsize size{};
    return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? std::max<int>(least, size.ws_col) : fallback;
}

ProgressLine::ProgressLine(std::string what, std::uint64_t total, std::string_view unit)
    : what_(std::move(what)), unit_(unit), total_(total), start_(std::chrono::steady_clock::now()), terminal_(is_terminal(stderr)) {}

ProgressLine::~ProgressLine() {
    if (!finished_ && terminal_) put(stderr, "\r\033[K");
}

void ProgressLine::start_at(std::uint64_t done) {
    first_ = done_ = done;
    start_ = std::chrono::steady_clock::now();
}

void ProgressLine::update(std::uint64_t done, std::string_view note) {
    done_ = done;
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    draw(false, note);
}

void ProgressLine::show(std::uint64_t done, std::string_view note) {
    drawn_ = {};
    update(done, note);
}

void ProgressLine::finish(std::string_view note) {
    if (finished_) return;
    finished_ = true;
    draw(true, note);
}

namespace {

/// At most `columns` characters, none of them in part.
std::string_view first_characters(std::string_view line, std::size_t columns) {
    std::size_t characters = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const bool begins = (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80;
        if (begins && ++characters > columns) return line.substr(0, at);
    }
    return line;
}

}  // namespace

void ProgressLine::draw(bool last, std::string_view note) {
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double rate = elapsed > 0 ? static_cast<double>(done_ - first_) / elapsed : 0;
    std::string line =
        total_ > 0 ? fmt::format("{}  {}/{} {}", what_, done_, total_, unit_) : fmt::format("{}  {} {}", what_, done_, unit_);
    if (rate > 0) line += rate >= 10 ? fmt::format("  {:.0f}/s", rate) : fmt::format("  {:.2f}/s", rate);
    if (last)
        line += "  in " + format_duration(elapsed);
    else if (rate > 0 && total_ > done_)
        line += "  " + format_duration(static_cast<double>(total_ - done_) / rate) + " left";
    if (!note.empty()) line += fmt::format("  {}", note);
    line = printable(line);
    if (terminal_) {
        // What is wider than a cell each is cut by the terminal: a line that wraps would not be drawn over.
        const std::string_view shown = first_characters(line, static_cast<std::size_t>(terminal_columns(stderr)) - 1);
        put(stderr, fmt::format("\r\033[K\033[?7l{}\033[?7h{}", shown, last ? "\n" : ""));
    } else if (last) {
        put(stderr, line + "\n");
    }
    std::fflush(stderr);
}

}  // namespace faceter
