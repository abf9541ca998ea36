#include "experiment/completed_settings.h"

#include "data/settings.h"
#include "experiment/experiment_schema.h"
#include "settings/check.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

void complete_entries(Json& owner, const char* key) {
    if (!owner.is_object() || !owner.contains(key) || !owner[key].is_array()) return;
    for (Json& entry : owner[key])
        if (entry.is_object()) entry = filled_in(data_entry_schema(), std::move(entry));
}

void complete_method(Json& owner, const char* key, ExtensionKind kind, const Catalogue& catalogue) {
    if (!owner.contains(key) || !owner[key].is_object()) return;
    const Catalogue::Entry* entry = catalogue.find(kind, json_or<std::string>(owner[key], "method", "", key));
    if (entry) owner[key] = filled_in(entry->extension.schema, std::move(owner[key]));
}

void complete_analyses(Json& analyses, const Catalogue& catalogue) {
    for (Json& analysis : analyses) {
        if (!analysis.is_object()) continue;
        const auto name = json_or<std::string>(analysis, "method", "", "analyses");
        if (const Catalogue::Entry* entry = catalogue.find(ExtensionKind::analysis, name))
            analysis = filled_in(analysis_schema(*entry), std::move(analysis));
    }
}

void complete_recipe(Json& recipe, const Catalogue& catalogue) {
    if (!recipe.is_object()) return;
    complete_method(recipe, "curriculum", ExtensionKind::curriculum, catalogue);
    complete_method(recipe, "objective", ExtensionKind::objective, catalogue);
    if (recipe.contains("training") && recipe["training"].is_object())
        recipe["training"] = filled_in(training_schema(), std::move(recipe["training"]));
}

}  // namespace

Json completed_settings(Json settings, const Catalogue& catalogue) {
    if (!settings.is_object()) return settings;
    if (settings.contains("tasks") && settings["tasks"].is_object())
        for (Json& task : settings["tasks"])
            for (const char* key : {"train", "validation"}) complete_entries(task, key);
    if (settings.contains("evaluation")) complete_entries(settings["evaluation"], "datasets");
    complete_method(settings, "variant", ExtensionKind::variant, catalogue);
    complete_recipe(settings, catalogue);
    if (settings.contains("analyses") && settings["analyses"].is_array()) complete_analyses(settings["analyses"], catalogue);
    if (settings.contains("stages") && settings["stages"].is_array())
        for (Json& stage : settings["stages"]) complete_recipe(stage, catalogue);
    return settings;
}

}  // namespace faceter
