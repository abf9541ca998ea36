#pragma once
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/json.h"

namespace faceter {

/// Why a record cannot be used. `reason` is one of few (it is counted by), `detail` what makes this one special.
struct BadRecord {
    std::string reason;
    std::string detail;
};

/// The error of a bad record with other advice than on_error, where no experiment is there to say it; other errors as they are.
Error with_advice(const Error& error, std::string_view advice);

/// What becomes of the bad records of a data set: the first one ends the reading (fail), or they are counted by reason (skip).
class RecordErrors {
  public:
    enum class Policy { fail, skip };
    explicit RecordErrors(Policy policy) : policy_(policy) {}
    /// Throws a data error with file:line under `fail`.
    void bad(const SourcePosition& where, const BadRecord& record);
    std::size_t num_skipped() const { return num_skipped_; }
    const std::string& first() const { return first_; }  ///< "file:line: reason"; empty where none was skipped
    /// {"records": n, "by_reason": {...}, "first": "file:line: reason"}
    Json card() const;

  private:
    Policy policy_;
    std::size_t num_skipped_ = 0;
    std::map<std::string, std::size_t> by_reason_;
    std::string first_;
};

/// One record as its file has it: a JSON object or the row of a table. Views are valid until the reader's next record.
/// Accessors throw BadRecord where a member is missing or of another kind.
class Record {
  public:
    static constexpr std::size_t max_members = 256;
    enum class Kind { null, boolean, number, text, list, other };
    struct Member {
        std::string_view key;
        Kind kind = Kind::null;
        std::string_view text;             ///< of a text; a number as written
        double number = 0;                 ///< of a number or boolean
        std::size_t first = 0, count = 0;  ///< of a list: elements
        bool in_table = false;             ///< a text for want of types (null: an empty cell): as a label, a written number is one
    };
    struct Element {
        Kind kind;
        std::string_view text;
        double number;
    };

    void clear();
    void add(Member member) { members_.push_back(member); }
    void add_element(Element element) { elements_.push_back(element); }
    std::size_t num_elements() const { return elements_.size(); }

    std::span<const Member> members() const { return members_; }
    /// The first member with one of the names that is not null.
    const Member* find(std::initializer_list<std::string_view> names) const;
    const Member* find(std::span<const std::string_view> names) const;
    std::span<const Element> elements(const Member& list) const { return {elements_.data() + list.first, list.count}; }

    /// A text that is not blank.
    std::string_view text(std::string_view key) const;
    /// A text, which may be blank: an empty cell of a table is.
    std::string_view written_text(std::string_view key) const;
    /// A text, which may be empty; an id may be a number, too.
    std::string_view text_or_number(std::string_view key) const;
    std::string_view text_or_empty(std::string_view key) const;
    double number(std::string_view key) const;
    std::vector<std::string_view> texts(std::string_view key) const;
    std::vector<double> numbers(std::string_view key) const;
    /// Names of the members, for messages.
    std::string known() const;

  private:
    bool is_empty_cell(std::string_view key) const;
    const Member& need(std::string_view key) const;
    std::vector<Member> members_;
    std::vector<Element> elements_;
};

/// A text or number as a label; null, lists and objects are refused.
std::string_view label_text(const Record::Member& member);
/// The same of one of the list `member`.
std::string_view label_text(const Record::Element& element, std::string_view member);
/// One of `wanted` is the label, as label_text() has it or as it is written (1.0 is 1, and 1.0).
bool is_one_of(const Record::Member& label, std::span<const std::string> wanted);

}  // namespace faceter
