#include "common/json.h"

#include <algorithm>

#include "common/error.h"
#include "common/file.h"

namespace faceter {

Json parse_json(std::string_view text, std::string_view name, int max_depth) {
    const auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
        if (depth > max_depth) throw data_error("{}: nested deeper than {} levels", name, max_depth);
        return true;
    };
    try {
        return Json::parse(text.begin(), text.end(), limit_depth);
    } catch (const nlohmann::json::parse_error& error) {
        const std::size_t at = std::min<std::size_t>(error.byte ? error.byte - 1 : 0, text.size());
        const std::string_view before = text.substr(0, at);
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
        throw data_error("{}:{}:{}: not valid JSON (byte {})", name, line, at - start + 1, at);
    } catch (const nlohmann::json::exception& error) {
        throw data_error("{}: not valid JSON: {}", name, error.what());
    }
}

Json read_json(const std::filesystem::path& path, std::uint64_t max_bytes) {
    return parse_json(read_file(path, max_bytes), path.string());
}

void throw_json_member(std::string_view name, std::string_view key, std::string_view what) {
    throw data_error("{}: member '{}' {}", name, key, what);
}

}  // namespace faceter
