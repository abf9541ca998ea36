#include "experiment/entry_uses.h"

#include <fmt/format.h>

#include <span>

#include "data/settings.h"

namespace faceter {
namespace {

struct Unread {
    const char *setting, *reason;
};

constexpr const char* own_instructions = "say instructions: {query: ..., document: ...}, or give the task instructions";

constexpr Unread of_training[] = {
    {"subsets",
     "it chooses the languages or other parts that are scored, and all that the data set has are trained on; name the folder or "
     "file of the part that is meant"},
    {"as", "it says whose instruction and expert texts get that are scored; training data are their task's"},
    {"role", "it is of texts that are scored"},
    {"query_instruction", own_instructions},
    {"document_instruction", own_instructions},
};
constexpr Unread of_scores[] = {
    {"instructions",
     "it is of training data; what stands in front of texts that are scored is their task's, or query_instruction and "
     "document_instruction of the entry"},
};
constexpr Unread of_validation[] = {of_scores[0], {"as", "validation data are scored as their own task"}};

void check(const YamlNode* owner, const char* key, const std::string& where, std::span<const Unread> unread, Problems& problems) {
    static const Json defaults = defaults_of(data_entry_schema());
    const YamlNode* list = owner ? owner->find(key) : nullptr;
    for (std::size_t i = 0; list && i < list->items.size(); ++i)
        for (const auto& [setting, reason] : unread)
            if (const YamlNode* value = list->items[i].find(setting); value && yaml_to_json(*value) != defaults.at(setting))
                problems.add(value->position(), fmt::format("{}.{}[{}].{} has no effect: {}", where, key, i, setting, reason));
}

}  // namespace

void check_entry_uses(const YamlNode& root, Problems& problems) {
    if (const YamlNode* tasks = root.find("tasks"))
        for (const auto& entry : tasks->entries) {
            check(&entry.value, "train", "tasks." + entry.key, of_training, problems);
            check(&entry.value, "validation", "tasks." + entry.key, of_validation, problems);
        }
    check(root.find("evaluation"), "datasets", "evaluation", of_scores, problems);
}

}  // namespace faceter
