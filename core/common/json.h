#pragma once
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace faceter {

using Json = nlohmann::ordered_json;

/// Parses a document; `name` stands in front of the message ("name:line:column: ..."). Depth is limited to `max_depth`, an
/// object to 20,000 members (larger ones: text/json_document.h).
Json parse_json(std::string_view text, std::string_view name, int max_depth = 64);
/// Reads and parses a file of at most `max_bytes`.
Json read_json(const std::filesystem::path& path, std::uint64_t max_bytes = std::uint64_t(1) << 30);
/// A number without a fraction that T can hold, however it is written (12, 12.0, 1e3); nothing of any other value. nlohmann's own
/// conversion cuts fractions off, wraps negative numbers around, and is undefined for those beyond the type.
template <typename T>
std::optional<T> whole_number(const Json& value);
/// Member `key` of an object as T; a data error naming `name` and the key where it is missing or of another type, where T is a whole number
/// (or a list of them) also where the value is none or too large.
template <typename T>
T json_at(const Json& object, std::string_view key, std::string_view name);
/// The same with a default for a missing (or null) member.
template <typename T>
T json_or(const Json& object, std::string_view key, T fallback, std::string_view name);

[[noreturn]] void throw_json_member(std::string_view name, std::string_view key, std::string_view what);
/// The same for a value that is no whole number from `least` to `most`; it is quoted.
[[noreturn]] void throw_not_whole(std::string_view name, std::string_view key, const Json& value, std::int64_t least, std::uint64_t most);

template <typename T>
concept WholeNumber = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
struct IsListOfWhole : std::false_type {};
template <WholeNumber T>
struct IsListOfWhole<std::vector<T>> : std::true_type {};

template <typename T>
std::optional<T> whole_number(const Json& value) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        return std::in_range<T>(number) ? std::optional<T>(static_cast<T>(number)) : std::nullopt;
    }
    std::int64_t number = 0;
    if (value.is_number_integer()) {
        number = value.get<std::int64_t>();
    } else if (value.is_number_float()) {
        constexpr double exact = 9007199254740992;  // 2^53: beyond it not every whole number has a double of its own
        const double real = value.get<double>();
        if (!(std::abs(real) <= exact) || std::trunc(real) != real) return std::nullopt;
        number = static_cast<std::int64_t>(real);
    } else {
        return std::nullopt;
    }
    return std::in_range<T>(number) ? std::optional<T>(static_cast<T>(number)) : std::nullopt;
}

template <WholeNumber T>
T whole_member(const Json& value, std::string_view key, std::string_view name) {
    const std::optional<T> number = whole_number<T>(value);
    if (!number) throw_not_whole(name, key, value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    return *number;
}

template <typename T>
T json_at(const Json& object, std::string_view key, std::string_view name) {
    if (!object.is_object() || !object.contains(key)) throw_json_member(name, key, "is missing");
    const Json& value = object.at(std::string(key));
    if constexpr (WholeNumber<T>) return whole_member<T>(value, key, name);
    if constexpr (IsListOfWhole<T>::value) {
        if (!value.is_array()) throw_json_member(name, key, "has the wrong type");
        T numbers;
        for (const Json& one : value) numbers.push_back(whole_member<typename T::value_type>(one, key, name));
        return numbers;
    }
    try {
        return value.template get<T>();
    } catch (const nlohmann::json::exception&) {
        throw_json_member(name, key, "has the wrong type");
    }
}

template <typename T>
T json_or(const Json& object, std::string_view key, T fallback, std::string_view name) {
    if (!object.is_object() || !object.contains(key) || object.at(std::string(key)).is_null()) return fallback;
    return json_at<T>(object, key, name);
}

}  // namespace faceter
