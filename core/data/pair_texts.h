#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "data/record.h"

namespace faceter {

/// Whether a column or member of this name (in small letters) holds negatives: negative, hard_negative, their plurals and neg, also with a
/// number (negative_2, neg3). negative_score, negative_id and the like do not.
bool is_name_of_negatives(std::string_view name);

/// A member of a record that holds negatives, and the number at the end of its name.
struct NegativeMember {
    const Record::Member* member;
    std::optional<std::size_t> number;
};
/// In the order of the record, those with a number behind the others and by it: negative_2 before negative_10.
std::vector<NegativeMember> negative_members(const Record& record);
/// False for empty lists as well.
bool has_negatives(const Record& record);

/// The negatives of a record in the order of their members, and of each the N of its own score_N: its member's number, else its place.
struct RecordNegatives {
    std::vector<std::string_view> texts;
    std::vector<std::size_t> numbers;
};
/// Throws BadRecord as append_texts() does.
RecordNegatives negatives_of(const Record& record);

/// A text, or every text of a list. Throws BadRecord: it is neither, or one of them is blank.
void append_texts(const Record& record, const Record::Member& member, std::vector<std::string_view>& texts);
/// `text` of the member `key`; throws BadRecord where it is blank.
std::string_view not_blank(std::string_view text, std::string_view key);

}  // namespace faceter
