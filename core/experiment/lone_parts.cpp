#include "experiment/lone_parts.h"

#include <algorithm>
#include <optional>
#include <set>

#include "common/strings.h"

namespace faceter {
namespace {

/// The variant's setting that says what shares a part has another value than its default.
bool is_set(const Extension& variant, const Json& settings) {
    const Field* field = variant.schema.find(variant.parts.setting);
    return field && settings.contains(field->key) && settings[field->key] != field->default_value;
}

/// The instruction of all texts, where one part is for all of them.
std::optional<std::string> only_instruction(const Json& tasks, const Parts& parts) {
    std::set<std::pair<std::string, std::string>> all;
    for (const auto& [name, task] : tasks.items())
        for (const char* side : {"query", "document"})
            all.emplace(parts.by_task ? name : "", json_or<std::string>(task.at("instructions"), side, "", "settings"));
    return all.size() == 1 ? std::optional(all.begin()->second) : std::nullopt;
}

}  // namespace

std::vector<std::string> lone_parts(const Experiment& experiment, const Catalogue& catalogue) {
    std::vector<std::string> remarks;
    for (const ResolvedRun& run : experiment.runs()) {
        const Catalogue::Entry* variant = catalogue.find(ExtensionKind::variant, run.method);
        if (!variant || variant->extension.parts.name.empty() || is_set(variant->extension, run.settings.at("variant"))) continue;
        const Parts& parts = variant->extension.parts;
        const auto instruction = only_instruction(run.settings.at("tasks"), parts);
        if (!instruction) continue;
        std::string remark = fmt::format(
            "{}: variant '{}' ({}) has one {} for all texts, as {}: it keeps nothing apart, and is no more than {}; give {} "
            "instructions of their own",
            experiment.file().string(), run.variant, run.method, parts.name,
            instruction->empty() ? "none has an instruction" : fmt::format("all have the instruction {}", faceter::quoted(*instruction)),
            parts.by_task ? "one adapter on the whole (plain LoRA)" : "a dense model",
            parts.by_task ? "queries and documents" : "tasks, or queries and documents,");
        if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) remarks.push_back(std::move(remark));
    }
    return remarks;
}

}  // namespace faceter
