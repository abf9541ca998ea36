#include "data/text_table.h"

#include <limits>

#include "common/error.h"
#include "common/hash.h"

namespace faceter {

std::uint32_t TextTable::add(std::string_view text) {
    if (size() >= std::numeric_limits<std::uint32_t>::max() - 1) throw data_error("more than 4 billion texts in one data set");
    const auto id = static_cast<std::uint32_t>(size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    offsets_.push_back(bytes_.size());
    if (slots_.empty()) return id;
    if (2 * size() > slots_.size()) {
        grow_index();
    } else if (const std::size_t slot = slot_of((*this)[id]); slots_[slot] == 0) {
        slots_[slot] = id + 1;
    }
    return id;
}

std::uint32_t TextTable::intern(std::string_view text) {
    if (slots_.empty()) grow_index();
    const std::size_t slot = slot_of(text);
    return slots_[slot] != 0 ? slots_[slot] - 1 : add(text);
}

std::vector<std::string_view> TextTable::views() const {
    std::vector<std::string_view> all;
    all.reserve(size());
    for (std::uint32_t id = 0; id < size(); ++id) all.push_back((*this)[id]);
    return all;
}

void TextTable::grow_index() {
    std::size_t wanted = 64;
    while (wanted < 4 * size()) wanted *= 2;
    slots_.assign(wanted, 0);
    for (std::uint32_t id = 0; id < size(); ++id)
        if (const std::size_t slot = slot_of((*this)[id]); slots_[slot] == 0) slots_[slot] = id + 1;
}

/// The slot that holds the text, or the free one where it belongs.
std::size_t TextTable::slot_of(std::string_view text) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash64(text) & mask;
    while (slots_[slot] != 0 && (*this)[slots_[slot] - 1] != text) slot = (slot + 1) & mask;
    return slot;
}

}  // namespace faceter
