#include "experiment/mined_negatives.h"

#include <algorithm>
#include <set>

#include "common/error.h"

namespace faceter {
namespace {

/// Whether two stages' tasks have one in common; an empty list names all.
bool meet(const Json& one, const Json& other) {
    return one.empty() || other.empty() || std::any_of(one.begin(), one.end(), [&](const Json& task) {
               return std::find(other.begin(), other.end(), task) != other.end();
           });
}

/// In its loss, or a plugin's curriculum, which may order examples by them.
bool reads_negatives(const Json& stage, const Catalogue& catalogue) {
    const auto entry = [&](ExtensionKind kind, const char* part) {
        return catalogue.find(kind, stage.at(part).at("method").get<std::string>());
    };
    const Catalogue::Entry *objective = entry(ExtensionKind::objective, "objective"),
                           *curriculum = entry(ExtensionKind::curriculum, "curriculum");
    if (!objective || !curriculum || curriculum->plugin != "core") return true;
    const bool none = json_or<Json>(stage.at("objective"), "hard_negatives", Json(), "objective") == Json("none");
    return !objective->extension.on_tokens && !none;
}

}  // namespace

/// They are mined once, and stay with the data of the stages behind. A sweep may hold them against a loss without: some run reads them.
void check_mined_negatives(const Experiment& experiment, const Catalogue& catalogue) {
    std::set<std::size_t> mining, read;  // places of stages
    for (const ResolvedRun& run : experiment.runs()) {
        const Json& stages = run.settings.at("stages");
        for (std::size_t first = 0; first < stages.size(); ++first) {
            if (!stages[first].at("mine").is_object()) continue;
            mining.insert(first);
            for (std::size_t i = first; i < stages.size(); ++i)
                if (meet(stages[first].at("tasks"), stages[i].at("tasks")) && reads_negatives(stages[i], catalogue)) read.insert(first);
        }
    }
    for (const std::size_t stage : mining)
        if (!read.contains(stage))
            throw settings_error(
                "{}: stages[{}].mine is set, and no loss on its tasks counts hard negatives, in this stage and those behind it "
                "(objective.hard_negatives: none, or masked_language): set hard_negatives to all or own, or leave mine out",
                experiment.file().string(), stage);
}

}  // namespace faceter
