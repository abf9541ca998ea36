#include "data/record_instructions.h"

#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

std::string instruction_member(const Record& record, std::initializer_list<std::string_view> names, std::string fallback) {
    const Record::Member* member = record.find(names);
    if (!member) return fallback;
    if (member->kind != Record::Kind::text) throw BadRecord{fmt::format("member '{}' is not a text", member->key), ""};
    return with_blank(std::string(member->text));
}

/// The first that differs, as a message shows both.
std::string difference(const SetInstructions& a, const SetInstructions& b) {
    const auto [first, second] = a.query != b.query         ? std::pair(a.query, b.query)
                                 : a.document != b.document ? std::pair(a.document, b.document)
                                                            : std::pair(a.negative, b.negative);
    return fmt::format("{} and {}", quoted(first, 60), quoted(second, 60));
}

}  // namespace

SetInstructions instructions_of(const Record& record) {
    SetInstructions in;
    in.query = instruction_member(record, {"query_instruction", "instruction"}, "");
    in.document = instruction_member(record, {"document_instruction"}, "");
    in.negative = instruction_member(record, {"negative_instruction"}, in.document);
    return in;
}

void SharedInstructions::see(const SetInstructions& in) {
    if (!first_) first_ = in;
    const bool same = in.query == first_->query && in.document == first_->document && in.negative == first_->negative;
    if (!same && others_.empty()) others_ = difference(*first_, in);
}

std::optional<SetInstructions> SharedInstructions::shared(DataReport& report) const {
    if (!first_) return std::nullopt;
    if (!others_.empty()) {
        report.warnings.push_back(fmt::format(
            "{}: its records have several instructions ({}), and one data set has one, so that none of them is put in front; with "
            "source: medi each becomes a data set of its own",
            file_, others_));
        return std::nullopt;
    }
    return is_instructed(*first_) ? first_ : std::nullopt;
}

}  // namespace faceter
