#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace faceter {

using Json = nlohmann::ordered_json;

/// Parses a document; `name` stands in front of the message ("name:line:column: ..."). Depth is limited to `max_depth`, an
/// object to 20,000 members (larger ones: text/json_document.h).
Json parse_json(std::string_view text, std::string_view name, int max_depth = 64);
/// Reads and parses a file of at most `max_bytes`.
Json read_json(const std::filesystem::path& path, std::uint64_t max_bytes = std::uint64_t(1) << 30);
/// Member `key` of an object as T; a data error naming `name` and the key where it is missing or of another type.
template <typename T>
T json_at(const Json& object, std::string_view key, std::string_view name);
/// The same with a default for a missing (or null) member.
template <typename T>
T json_or(const Json& object, std::string_view key, T fallback, std::string_view name);

[[noreturn]] void throw_json_member(std::string_view name, std::string_view key, std::string_view what);

template <typename T>
T json_at(const Json& object, std::string_view key, std::string_view name) {
    if (!object.is_object() || !object.contains(key)) throw_json_member(name, key, "is missing");
    try {
        return object.at(std::string(key)).template get<T>();
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
