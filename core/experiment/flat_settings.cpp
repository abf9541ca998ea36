#include "experiment/flat_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::size_t max_keys = 2000, max_value = 300, max_key = 300;

using Flat = std::vector<std::pair<std::string, std::string>>;

std::string cut(std::string text, std::size_t longest) {
    if (text.size() <= longest) return text;
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end) + "...";
}

std::string value_text(const Json& value) {
    if (value.is_string()) return cut(value.get<std::string>(), max_value);
    if (value.is_number_float()) return format_double(value.get<double>());
    return cut(value.dump(-1, ' ', false, Json::error_handler_t::replace), max_value);
}

void walk(const Json& value, const std::string& key, ItemKeys items, const std::function<void(const std::string&, const Json&)>& take) {
    const bool nested = std::any_of(value.begin(), value.end(), [](const Json& item) { return item.is_structured(); });
    if (value.empty() || !value.is_structured() || (value.is_array() && !nested)) return take(key, value);
    const std::string before = key.empty() ? "" : key + ".";
    if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i)
            walk(value[i], items == ItemKeys::dotted ? before + std::to_string(i) : fmt::format("{}[{}]", key, i), items, take);
    } else {
        for (const auto& [name, item] : value.items()) walk(item, before + name, items, take);
    }
}

/// Of an item of a list, as a data entry's: of these there may be thousands.
bool is_of_item(const std::string& key) {
    const auto parts = split(key, '.');
    return std::any_of(parts.begin(), parts.end(), [](std::string_view part) { return parse_int(part).has_value(); });
}

}  // namespace

void for_each_setting(const Json& settings, ItemKeys items, const std::function<void(const std::string&, const Json&)>& take) {
    walk(settings, "", items, take);
}

bool says_nothing(std::string_view value) { return value == "null" || value == "[]" || value == "{}"; }

Flat flat_settings(const Json& settings) {
    Flat flat, items;
    for_each_setting(settings, ItemKeys::dotted, [&](const std::string& key, const Json& value) {
        Flat& list = is_of_item(key) ? items : flat;
        if (list.size() < max_keys && key.size() <= max_key) list.emplace_back(key, value_text(value));
    });
    items.resize(std::min(items.size(), max_keys - flat.size()));
    flat.insert(flat.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    std::sort(flat.begin(), flat.end());
    return flat;
}

}  // namespace faceter
