#include "plugin/declared_settings.h"

#include "settings/check.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

const Catalogue& catalogue() {
    static const Catalogue known = Catalogue::load(plugin_folders());
    return known;
}

}  // namespace

Json declared_settings(ExtensionKind kind, const std::string& name, Json settings) {
    if (const Catalogue::Entry* entry = catalogue().find(kind, name)) settings = filled_in(entry->extension.schema, std::move(settings));
    if (kind == ExtensionKind::variant && settings["seed"].is_null()) settings["seed"] = seed_of(settings);
    return settings;
}

}  // namespace faceter
