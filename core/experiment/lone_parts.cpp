#include "experiment/lone_parts.h"

#include <algorithm>
#include <optional>
#include <set>

#include "common/strings.h"
#include "experiment/recipes.h"

namespace faceter {
namespace {

/// The variant's setting that says what shares a part has another value than its default.
bool is_set(const Extension& variant, const Json& settings) {
    const Field* field = variant.schema.find(variant.parts.setting);
    return field && settings.contains(field->key) && settings[field->key] != field->default_value;
}

/// The task (where parts go by task) and the instruction of a part.
using PartKeys = std::set<std::pair<std::string, std::string>>;

PartKeys parts_of(const std::string& name, const Json& task, bool by_task) {
    PartKeys parts;
    for (const char* side : {"query", "document"})
        parts.emplace(by_task ? name : "", json_or<std::string>(task.at("instructions"), side, "", "settings"));
    return parts;
}

/// The instruction of all texts, where one part is for all of them.
std::optional<std::string> only_instruction(const Json& tasks, const Parts& parts) {
    PartKeys all;
    for (const auto& [name, task] : tasks.items()) all.merge(parts_of(name, task, parts.by_task));
    return all.size() == 1 ? std::optional(all.begin()->second) : std::nullopt;
}

/// What each task has of its own; empty: nothing, or a setting says what shares it.
std::string own_part(const Extension& variant, const Json& settings) {
    if (variant.training.what == Training::What::encoder_a_task) return "encoder";
    return is_set(variant, settings) ? "" : variant.parts.name;
}

/// Tasks of which a part is never trained: their own, or an instruction's that no trained task has.
std::vector<std::string> tasks_with_untrained_parts(const Json& settings, bool by_task) {
    const Json& tasks = settings.at("tasks");
    PartKeys trained;
    for (const Json& recipe : recipes_of(settings))
        for (const auto& [name, task] : tasks.items())
            if (trains_on(recipe, name, task)) trained.merge(parts_of(name, task, by_task));
    std::vector<std::string> names;
    for (const auto& [name, task] : tasks.items()) {
        const PartKeys own = parts_of(name, task, by_task);
        if (!std::includes(trained.begin(), trained.end(), own.begin(), own.end())) names.push_back(faceter::quoted(name));
    }
    return names;
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

std::vector<std::string> untrained_parts(const Experiment& experiment, const Catalogue& catalogue) {
    std::vector<std::string> remarks;
    for (const ResolvedRun& run : experiment.runs()) {
        const Catalogue::Entry* variant = catalogue.find(ExtensionKind::variant, run.method);
        if (!variant) continue;
        const Json& settings = run.settings.at("variant");
        const std::string part = own_part(variant->extension, settings);
        if (part.empty()) continue;
        const bool by_task = variant->extension.parts.by_task || variant->extension.training.what == Training::What::encoder_a_task;
        const std::vector<std::string> tasks = tasks_with_untrained_parts(run.settings, by_task);
        if (tasks.empty()) continue;
        const bool averaged = json_or<std::string>(settings, "final_form", "", "variant") == "averaged", one = tasks.size() == 1;
        std::string remark = fmt::format(
            "{}: variant '{}' ({}): nothing trains task{} {}: {} {} stay{} as the start model is{}; give {} training data, or leave {} out",
            experiment.file().string(), run.variant, run.method, one ? "" : "s", join(tasks, ", "), one ? "its" : "their",
            one ? part : part + "s", one ? "s" : "",
            averaged ? ", and the average at the end counts " + std::string(one ? "it" : "them") : "", one ? "it" : "them",
            one ? "it" : "them");
        if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) remarks.push_back(std::move(remark));
    }
    return remarks;
}

}  // namespace faceter
