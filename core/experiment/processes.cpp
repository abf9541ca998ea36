#include "experiment/processes.h"

#include "common/error.h"

namespace faceter {

void check_processes(const Json& settings, const Catalogue& catalogue, int processes) {
    if (processes <= 1) return;
    const Json& variant = settings.at("variant");
    const Catalogue::Entry* entry = catalogue.find(ExtensionKind::variant, json_at<std::string>(variant, "method", "variant"));
    for (const Field& field : entry ? entry->extension.schema.fields : std::vector<Field>())
        for (const Exclusion& other : field.exclusions)
            if (other.setting == "devices" && variant.contains(field.key) && variant[field.key] != field.default_value)
                throw settings_error("variants.{}.{} is {}, and {} processes shall train together: {}",
                                     json_or<std::string>(variant, "name", "", "variant"), field.key, variant[field.key].dump(), processes,
                                     other.reason);
}

void check_processes(const Experiment& experiment, const Catalogue& catalogue, int processes) {
    for (const ResolvedRun& run : experiment.runs()) check_processes(run.settings, catalogue, processes);
}

}  // namespace faceter
