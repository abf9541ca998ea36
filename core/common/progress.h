#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace faceter {

/// One line of progress on standard error: what, done/total, rate, time left, and a free note. Drawn in place and at most ten times a
/// second on a terminal; elsewhere nothing is printed but the closing line.
class ProgressLine {
  public:
    ProgressLine(std::string what, std::uint64_t total, std::string_view unit);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    void update(std::uint64_t done, std::string_view note = {});
    /// As update(), drawn at once: for a stage that may be long in ending, whose note must not be the one before it.
    void show(std::uint64_t done, std::string_view note);
    void finish(std::string_view note = {});
    /// Starts counting the rate from `done` (after a resume, what was done before has no part in it).
    void start_at(std::uint64_t done);

  private:
    void draw(bool last, std::string_view note);
    std::string what_;
    std::string unit_;
    std::uint64_t total_, done_ = 0, first_ = 0;
    std::chrono::steady_clock::time_point start_, drawn_;
    bool terminal_, finished_ = false;
};

/// True where standard error (or the given stream) is a terminal and NO_COLOR / TERM=dumb do not speak against it.
bool is_terminal(std::FILE* stream);
bool use_colour(std::FILE* stream);
/// Columns of the stream's terminal: COLUMNS where it is set, else what the terminal says, else (a file, a pipe) the fallback.
int terminal_columns(std::FILE* stream, int fallback = 100);

}  // namespace faceter
