#include "data/json_items.h"

#include <cstring>

#include "common/strings.h"
#include "data/line_reader.h"

namespace faceter {

JsonItems::JsonItems(const std::filesystem::path& path)
    : path_(path.string()), input_(InputStream::open(path)), buffer_((std::size_t(1) << 18) + LineReader::padding) {}

/// Moves the unread bytes to the front and reads more behind them; false at the end of the file.
bool JsonItems::refill() {
    if (at_end_) return false;
    if (at_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
        end_ -= at_;
        at_ = 0;
    }
    if (buffer_.size() - LineReader::padding - end_ < buffer_.size() / 4) buffer_.resize(2 * buffer_.size());
    const std::size_t got = input_->read(buffer_.data() + end_, buffer_.size() - LineReader::padding - end_);
    end_ += got;
    at_end_ = got == 0;
    return got > 0;
}

std::optional<char> JsonItems::skip_blanks() {
    for (;;) {
        for (; at_ < end_; ++at_) {
            const char c = buffer_[at_];
            line_ += c == '\n';
            if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return c;
        }
        if (!refill()) return std::nullopt;
    }
}

void JsonItems::begin() {
    started_ = true;
    while (end_ - at_ < 3 && refill()) {
    }
    if (std::string_view(buffer_.data() + at_, end_ - at_).starts_with("\xef\xbb\xbf")) at_ += 3;
    if (skip_blanks() == '[') {
        array_ = true;
        ++at_;
    }
}

std::optional<std::string_view> JsonItems::next() {
    if (!started_) begin();
    std::optional<char> c = skip_blanks();
    if (array_ && !closed_) {
        if (!c) throw data_error("{}:{}: the array has no end; is the file cut short?", path_, line_);
        if (*c == ']') {
            closed_ = true;
            ++at_;
            c = skip_blanks();
        } else if (!first_) {
            if (*c != ',') throw data_error("{}:{}: expected ',' or ']' after an object of the array", path_, line_);
            ++at_;
            c = skip_blanks();
        }
    }
    if (!c && (!array_ || closed_)) return std::nullopt;
    if (closed_) throw data_error("{}:{}: something follows the array", path_, line_);
    if (!c || *c != '{') throw data_error("{}:{}: expected an object ({{...}})", path_, line_);
    first_ = false;
    return take_object();
}

/// From '{' at the front of the unread bytes to its '}': braces inside of strings do not count.
std::string_view JsonItems::take_object() {
    item_line_ = line_;
    std::size_t i = 0, depth = 0;
    bool text = false, escaped = false;
    for (;; ++i) {
        while (at_ + i >= end_) {
            if (i > max_item_bytes)
                throw data_error("{}:{}: this object is longer than {}", path_, item_line_, format_bytes(max_item_bytes));
            if (!refill()) throw data_error("{}:{}: this object has no end; is the file cut short?", path_, item_line_);
        }
        const char c = buffer_[at_ + i];
        line_ += c == '\n';
        if (escaped) {
            escaped = false;
        } else if (text) {
            escaped = c == '\\';
            text = c != '"';
        } else if (c == '"') {
            text = true;
        } else if (c == '{') {
            ++depth;
        } else if (c == '}' && --depth == 0) {
            break;
        }
    }
    const std::string_view item(buffer_.data() + at_, i + 1);
    at_ += i + 1;
    return item;
}

}  // namespace faceter
