#include "text/bert_normalizer.h"

#include <algorithm>
#include <memory>

#include "text/bert_unicode.h"
#include "text/utf8.h"

namespace faceter {
namespace {

using namespace bert_unicode;

void clean(std::u32string& text) {
    std::erase_if(text, is_removed);
    std::replace_if(text.begin(), text.end(), is_whitespace, U' ');
}

std::u32string set_chinese_apart(const std::u32string& text) {
    std::u32string out;
    for (const char32_t c : text) {
        if (is_chinese(c)) {
            out += {U' ', c, U' '};
        } else {
            out.push_back(c);
        }
    }
    return out;
}

/// NFD: every character decomposed, then each run of characters with a combining class sorted by it (Unicode, D109).
std::u32string decompose(const std::u32string& text) {
    std::u32string out;
    for (const char32_t c : text) append_decomposition(c, out);
    for (auto run = out.begin(); run != out.end();) {
        run = std::find_if(run, out.end(), [](char32_t c) { return combining_class(c) != 0; });
        const auto end = std::find_if(run, out.end(), [](char32_t c) { return combining_class(c) == 0; });
        std::stable_sort(run, end, [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
        run = end;
    }
    return out;
}

std::u32string to_lowercase(const std::u32string& text) {
    std::u32string out;
    for (const char32_t c : text) append_lowercase(c, out);
    return out;
}

std::u32string normalize_utf32(const BertNormalizer& normalizer, std::u32string text) {
    if (normalizer.clean_text) clean(text);
    if (normalizer.handle_chinese_chars) text = set_chinese_apart(text);
    if (normalizer.strip_accents) {
        text = decompose(text);
        std::erase_if(text, is_nonspacing_mark);
    }
    if (normalizer.lowercase) text = to_lowercase(text);
    return text;
}

}  // namespace

std::string BertNormalizer::normalize(std::string_view text) const { return utf32_to_utf8(normalize_utf32(*this, utf8_to_utf32(text))); }

CharTable::CharTable(const BertNormalizer& normalizer) : normalizer_(normalizer) {
    ascii_kinds_.fill(multibyte);
    for (unsigned byte = 0; byte < 128; ++byte) {
        std::string mapped;
        ascii_kinds_[byte] = classify(byte, mapped);
        ascii_chars_[byte] = mapped.size() == 1 ? mapped[0] : ' ';
    }
}

CharTable::~CharTable() {
    for (const auto& block : blocks_) delete block.load();
}

/// A character's normalisation does not depend on its neighbours unless something with a combining class is left of it after accents are
/// stripped: only then can canonical reordering change what remains.
CharTable::Kind CharTable::classify(char32_t c, std::string& mapped) const {
    const bool removed = normalizer_.clean_text && is_removed(c);
    const bool apart = normalizer_.handle_chinese_chars && is_chinese(c);
    std::u32string text = normalize_utf32(normalizer_, {c});
    if (apart) std::erase(text, U' ');
    if (removed || text.empty()) return drop;
    if (normalizer_.strip_accents && std::any_of(text.begin(), text.end(), [](char32_t d) { return combining_class(d) != 0; }))
        return context;
    mapped = utf32_to_utf8(text);
    if (text.size() == 1 && is_whitespace(text[0])) return space;
    if (text.size() == 1 && (apart || is_punctuation(text[0]))) return single;
    const auto splits = [](char32_t d) { return is_whitespace(d) || is_punctuation(d); };
    return apart || std::any_of(text.begin(), text.end(), splits) ? context : letter;
}

std::string CharTable::normalize(std::string_view text) const {
    std::string out;
    out.reserve(text.size() + 16);
    for (const char *at = text.data(), *end = at + text.size(); at < end;) {
        const auto byte = static_cast<unsigned char>(*at);
        if (kind_of_byte(byte) != multibyte) {
            if (kind_of_byte(byte) != drop) out.push_back(ascii(byte));
            ++at;
            continue;
        }
        const DecodedChar decoded = decode_utf8(at, end);
        const Block& block = block_of(decoded.code_point);
        const Entry entry = block.entries[decoded.code_point & 0xFF];
        if (entry.kind == context) return normalizer_.normalize(text);
        const bool apart = normalizer_.handle_chinese_chars && entry.kind == single && is_chinese(decoded.code_point);
        if (apart) out.push_back(' ');
        out.append(block.bytes, entry.offset, entry.length);
        if (apart) out.push_back(' ');
        at += decoded.length;
    }
    return out;
}

const CharTable::Block& CharTable::fill(std::size_t index) const {
    auto block = std::make_unique<Block>();
    for (std::size_t i = 0; i < 256; ++i) {
        const auto c = static_cast<char32_t>(index << 8 | i);
        if (c >= 0xD800 && c < 0xE000) continue;  // surrogates do not come out of UTF-8
        std::string mapped;
        Entry& entry = block->entries[i];
        entry.kind = classify(c, mapped);
        entry.offset = static_cast<std::uint16_t>(block->bytes.size());
        entry.length = static_cast<std::uint8_t>(mapped.size());
        block->bytes += mapped;
    }
    block->bytes.append(8, '\0');
    const Block* expected = nullptr;
    if (blocks_[index].compare_exchange_strong(expected, block.get(), std::memory_order_acq_rel)) return *block.release();
    return *expected;  // another thread was first
}

}  // namespace faceter
