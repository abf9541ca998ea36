#include "token_caches.h"

#include <ATen/Parallel.h>

#include <set>

#include "data/leaves.h"
#include "plugin/loader.h"
#include "plugin/run_model.h"
#include "plugin/stage_plan.h"

namespace faceter::worker {
namespace {

/// What decides a run's tokens: points of a sweep often share them.
std::string key_of(const Json& settings) {
    Json key = settings;
    for (const char* part : {"evaluation", "analyses", "name", "description"}) key.erase(part);
    return key.dump();
}

std::vector<TrainingSet> training_sets(const Json& settings) {
    std::vector<TrainingSet> all;
    for (const Task& task : read_tasks(settings.at("tasks")))
        for (const Json& entry : task.train) try {
                const DataRequest request{entry, "/", json_at<std::uint64_t>(settings, "seed", "settings"),
                                          json_at<std::size_t>(settings, "sample_limit", "settings")};
                for (TrainingSet& set : load_training_sets(request, task.type)) {
                    set.task = task.name;
                    all.push_back(std::move(set));
                }
            } catch (const DataUnavailable&) {  // the run goes on without it, and says so
            }
    return all;
}

/// Its tokens are those of segments, which are cut when the run begins.
bool cuts_texts(const PlannedStage& stage) {
    const Json& objective = stage.settings.at("objective");
    return registry().make_objective(json_at<std::string>(objective, "method", "objective"), objective)->segmented().has_value();
}

void write_tokens(const Json& settings, const fs::path& folder) {
    if (json_at<std::string>(settings.at("variant"), "method", "variant") == "start") return;
    const auto model = open_start_model(settings);
    const auto variant = variant_of(settings);
    variant->prepare(*model);
    const std::vector<TrainingSet> owned = training_sets(settings);
    std::vector<const TrainingSet*> sets;
    for (const TrainingSet& set : owned) sets.push_back(&set);
    std::set<TokenLengths> seen;
    for (const PlannedStage& stage : planned_stages(settings, *variant, *model))
        if (const TokenLengths lengths = stage.training().lengths; !cuts_texts(stage) && seen.insert(lengths).second)
            PairBatcher(*model, sets, folder, at::get_num_threads(), lengths);
}

}  // namespace

void write_token_caches(const Json& runs, const fs::path& folder) {
    std::set<std::string> seen;
    for (const Json& settings : runs)
        if (seen.insert(key_of(settings)).second) write_tokens(settings, folder);
}

}  // namespace faceter::worker
