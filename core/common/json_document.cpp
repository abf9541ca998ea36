#include "common/json_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/json.h"

namespace faceter {
namespace {

/// Finds the place of an error, which simdjson does not give: nlohmann's parser without building anything.
struct PlaceFinder : nlohmann::json_sax<nlohmann::json> {
    std::size_t byte = 0;
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        byte = position;
        return false;
    }
};

[[noreturn]] void throw_syntax_error(std::string_view text, std::string_view name, simdjson::error_code error) {
    PlaceFinder finder;
    nlohmann::json::sax_parse(text.begin(), text.end(), &finder);
    const std::string_view before = text.substr(0, std::min(finder.byte ? finder.byte - 1 : 0, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = before.size() - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1) + 1;
    throw data_error("{}:{}:{}: not valid JSON: {}", name, line, column, simdjson::error_message(error));
}

/// Whole numbers of more than 64 bits, which simdjson refuses, as doubles: transformers writes int(1e30) for a tokenizer without a longest
/// text.
std::string with_wide_numbers_as_doubles(std::string_view text) {
    constexpr std::size_t least_digits = 20;
    std::string wide;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = in_string ? at : std::min(text.find_first_not_of("+-.0123456789Ee", at), text.size());
        const std::string_view number = text.substr(at, end - at);
        if (number.empty()) {
            const std::size_t taken = in_string && text[at] == '\\' ? 2 : 1;
            if (text[at] == '"') in_string = !in_string;
            wide += text.substr(at, taken);
            at += taken;
            continue;
        }
        wide += number;
        const std::string_view digits = number.substr(number.front() == '-');
        if (digits.size() >= least_digits && digits.find_first_not_of("0123456789") == std::string_view::npos) wide += "e0";
        at = end;
    }
    return wide;
}

}  // namespace

void with_json_document(std::string_view text, std::string_view name, const std::function<void(simdjson::dom::element)>& read) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    simdjson::error_code error = parser.parse(text.data(), text.size()).get(root);
    if (error) {
        const std::string wide = with_wide_numbers_as_doubles(text);
        if (wide.size() > text.size()) error = parser.parse(wide).get(root);
    }
    if (error) throw_syntax_error(text, name, error);
    read(root);
}

template <typename T>
T member_or(const simdjson::dom::element& object, std::string_view key, T fallback, std::string_view name) {
    simdjson::dom::element member;
    if (!object.is_object() || object[key].get(member) || member.is_null()) return fallback;
    T value;
    if (member.get(value)) throw_json_member(name, key, "has the wrong type");
    return value;
}
template bool member_or(const simdjson::dom::element&, std::string_view, bool, std::string_view);
template std::int64_t member_or(const simdjson::dom::element&, std::string_view, std::int64_t, std::string_view);
template std::string_view member_or(const simdjson::dom::element&, std::string_view, std::string_view, std::string_view);

std::string_view member_text(const simdjson::dom::element& object, std::string_view key, std::string_view name) {
    simdjson::dom::element member;
    if (!object.is_object() || object[key].get(member)) throw_json_member(name, key, "is missing");
    std::string_view text;
    if (member.get(text)) throw_json_member(name, key, "has the wrong type");
    return text;
}

}  // namespace faceter
