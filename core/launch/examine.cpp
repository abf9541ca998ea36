#include "launch/examine.h"

#include <algorithm>

#include "common/command.h"
#include "common/error.h"
#include "common/strings.h"
#include "launch/remote.h"

namespace faceter {
namespace {

/// A cluster may let one wait for a node.
constexpr int limit_s = 600;

bool holds_words(const Json& list) {
    return std::all_of(list.begin(), list.end(), [](const Json& one) { return one.is_string(); });
}

bool is_finding(const Json& json) {
    if (!json.is_object() || (json.contains("error") && !json["error"].is_string())) return false;
    const auto has = [&](const char* key, Json::value_t type) { return json.contains(key) && json[key].type() == type; };
    return has("what", Json::value_t::string) && has("command", Json::value_t::string) && has("safe", Json::value_t::boolean) &&
           has("mended", Json::value_t::boolean);
}

bool holds_findings(const Json& list) { return list.is_array() && std::all_of(list.begin(), list.end(), is_finding); }

/// What comes from another machine is printed by the rules of ours.
Json checked_facts(const std::string& text, const std::string& where) {
    const Json facts = parse_json(text, where);
    if (!facts.is_object() || !facts.contains("problems") || !facts["problems"].is_array())
        throw data_error("{}: answered {}, not what faceter doctor --json says; look at the program that the profile names", where,
                         faceter::quoted(text));
    for (const auto& [key, value] : facts.items()) {
        const bool counted = !key.ends_with("_bytes") || value.is_number_unsigned();
        const bool readable = key == "findings" ? holds_findings(value) : !value.is_array() || holds_words(value);
        if (!counted || !readable)
            throw data_error("{}: {} is {}; is the faceter there much older or newer than this one?", where, faceter::quoted(key),
                             faceter::quoted(value.dump()));
    }
    return facts;
}

}  // namespace

Json examine_through(const Profile& profile) {
    const bool ssh = profile.kind == "ssh";
    const std::string where = ssh ? profile.settings["host"].get<std::string>() : "srun";
    std::vector<std::string> arguments{"doctor", "--json"};
    if (const std::string inner = ssh ? profile.settings["profile"].get<std::string>() : ""; !inner.empty())
        arguments.insert(arguments.end(), {"--profile", inner});
    const CommandResult result = ssh ? run_command(ssh_command(profile), remote_script(profile, arguments), limit_s)
                                     : run_command(srun_command(profile), examination_script(profile), limit_s);
    if (result.code != 0)
        throw failure("{}: {}", where, result.complaint.empty() ? fmt::format("exit code {}", result.code) : result.complaint);
    return checked_facts(result.output, where);
}

}  // namespace faceter
