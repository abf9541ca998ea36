#include "data/pair_texts.h"

#include <algorithm>
#include <array>

#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::array<std::string_view, 5> names_of_negatives{"negative", "hard_negative", "negatives", "hard_negatives", "neg"};
constexpr std::string_view decimal_digits = "0123456789";

std::optional<std::size_t> number_at_end(std::string_view name) {
    const auto number = parse_int(name.substr(name.find_last_not_of(decimal_digits) + 1));
    return number ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
}

}  // namespace

bool is_name_of_negatives(std::string_view name) {
    while (!name.empty() && (name.back() == '_' || decimal_digits.find(name.back()) != std::string_view::npos)) name.remove_suffix(1);
    return std::find(names_of_negatives.begin(), names_of_negatives.end(), name) != names_of_negatives.end();
}

std::vector<NegativeMember> negative_members(const Record& record) {
    std::vector<NegativeMember> found;
    for (const Record::Member& member : record.members())
        if (member.kind != Record::Kind::null && is_name_of_negatives(member.key)) found.push_back({&member, number_at_end(member.key)});
    std::stable_sort(found.begin(), found.end(), [](const NegativeMember& a, const NegativeMember& b) { return a.number < b.number; });
    return found;
}

bool has_negatives(const Record& record) {
    const auto holds_one = [](const Record::Member& member) {
        const bool filled = member.kind == Record::Kind::list ? member.count > 0 : member.kind != Record::Kind::null;
        return filled && is_name_of_negatives(member.key);
    };
    return std::any_of(record.members().begin(), record.members().end(), holds_one);
}

RecordNegatives negatives_of(const Record& record) {
    RecordNegatives negatives;
    for (const auto& [member, number] : negative_members(record)) {
        append_texts(record, *member, negatives.texts);
        while (negatives.numbers.size() < negatives.texts.size())
            negatives.numbers.push_back(number.value_or(negatives.numbers.size() + 1));
    }
    return negatives;
}

void append_texts(const Record& record, const Record::Member& member, std::vector<std::string_view>& texts) {
    if (member.kind == Record::Kind::text)
        texts.push_back(not_blank(member.text, member.key));
    else if (member.kind == Record::Kind::list)
        for (const std::string_view text : record.texts(member.key)) texts.push_back(not_blank(text, member.key));
    else
        throw BadRecord{fmt::format("member '{}' is neither a text nor a list of texts", member.key), ""};
}

std::string_view not_blank(std::string_view text, std::string_view key) {
    if (trim(text).empty()) throw BadRecord{fmt::format("member '{}' is empty", key), ""};
    return text;
}

}  // namespace faceter
