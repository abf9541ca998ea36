#include "data/record.h"

#include <algorithm>
#include <cmath>

#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::string_view advice_of_experiments = "or set on_error: skip to leave such records out and count them";

/// 1.0 is 1, as in Python: pandas writes the whole numbers of a column so where one is missing, which may be in one split alone.
std::string_view without_empty_fraction(std::string_view number) {
    const std::size_t point = number.find('.');
    const bool is_whole =
        point != std::string_view::npos && point > 0 && number.find_first_not_of('0', point + 1) == std::string_view::npos;
    const std::string_view whole = is_whole ? number.substr(0, point) : number;
    return whole == "-0" ? whole.substr(1) : whole;
}

}  // namespace

Error with_advice(const Error& error, std::string_view advice) {
    std::string said = error.what();
    if (const std::size_t at = said.find(advice_of_experiments); at != std::string::npos)
        said.replace(at, advice_of_experiments.size(), advice);
    return Error(error.code(), said);
}

void RecordErrors::bad(const SourcePosition& where, const BadRecord& record) {
    const std::string what = record.detail.empty() ? record.reason : fmt::format("{} ({})", record.reason, record.detail);
    if (policy_ == Policy::fail) throw data_error("{}: {}; correct the record, {}", where.text(), what, advice_of_experiments);
    if (num_skipped_++ == 0) first_ = fmt::format("{}: {}", where.text(), what);
    ++by_reason_[record.reason];
}

Json RecordErrors::card() const {
    Json card{{"records", num_skipped_}, {"by_reason", Json::object()}};
    for (const auto& [reason, count] : by_reason_) card["by_reason"][reason] = count;
    if (num_skipped_ > 0) card["first"] = first_;
    return card;
}

void Record::clear() {
    members_.clear();
    elements_.clear();
}

const Record::Member* Record::find(std::span<const std::string_view> names) const {
    for (const std::string_view name : names)
        for (const Member& member : members_)
            if (member.key == name && member.kind != Kind::null) return &member;
    return nullptr;
}

const Record::Member* Record::find(std::initializer_list<std::string_view> names) const {
    return find(std::span<const std::string_view>(names.begin(), names.size()));
}

const Record::Member& Record::need(std::string_view key) const {
    if (const Member* member = find({key})) return *member;
    throw BadRecord{fmt::format("member '{}' is missing", key), "members: " + known()};
}

bool Record::is_empty_cell(std::string_view key) const {
    return std::any_of(members_.begin(), members_.end(),
                       [&](const Member& member) { return member.key == key && member.in_table && member.kind == Kind::null; });
}

std::string_view Record::written_text(std::string_view key) const {
    if (is_empty_cell(key)) return {};
    const Member& member = need(key);
    if (member.kind != Kind::text) throw BadRecord{fmt::format("member '{}' is not a text", key), ""};
    return member.text;
}

std::string_view Record::text(std::string_view key) const {
    const std::string_view text = written_text(key);
    if (trim(text).empty()) throw BadRecord{fmt::format("member '{}' is empty", key), ""};
    return text;
}

std::string_view Record::text_or_number(std::string_view key) const {
    const Member& member = need(key);
    if (member.kind != Kind::text && member.kind != Kind::number)
        throw BadRecord{fmt::format("member '{}' is neither a text nor a number", key), ""};
    return member.text;
}

std::string_view Record::text_or_empty(std::string_view key) const {
    const Member* member = find({key});
    if (!member) return {};
    if (member->kind != Kind::text) throw BadRecord{fmt::format("member '{}' is not a text", key), ""};
    return member->text;
}

double Record::number(std::string_view key) const {
    const Member& member = need(key);
    if (member.kind == Kind::number || member.kind == Kind::boolean) return member.number;
    if (member.kind == Kind::text)  // a table has nothing but texts
        if (const auto value = parse_double(trim(member.text)); value && std::isfinite(*value)) return *value;
    throw BadRecord{fmt::format("member '{}' is not a number", key), member.kind == Kind::text ? faceter::quoted(member.text, 40) : ""};
}

std::vector<std::string_view> Record::texts(std::string_view key) const {
    const Member& member = need(key);
    if (member.kind != Kind::list) throw BadRecord{fmt::format("member '{}' is not a list", key), ""};
    std::vector<std::string_view> all;
    for (const Element& element : elements(member)) {
        if (element.kind != Kind::text) throw BadRecord{fmt::format("member '{}' is not a list of texts", key), ""};
        all.push_back(element.text);
    }
    return all;
}

std::vector<double> Record::numbers(std::string_view key) const {
    const Member& member = need(key);
    if (member.kind != Kind::list) throw BadRecord{fmt::format("member '{}' is not a list", key), ""};
    std::vector<double> all;
    for (const Element& element : elements(member)) {
        if (element.kind != Kind::number) throw BadRecord{fmt::format("member '{}' is not a list of numbers", key), ""};
        all.push_back(element.number);
    }
    return all;
}

std::string Record::known() const {
    std::string names;
    for (const Member& member : members_) {
        if (member.in_table && member.kind == Kind::null) continue;
        if (names.size() > 120) return names + ", ...";
        names += (names.empty() ? "" : ", ") + faceter::quoted(member.key, 30);
    }
    return names.empty() ? "none" : names;
}

std::string_view label_text(const Record::Member& member) {
    if (member.kind == Record::Kind::boolean) return member.number != 0 ? "1" : "0";
    if (member.kind == Record::Kind::number) return without_empty_fraction(trim(member.text));
    if (member.kind == Record::Kind::text) {
        const std::string_view text = trim(member.text);
        return member.in_table && parse_double(text) ? without_empty_fraction(text) : text;
    }
    throw BadRecord{fmt::format("member '{}' is neither a text nor a number", member.key), ""};
}

std::string_view label_text(const Record::Element& element, std::string_view member) {
    if (element.kind == Record::Kind::text || element.kind == Record::Kind::number) return label_text({member, element.kind, element.text});
    throw BadRecord{fmt::format("member '{}' holds something that is neither a text nor a number", member), ""};
}

bool is_one_of(const Record::Member& label, std::span<const std::string> wanted) {
    const std::string_view read = label_text(label), written = trim(label.text);
    return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& one) { return one == read || one == written; });
}

}  // namespace faceter
