#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "data/input_stream.h"

namespace faceter {

/// Lines of a plain, gzip or zstd file, one after the other through one buffer. "\n" and "\r\n" end a line, a byte order mark in front is
/// left out, and a last line without an end is a line. Throws data errors with file:line (over-long lines, zero bytes, damaged
/// compression).
class LineReader {
  public:
    static constexpr std::size_t max_line_bytes = std::size_t(64) << 20;
    /// So many bytes after each returned line may be read (their content is undefined): simdjson asks for it.
    static constexpr std::size_t padding = 64;

    explicit LineReader(const std::filesystem::path& path, std::size_t max_line = max_line_bytes, ExpansionLimit limit = {});
    /// The next line without its end; valid until the next call.
    std::optional<std::string_view> next();
    /// Number of the line that next() returned last, from 1.
    std::size_t line_number() const { return line_number_; }
    SourcePosition position() const { return {path_, line_number_, 0}; }

  private:
    bool refill();
    std::string_view take_line(std::size_t length, std::size_t end_bytes);
    void skip_byte_order_mark();

    std::string path_;
    std::size_t max_line_;
    std::unique_ptr<InputStream> input_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;  ///< unread bytes of the buffer
    std::size_t line_number_ = 0;
    bool at_end_ = false;
};

}  // namespace faceter
