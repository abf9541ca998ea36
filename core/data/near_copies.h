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
    using Places = std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>;
    void mark(const Places& places, std::uint64_t hash);
    Places whole_, lacking_;     ///< hashes of the texts, and of the texts without one of their words
    std::vector<bool> lengths_;  ///< in words, that a text has
    std::vector<bool> found_;
};

}  // namespace faceter
