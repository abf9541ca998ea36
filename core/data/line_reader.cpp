#include "data/line_reader.h"

#include <cstring>
#include <utility>

#include "common/strings.h"

namespace faceter {
namespace {

/// What a file is that is no text, and what to do; empty where its first bytes do not say it.
std::string_view kind_by_beginning(std::string_view line) {
    constexpr std::string_view sheet = "a spreadsheet or an archive; save it as 'CSV UTF-8'";
    constexpr std::string_view arrow = "an Arrow file, which is not read; write it as JSON lines, as to_json of datasets does";
    constexpr std::string_view packed = "packed by xz or bzip2, which is not read; unpack it, or pack it by gzip or zstd";
    constexpr std::pair<std::string_view, std::string_view> kinds[] = {
        {"PK\x03\x04", sheet}, {"ARROW1", arrow}, {"\xff\xff\xff\xff", arrow}, {"\3757zXZ", packed}, {"BZh", packed}};
    for (const auto& [beginning, kind] : kinds)
        if (line.starts_with(beginning)) return kind;
    return "";
}

/// ASCII in UTF-16 is valid UTF-8 with a zero byte beside each letter, and would be read as such texts.
[[noreturn]] void refuse_zero_byte(const SourcePosition& place, std::string_view line) {
    if (const std::string_view kind = kind_by_beginning(line); place.line == 1 && !kind.empty())
        throw data_error("{}: {}", place.text(), kind);
    const bool marked = line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff");
    throw data_error(
        "{}: holds a zero byte: the file is UTF-16, or damaged; write it as UTF-8: iconv -f {} -t UTF-8 FILE > NEW, or without its zero "
        "bytes: tr -d '\\000' < FILE > NEW",
        place.text(),
        marked                     ? "UTF-16"
        : line.find('\0') % 2 == 1 ? "UTF-16LE"
                                   : "UTF-16BE");
}

}  // namespace

LineReader::LineReader(const std::filesystem::path& path, std::size_t max_line, ExpansionLimit limit)
    : path_(path.string()), max_line_(max_line), input_(InputStream::open(path, limit)), buffer_((std::size_t(1) << 18) + padding) {
    skip_byte_order_mark();
}

std::optional<std::string_view> LineReader::next() {
    std::size_t searched = 0;
    for (;;) {
        const char* from = buffer_.data() + begin_;
        const std::size_t unread = end_ - begin_;
        if (const void* found = std::memchr(from + searched, '\n', unread - searched))
            return take_line(static_cast<std::size_t>(static_cast<const char*>(found) - from), 1);
        searched = unread;
        if (unread > max_line_)
            throw data_error("{}:{}: this line is longer than {}; a file with one record a line is expected", path_, line_number_ + 1,
                             format_bytes(max_line_));
        if (!refill()) {
            if (unread == 0) return std::nullopt;
            return take_line(unread, 0);
        }
    }
}

std::string_view LineReader::take_line(std::size_t length, std::size_t end_bytes) {
    std::string_view line(buffer_.data() + begin_, length);
    begin_ += length + end_bytes;
    ++line_number_;
    if (std::memchr(line.data(), 0, line.size())) refuse_zero_byte(position(), line);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

/// Moves the unread bytes to the front and reads more behind them; false at the end of the file.
bool LineReader::refill() {
    if (at_end_) return false;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (buffer_.size() - padding - end_ < buffer_.size() / 4) buffer_.resize(2 * buffer_.size());
    const std::size_t got = input_->read(buffer_.data() + end_, buffer_.size() - padding - end_);
    end_ += got;
    at_end_ = got == 0;
    return got > 0;
}

void LineReader::skip_byte_order_mark() {
    while (end_ - begin_ < 3 && refill()) {
    }
    if (std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with("\xef\xbb\xbf")) begin_ += 3;
}

}  // namespace faceter
