#include "common/json.h"

#include <algorithm>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/untrusted_json.h"

namespace faceter {
namespace {

/// The place behind a string that begins before `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
    for (; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    return at;
}

/// About what a parsed list or object, a string beside its letters, and another value take of memory, in bytes.
constexpr std::size_t container_cost = 64, string_cost = 48, value_cost = 24;

/// Bytes that a document may take when it is parsed: little ones what they want, large ones some times their length. Lists of numbers as
/// programs write them take five times, short words ten, empty lists thirty.
std::size_t most_parsed(std::string_view text) { return std::max(std::size_t{256} << 20, 10 * text.size()); }

/// What of a document is beyond the limits; empty where nothing is. Counts brackets, commas and colons alone: at least as many as the
/// parser sees.
std::string excess(std::string_view text, const JsonLimits& limits) {
    std::vector<std::size_t> num_members;  // of the lists and objects that are open
    std::size_t num_compared = 0, parsed = 0;
    const std::size_t most = most_parsed(text);
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (parsed > most) return "holds too many small values for its length";
        if (c == ',') {
            parsed += value_cost;
        } else if (c == '"') {
            const std::size_t begin = at;
            at = skip_string(text, at + 1);
            parsed += string_cost + at - begin;
        } else if (c == '{' || c == '[') {
            parsed += container_cost;
            num_members.push_back(0);
            if (num_members.size() > static_cast<std::size_t>(limits.depth))
                return fmt::format("nested deeper than {} levels", limits.depth);
        } else if (c == ':' && !num_members.empty()) {
            num_compared += num_members.back();
            if (++num_members.back() > limits.members) return fmt::format("an object has more than {} members", limits.members);
            if (num_compared > limits.members * limits.members / 2) return "too many objects have thousands of members";
        } else if ((c == '}' || c == ']') && !num_members.empty()) {
            num_members.pop_back();
        }
    }
    return {};
}

/// "NAME:LINE:COLUMN: not valid JSON", of the place of a byte.
[[noreturn]] void throw_not_json(std::string_view text, std::string_view name, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw data_error("{}:{}:{}: not valid JSON (byte {})", name, line, at - start + 1, at);
}

}  // namespace

Json parse_untrusted_json(std::string_view text, const JsonLimits& limits) {
    if (text.find('\0') != std::string_view::npos || !excess(text, limits).empty()) return Json(Json::value_t::discarded);
    return Json::parse(text.begin(), text.end(), nullptr, false);
}

Json parse_json(std::string_view text, std::string_view name, int max_depth) {
    if (const std::string problem = excess(text, {max_depth}); !problem.empty()) throw data_error("{}: {}", name, problem);
    try {
        Json json = Json::parse(text.begin(), text.end());
        const std::size_t zero = text.find('\0');  // the parser takes one for the end, and what stands behind it for nothing
        if (zero != std::string_view::npos) throw_not_json(text, name, zero);
        return json;
    } catch (const nlohmann::json::parse_error& error) {
        throw_not_json(text, name, std::min<std::size_t>(error.byte ? error.byte - 1 : 0, text.size()));
    } catch (const nlohmann::json::exception&) {
        throw data_error("{}: holds a number that is too large, such as 1e400", name);
    }
}

Json read_json(const std::filesystem::path& path, std::uint64_t max_bytes) { return parse_json(read_file(path, max_bytes), path.string()); }

void throw_json_member(std::string_view name, std::string_view key, std::string_view what) {
    throw data_error("{}: member '{}' {}", name, key, what);
}

void throw_not_whole(std::string_view name, std::string_view key, const Json& value, std::int64_t least, std::uint64_t most) {
    if (!value.is_number()) throw_json_member(name, key, "has the wrong type");
    throw_json_member(name, key, fmt::format("is {}, not a whole number from {} to {}", value.dump(), least, most));
}

}  // namespace faceter
