#include "experiment/mined_negatives.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/sweep.h"

namespace faceter {
namespace {

/// Whether two stages' tasks have one in common; an empty list names all.
bool meet(const Json& one, const Json& other) {
    return one.empty() || other.empty() || std::any_of(one.begin(), one.end(), [&](const Json& task) {
               return std::find(other.begin(), other.end(), task) != other.end();
           });
}

/// In its loss, or a plugin's curriculum, which may order examples by them.
bool reads_negatives(const Json& stage, const Catalogue& catalogue, bool swept) {
    const auto entry = [&](ExtensionKind kind, const char* part) {
        return catalogue.find(kind, stage.at(part).at("method").get<std::string>());
    };
    const Catalogue::Entry *objective = entry(ExtensionKind::objective, "objective"),
                           *curriculum = entry(ExtensionKind::curriculum, "curriculum");
    if (!objective || !curriculum || curriculum->plugin != "core") return true;
    const bool none = json_or<Json>(stage.at("objective"), "hard_negatives", Json(), "objective") == Json("none");
    return !objective->extension.on_tokens && (!none || swept);
}

}  // namespace

/// They are mined once, and stay with the data of the stages behind.
void check_mined_negatives(const Json& settings, const YamlNode& root, const Catalogue& catalogue, Problems& problems) {
    constexpr const char* setting = "objective.hard_negatives";
    const Json& stages = settings.at("stages");
    const YamlNode* nodes = root.find("stages");
    const auto reads = [&](std::size_t i) {
        return reads_negatives(stages[i], catalogue, is_swept(root, setting) || is_swept(root, fmt::format("stages[{}].{}", i, setting)));
    };
    for (std::size_t first = 0; first < stages.size(); ++first) {
        if (!stages[first].at("mine").is_object()) continue;
        bool any = false;
        for (std::size_t i = first; i < stages.size(); ++i)
            any = any || (meet(stages[first].at("tasks"), stages[i].at("tasks")) && reads(i));
        if (any) continue;
        const YamlNode* mine = nodes->items[first].find("mine");
        problems.add(
            (mine ? *mine : nodes->items[first]).position(),
            fmt::format("stages[{}].mine is set, and no loss on its tasks counts hard negatives, in this stage and those behind it "
                        "(objective.hard_negatives: none, or masked_language): set hard_negatives to all or own, or leave mine out",
                        first));
    }
}

}  // namespace faceter
