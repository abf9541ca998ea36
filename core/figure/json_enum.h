#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/json.h"
#include "common/strings.h"

namespace faceter {

/// Names of an enum's values, for reading and writing documents.
template <typename Enum, std::size_t N>
struct EnumNames {
    std::pair<Enum, std::string_view> names[N];

    std::string_view of(Enum value) const {
        for (const auto& [candidate, name] : names)
            if (candidate == value) return name;
        return {};
    }
    /// A data error naming the document, the key and the nearest valid word.
    Enum parse(std::string_view word, std::string_view document, std::string_view key) const {
        std::vector<std::string> known;
        for (const auto& [candidate, name] : names) {
            if (name == word) return candidate;
            known.emplace_back(name);
        }
        throw data_error("{}: '{}' has the unknown value {}{}", document, key, faceter::quoted(word), suggestion(word, known));
    }
};
template <typename Enum, std::size_t N>
EnumNames(const std::pair<Enum, std::string_view> (&)[N]) -> EnumNames<Enum, N>;

}  // namespace faceter
