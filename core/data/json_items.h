#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "data/input_stream.h"

namespace faceter {

/// The objects of a JSON file one after the other, never the whole file in memory: those of one array ("[{...}, {...}]", however it is
/// wrapped into lines), or objects that follow one another (JSON lines). Plain, gzip or zstd. What is between braces is not checked here.
class JsonItems {
  public:
    static constexpr std::size_t max_item_bytes = std::size_t(64) << 20;
    explicit JsonItems(const std::filesystem::path& path);
    /// The next object from its { to its }; valid until the next call, with LineReader::padding readable bytes behind it. Throws data
    /// errors with file:line: something else than an object, one without end, one that is too long.
    std::optional<std::string_view> next();
    /// Where the object begins that next() returned last.
    SourcePosition position() const { return {path_, item_line_, 0}; }

  private:
    bool refill();
    /// The next byte that is no blank, or none at the end.
    std::optional<char> skip_blanks();
    void begin();
    std::string_view take_object();

    std::string path_;
    std::unique_ptr<InputStream> input_;
    std::vector<char> buffer_;
    std::size_t at_ = 0, end_ = 0;  ///< unread bytes of the buffer
    std::size_t line_ = 1, item_line_ = 1;
    bool started_ = false, array_ = false, first_ = true, closed_ = false, at_end_ = false;
};

}  // namespace faceter
