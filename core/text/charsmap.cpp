#include "text/charsmap.h"

#include <cstring>

#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

// A unit of darts-clone's double array.
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset_of(std::uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view blob, std::string_view name) {
    std::uint32_t size = 0;
    if (blob.size() >= 4) std::memcpy(&size, blob.data(), 4);
    if (blob.size() < 8 || size < 4 || size % 4 != 0 || size > blob.size() - 4)
        throw data_error("{}: the precompiled_charsmap is torn: {} bytes, of which its trie should take {}", name, blob.size(), size);
    units_.resize(size / 4);
    std::memcpy(units_.data(), blob.data() + 4, size);
    texts_ = blob.substr(4 + size);
    if (!is_valid_utf8(texts_)) throw data_error("{}: the precompiled_charsmap holds texts that are not UTF-8", name);
    for (unsigned byte = 1; byte < 256; ++byte) {
        const std::uint32_t node = offset_of(units_[0]) ^ byte;
        starts_[byte] = node < units_.size() && label_of(units_[node]) == byte;
    }
}

std::string_view Charsmap::text_at(std::uint32_t offset) const {
    const bool inside = offset < texts_.size() && (static_cast<unsigned char>(texts_[offset]) & 0xC0) == 0x80;
    if (offset >= texts_.size() || inside) return {};  // never a part of a character
    return std::string_view(texts_.c_str() + offset);  // ends at the zero byte
}

template <bool shortest_only>
Charsmap::Match Charsmap::search(std::string_view text) const {
    Match match;
    if (units_.empty()) return match;
    std::uint32_t node = offset_of(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        node ^= byte;
        if (byte == 0 || node >= units_.size() || label_of(units_[node]) != byte) break;
        const std::uint32_t unit = units_[node];
        node ^= offset_of(unit);
        if (!has_leaf(unit)) continue;
        if (node >= units_.size()) break;
        match = {i + 1, text_at(value_of(units_[node]))};
        if (shortest_only) break;
    }
    return match;
}

Charsmap::Match Charsmap::shortest(std::string_view text) const { return search<true>(text); }
Charsmap::Match Charsmap::longest(std::string_view text) const { return search<false>(text); }

}  // namespace faceter
