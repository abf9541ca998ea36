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

/// The instruction of all texts, where one part is for all of them.
std::optional<std::string> only_instruction(const Json& tasks, const Parts& parts) {
    std::set<std::pair<std::string, std::string>> all;
    for (const auto& [name, task] : tasks.items())
        for (const char* side : {"query", "document"})
            all.emplace(parts.by_task ? name : "", json_or<std::string>(task.at("instructions"), side, "", "settings"));
    return all.size() == 1 ? std::optional(all.begin()->second) : std::nullopt;
}

/// What each task has of its own; empty: nothing, or a setting says what shares it.
std::string own_part(const Extension& variant, const Json& settings) {
    if (variant.training.what == Training::What::encoder_a_task) return "encoder";
    return is_set(variant, settings) ? "" : variant.parts.name;
}

class TrainedParts {
  public:
    TrainedParts(const Json& settings, const Extension& variant) : tasks_(settings.at("tasks")), variant_(variant) {
        for (const Json& recipe : recipes_of(settings))
            for (const auto& [name, task] : tasks_.items())
                if (trains_on(recipe, name, task)) trained_.insert(name);
    }
    /// Tasks of which a part is never trained: their own, or an instruction's that no trained task has.
    std::vector<std::string> missing() const {
        std::vector<std::string> names;
        for (const auto& [name, task] : tasks_.items())
            if (!trained_.contains(name) && !(goes_by_instruction() && has_trained_instructions(task)))
                names.push_back(faceter::quoted(name));
        return names;
    }

  private:
    bool goes_by_instruction() const { return variant_.training.what != Training::What::encoder_a_task && !variant_.parts.by_task; }
    bool has_trained_instructions(const Json& task) const {
        for (const char* side : {"query", "document"})
            if (!is_trained(instruction(task, side))) return false;
        return true;
    }
    bool is_trained(const std::string& wanted) const {
        for (const std::string& name : trained_)
            for (const char* side : {"query", "document"})
                if (instruction(tasks_.at(name), side) == wanted) return true;
        return false;
    }
    static std::string instruction(const Json& task, const char* side) {
        return json_or<std::string>(task.at("instructions"), side, "", "settings");
    }

    const Json& tasks_;
    const Extension& variant_;
    std::set<std::string> trained_;
};

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
        const std::vector<std::string> tasks = TrainedParts(run.settings, variant->extension).missing();
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
