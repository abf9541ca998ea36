#pragma once
#include <simdjson.h>

#include <filesystem>
#include <functional>
#include <string_view>

namespace faceter {

/// Parses a large document with simdjson and hands its root to `read` (whose views end with the call). For files with tens of thousands of
/// members, where Json would take quadratic time. `name` stands in front of messages; an error gives line and column.
void with_json_document(std::string_view text, std::string_view name, const std::function<void(simdjson::dom::element)>& read);

/// Member `key` as T, or `fallback` where it is missing or null; a data error where it has another type.
template <typename T>
T member_or(const simdjson::dom::element& object, std::string_view key, T fallback, std::string_view name);
/// Member `key` as a string; a data error where it is missing or of another type.
std::string_view member_text(const simdjson::dom::element& object, std::string_view key, std::string_view name);

}  // namespace faceter
