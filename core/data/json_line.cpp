#include <simdjson.h>

#include <cmath>

#include "common/strings.h"
#include "data/line_reader.h"
#include "data/record_reader.h"

namespace faceter {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(LineReader::padding >= simdjson::SIMDJSON_PADDING);

/// Numbers keep how they were written: ids and labels may be numbers, too.
Record::Element number_element(ondemand::value value) {
    const std::string_view written = trim(value.raw_json_token());
    const ondemand::number number = value.get_number();
    const double as_double = number.as_double();
    if (!std::isfinite(as_double)) throw BadRecord{"a number is not finite", ""};
    return {Record::Kind::number, written, as_double};
}

Record::Element scalar_element(ondemand::value value) {
    switch (value.type()) {
        case ondemand::json_type::string:
            return {Record::Kind::text, value.get_string(), 0};
        case ondemand::json_type::number:
            return number_element(value);
        case ondemand::json_type::boolean:
            return {Record::Kind::boolean, {}, value.get_bool() ? 1.0 : 0.0};
        case ondemand::json_type::null:
            if (!value.is_null()) throw BadRecord{"not valid JSON", "a value that is no value"};
            return {Record::Kind::null, {}, 0};
        default:
            return {Record::Kind::other, {}, 0};  // the iteration passes over it
    }
}

/// Elements that a record of so many bytes may have: any number in a short one; in a long one they are texts, not 0,0,0.
std::size_t most_elements(std::string_view line) { return std::max(std::size_t{1} << 20, line.size() / 8); }

void read_member(std::string_view key, ondemand::value value, std::size_t most, Record& record) {
    Record::Member member;
    member.key = key;
    if (value.type() == ondemand::json_type::array) {
        member.kind = Record::Kind::list;
        member.first = record.num_elements();
        for (auto element : value.get_array()) {
            if (record.num_elements() == most) throw BadRecord{fmt::format("lists of more than {} values in one record", most), ""};
            record.add_element(scalar_element(element.value()));
        }
        member.count = record.num_elements() - member.first;
    } else {
        const Record::Element scalar = scalar_element(value);
        member.kind = scalar.kind;
        member.text = scalar.text;
        member.number = scalar.number;
    }
    record.add(member);
}

BadRecord describe(const simdjson::simdjson_error& error) {
    if (error.error() == simdjson::UTF8_ERROR) return {"not valid UTF-8", ""};
    if (error.error() == simdjson::INCOMPLETE_ARRAY_OR_OBJECT)
        return {"not valid JSON", "the object does not end, or something follows it"};
    return {"not valid JSON", simdjson::error_message(error.error())};
}

}  // namespace

struct JsonLineParser::Impl {
    ondemand::parser parser;
};

JsonLineParser::JsonLineParser() : impl_(std::make_unique<Impl>()) {}
JsonLineParser::~JsonLineParser() = default;

void JsonLineParser::parse(std::string_view line, Record& record) {
    record.clear();
    if (const std::string_view start = trim(line); !start.empty() && start.front() != '{') throw BadRecord{"not a JSON object", ""};
    try {
        ondemand::document document = impl_->parser.iterate(line.data(), line.size(), line.size() + LineReader::padding);
        for (auto field : document.get_object()) {
            const std::string_view key = field.unescaped_key();
            for (const Record::Member& member : record.members())
                if (member.key == key) throw BadRecord{"a member stands twice in one record", faceter::quoted(key, 40)};
            if (record.members().size() >= Record::max_members)
                throw BadRecord{fmt::format("more than {} members in one record", Record::max_members), ""};
            read_member(key, field.value(), most_elements(line), record);
        }
        if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
            throw BadRecord{"not valid JSON", "something follows the object"};
    } catch (const simdjson::simdjson_error& error) {
        throw describe(error);
    }
}

}  // namespace faceter
