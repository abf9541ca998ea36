#pragma once
#include <cstring>
#include <string_view>
#include <vector>

#include "text/bert_normalizer.h"
#include "text/utf8.h"
#include "text/word_cache.h"

namespace faceter {

enum class ScanResult {
    done,
    full,           ///< the sink wants no more
    needs_context,  ///< a character depends on its neighbours: normalise the text first
    invalid,        ///< not UTF-8
};

/// Splits a text into normalised words in one pass. Runs of ASCII go straight from the text into a key; anything else is collected in a
/// buffer. Sink: `bool full()`, `void single(char)` (an ASCII punctuation mark), `void word(const WordKey&)` (up to 31 bytes),
/// `void long_word(std::string_view)`, `void overlong_word()` (more than max_word_bytes, which are not collected).
template <typename Sink>
class BertScanner {
  public:
    /// `buffer` is scratch memory, kept by the caller so that it is allocated once.
    BertScanner(const CharTable& table, std::size_t max_word_bytes, std::vector<char>& buffer, Sink& sink)
        : table_(table), max_bytes_(max_word_bytes), fold_(table.lowercase() ? 0x2020202020202020 : 0), sink_(sink), buffer_(buffer) {
        if (buffer_.size() < 64) buffer_.resize(512);
    }

    ScanResult run(std::string_view text) {
        at_ = text.data();
        end_ = at_ + text.size();
        while (at_ < end_) {
            if (sink_.full()) return ScanResult::full;
            const auto byte = static_cast<unsigned char>(*at_);
            switch (table_.kind_of_byte(byte)) {
                case CharTable::space:
                case CharTable::drop:
                    ++at_;
                    break;
                case CharTable::single:
                    sink_.single(table_.ascii(byte));
                    ++at_;
                    break;
                default:
                    if (!ascii_word())
                        if (const ScanResult result = any_word(); result != ScanResult::done) return result;
            }
        }
        return ScanResult::done;
    }

  private:
    /// Takes the word at at_ where it is short and all ASCII.
    bool ascii_word() {
        const char* stop = at_;
        while (stop < end_ && table_.kind_of_byte(static_cast<unsigned char>(*stop)) == CharTable::letter) ++stop;
        const auto size = static_cast<std::size_t>(stop - at_);
        if (size == 0 || size > WordKey::max_size) return false;
        if (stop < end_) {
            const CharTable::Kind kind = table_.kind_of_byte(static_cast<unsigned char>(*stop));
            if (kind != CharTable::space && kind != CharTable::single) return false;
        }
        if (end_ - at_ >= 32) {
            sink_.word(WordKey::load(at_, size, fold_));
        } else {
            char padded[32] = {};
            std::memcpy(padded, at_, size);
            sink_.word(WordKey::load(padded, size, fold_));
        }
        at_ = stop;
        return true;
    }

    /// Takes the word at at_, or one character that is a word or none, whatever it is made of.
    ScanResult any_word() {
        size_ = 0;
        overlong_ = false;
        while (at_ < end_) {
            const auto byte = static_cast<unsigned char>(*at_);
            CharTable::Kind kind = table_.kind_of_byte(byte);
            int length = 1;
            if (kind == CharTable::letter) {
                const char mapped[8] = {table_.ascii(byte)};
                append(mapped, 1);
            } else if (kind == CharTable::multibyte) {
                const DecodedChar decoded = decode_utf8(at_, end_);
                if (!decoded.valid) return ScanResult::invalid;
                const CharTable::Block& block = table_.block_of(decoded.code_point);
                const CharTable::Entry entry = block.entries[decoded.code_point & 0xFF];
                kind = entry.kind;
                length = decoded.length;
                if (kind == CharTable::context) return ScanResult::needs_context;
                const bool alone = kind == CharTable::single && size_ == 0 && !overlong_;
                if (kind == CharTable::letter || alone) append(block.bytes.data() + entry.offset, entry.length);
                if (kind == CharTable::space || alone) at_ += length;
            }
            if (kind == CharTable::space || kind == CharTable::single) break;
            at_ += length;
        }
        flush();
        return ScanResult::done;
    }

    /// `bytes` must have 8 readable bytes, or `count` of them where that is more.
    void append(const char* bytes, std::size_t count) {
        if (size_ + count > max_bytes_) overlong_ = true;
        if (overlong_) return;
        if (buffer_.size() < size_ + count + 32) buffer_.resize(2 * (size_ + count) + 64);
        std::memcpy(buffer_.data() + size_, bytes, count <= 8 ? 8 : count);
        size_ += count;
    }

    void flush() {
        if (overlong_) return sink_.overlong_word();
        if (size_ == 0) return;
        if (size_ <= WordKey::max_size) return sink_.word(WordKey::load(buffer_.data(), size_, 0));
        sink_.long_word({buffer_.data(), size_});
    }

    const CharTable& table_;
    const std::size_t max_bytes_;
    const std::uint64_t fold_;
    Sink& sink_;
    const char *at_ = nullptr, *end_ = nullptr;
    std::vector<char>& buffer_;
    std::size_t size_ = 0;
    bool overlong_ = false;
};

}  // namespace faceter
