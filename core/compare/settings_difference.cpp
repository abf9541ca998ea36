#include "compare/settings_difference.h"

#include <algorithm>
#include <map>

#include "experiment/flat_settings.h"

namespace faceter {
namespace {

constexpr const char* absent = "—";

}  // namespace

SettingsDifference settings_difference(const std::vector<Json>& settings) {
    std::vector<std::map<std::string, std::string>> flat(settings.size());
    std::map<std::string, bool> keys;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        Json compared = settings[i];
        if (compared.is_object())
            for (const char* key : {"seed", "name", "description", "threads", "device"}) compared.erase(key);
        for_each_setting(compared, ItemKeys::bracketed, [&](const std::string& key, const Json& value) {
            flat[i][key] = value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
        });
        for (const auto& [key, value] : flat[i]) keys[key] = true;
    }
    SettingsDifference result;
    for (const auto& [key, present] : keys) {
        SettingDifference difference{key, {}};
        for (const auto& of : flat) {
            const auto found = of.find(key);
            difference.values.push_back(found == of.end() ? absent : found->second);
        }
        const bool alike = std::all_of(difference.values.begin(), difference.values.end(),
                                       [&](const std::string& v) { return v == difference.values[0]; });
        if (alike)
            ++result.equal;
        else
            result.differing.push_back(std::move(difference));
    }
    return result;
}

}  // namespace faceter
