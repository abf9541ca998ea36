#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "data/line_reader.h"
#include "data/record_reader.h"

namespace faceter {

/// The texts of a command's INPUT: a text a line (.txt and anything else) or JSON lines with "text" (.jsonl, .ndjson, .json; a file that is
/// one array is refused), also .gz and .zst; "-" is standard input. In chunks, so that memory does not grow with the file. Blank lines of a
/// text file are (empty) texts; those of JSON lines are none.
class TextChunks {
  public:
    explicit TextChunks(const std::string& input, bool jsonl = false);
    /// Reads the next chunk; false at the end. A data error (file:line) where a record has no "text", or a line is not UTF-8.
    bool next();
    /// Views into the current chunk.
    std::vector<std::string_view> texts() const;

  private:
    std::string_view text_of(std::string_view line);
    LineReader reader_;
    JsonLineParser parser_;
    Record record_;
    std::string bytes_;
    std::vector<std::size_t> ends_;
    bool jsonl_;
};

}  // namespace faceter
