#pragma once
#include <functional>
#include <memory>
#include <string_view>

namespace faceter {

/// A regular expression of a tokenizer.json, run by Oniguruma as Hugging Face's `tokenizers` run it: the same engine and syntax. The tables
/// of Unicode are those of the installed library (Debian 12: Unicode 14). Immutable; thread safe.
class Regex {
  public:
    /// Throws a data error (`name` in front, as in all its messages) that names what is wrong with the pattern.
    Regex(std::string_view pattern, std::string_view name);
    ~Regex();
    Regex(Regex&&) noexcept;
    Regex& operator=(Regex&&) noexcept;

    /// What all matches of all patterns in one text may take of this thread's processor time: a fifth of a second and eight seconds for
    /// each megabyte.
    class Budget {
      public:
        explicit Budget(std::size_t text_bytes);
        /// Counts a search; false where the time is over.
        bool spend();

      private:
        double allowed_s_, until_s_ = 0;  // from the first search: a text without patterns does not ask for the time
        unsigned num_searches_ = 0;
    };

    /// Calls use(begin, end) for each match, as the peers' find_iter does: an empty match directly behind another is no match. Throws a
    /// data error where the budget is used up or the matcher takes too much memory (hostile patterns).
    void for_each_match(std::string_view text, Budget& budget, const std::function<void(std::size_t begin, std::size_t end)>& use) const;

  private:
    struct Program;
    class Search;
    std::unique_ptr<const Program> program_;
};

}  // namespace faceter
