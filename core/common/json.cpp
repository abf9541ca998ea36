#include "common/json.h"

#include <algorithm>
#include <vector>

#include "common/error.h"
#include "common/file.h"

namespace faceter {
namespace {

/// Json keeps members in order and searches them one by one, so an object's size costs its square: what a hostile file could hang us with.
constexpr std::size_t max_members = 20'000;

}  // namespace

Json parse_json(std::string_view text, std::string_view name, int max_depth) {
    std::vector<std::size_t> num_members;  // of the objects that are open
    const auto limit = [&](int depth, Json::parse_event_t event, Json&) {
        if (depth > max_depth) throw data_error("{}: nested deeper than {} levels", name, max_depth);
        if (event == Json::parse_event_t::object_start) num_members.push_back(0);
        if (event == Json::parse_event_t::object_end) num_members.pop_back();
        if (event == Json::parse_event_t::key && ++num_members.back() > max_members)
            throw data_error("{}: an object has more than {} members", name, max_members);
        return true;
    };
    try {
        return Json::parse(text.begin(), text.end(), limit);
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

Json read_json(const std::filesystem::path& path, std::uint64_t max_bytes) { return parse_json(read_file(path, max_bytes), path.string()); }

void throw_json_member(std::string_view name, std::string_view key, std::string_view what) {
    throw data_error("{}: member '{}' {}", name, key, what);
}

}  // namespace faceter
