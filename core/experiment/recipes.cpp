#include "experiment/recipes.h"

#include <algorithm>

#include "settings/check.h"
#include "settings/core_settings.h"

namespace faceter {

std::vector<Json> recipes_of(const Json& settings) {
    Json recipes = json_or<Json>(settings, "stages", Json::array(), "settings");
    if (recipes.empty()) {
        Json whole = Json::object();
        for (const char* part : {"training", "curriculum", "objective"})
            if (settings.contains(part)) whole[part] = settings.at(part);
        recipes.push_back(std::move(whole));
    }
    std::vector<Json> all;
    for (const Json& recipe : recipes) all.push_back(filled_in(stage_schema(), recipe));
    return all;
}

bool trains(const Json& recipe, const std::string& task) {
    const auto tasks = json_at<std::vector<std::string>>(recipe, "tasks", "stages");
    return tasks.empty() || std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

bool trains_on(const Json& recipe, const std::string& name, const Json& task) {
    if (!trains(recipe, name) || task.at("train").empty()) return false;
    const bool by_weight = json_at<std::string>(recipe.at("curriculum"), "method", "curriculum") == "task_aware";
    return !by_weight || json_at<double>(task, "weight", "task") > 0;
}

bool mines_for(const Json& recipe, const std::string& task) {
    const Json& mine = recipe.at("mine");
    return trains(recipe, task) && mine.is_object() && !json_at<bool>(mine, "filter_given", "mine");
}

}  // namespace faceter
