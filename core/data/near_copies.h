#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace faceter {

/// Which of some texts are others' but for one word that one of the two lacks, compared by overlap_form() of each word. Of fewer than
/// six words a text is passed over: of short ones a word makes another ("python 3").
class NearCopies {
  public:
    explicit NearCopies(std::span<const std::string_view> texts);
    /// Marks the texts that `other` is a near copy of; an exact one is none.
    void compare(std::string_view other);
    /// By place of the text.
    bool found(std::size_t text) const { return found_[text]; }

  private:
    /// A text without one of its words: as many as the texts have words, which a map would keep in six times the memory.
    struct Lacking {
        std::uint64_t hash;
        std::uint32_t text;
        bool marked;
    };
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> whole_;  ///< texts by their hash
    std::vector<Lacking> lacking_;                                         ///< by hash
    std::vector<bool> lengths_;                                            ///< in words, that a text has
    std::vector<bool> found_;
};

}  // namespace faceter
