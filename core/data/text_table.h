#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faceter {

/// Texts of a data set, end to end in one buffer with their offsets; a text is named by its number. Ids are given in order, from 0.
class TextTable {
  public:
    /// Appends a text (also one that is there already) and returns its id.
    std::uint32_t add(std::string_view text);
    /// The id of the text: that of its first occurrence, or a new one.
    std::uint32_t intern(std::string_view text);

    /// Valid until the next add() or intern(), which may move the buffer.
    std::string_view operator[](std::uint32_t id) const {
        return {bytes_.data() + offsets_[id], static_cast<std::size_t>(offsets_[id + 1] - offsets_[id])};
    }
    std::size_t size() const { return offsets_.size() - 1; }
    bool empty() const { return size() == 0; }
    /// Length of all texts together, in bytes.
    std::uint64_t num_bytes() const { return bytes_.size(); }
    /// One view a text, in the order of ids; valid as operator[] is.
    std::vector<std::string_view> views() const;

  private:
    void grow_index();
    std::size_t slot_of(std::string_view text) const;

    std::vector<char> bytes_;
    std::vector<std::uint64_t> offsets_{0};
    std::vector<std::uint32_t> slots_;  ///< open addressing: id + 1, or 0; empty until the first intern()
};

}  // namespace faceter
