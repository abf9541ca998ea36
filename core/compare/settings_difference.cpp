#include "compare/settings_difference.h"

#include <algorithm>
#include <map>

#include "experiment/flat_settings.h"

namespace faceter {
namespace {

constexpr const char* absent = "—";

/// Not there, or there and nothing: what an older version, or a list of another length, has not.
bool is_nothing(const std::string& value) { return value == absent || says_nothing(value); }

bool are_alike(const std::vector<std::string>& values) {
    return std::all_of(values.begin(), values.end(), [&](const std::string& value) { return value == values[0]; }) ||
           std::all_of(values.begin(), values.end(), is_nothing);
}

constexpr const char* names_and_machine[] = {"seed", "name", "description", "threads", "device"};

void forget_writing(Json& owner) {
    if (!owner.is_object() || !owner.contains("training") || !owner["training"].is_object()) return;
    for (const char* key : {"checkpoint_every_steps", "keep_checkpoints", "gradient_bucket", "rank_timeout_s"})
        owner["training"].erase(key);
}

}  // namespace

Json score_settings(Json settings) {
    if (!settings.is_object()) return settings;
    for (const char* key : names_and_machine) settings.erase(key);
    forget_writing(settings);
    if (const auto stages = settings.find("stages"); stages != settings.end() && stages->is_array())
        for (Json& stage : *stages) forget_writing(stage);
    return settings;
}

SettingsDifference settings_difference(const std::vector<Json>& settings) {
    std::vector<std::map<std::string, std::string>> flat(settings.size());
    std::map<std::string, bool> keys;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        Json compared = settings[i];
        if (compared.is_object())
            for (const char* key : names_and_machine) compared.erase(key);
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
        if (are_alike(difference.values))
            ++result.equal;
        else
            result.differing.push_back(std::move(difference));
    }
    return result;
}

}  // namespace faceter
