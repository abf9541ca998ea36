#include "experiment/batch_negatives.h"

#include <algorithm>
#include <span>

#include "data/settings.h"
#include "experiment/builtin_settings.h"
#include "experiment/recipes.h"
#include "settings/check.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

using From = BatchNegatives::From;

std::string method_of(const Json& recipe, const char* part) { return json_at<std::string>(recipe.at(part), "method", part); }

/// Nothing: as many as the data give.
std::optional<std::int64_t> given_by(const Json& entry) {
    const auto limit = json_or<std::int64_t>(entry, "hard_negatives", -1, "data entry");
    if (limit >= 0) return limit;
    if (whole_entry(entry).at("source") == "debian") return 0;  // its negatives are drawn, and only if asked for
    return std::nullopt;
}

/// The most that the last of these stages which mines for the task leaves a pair; nothing: none does.
std::optional<std::int64_t> mined_for(std::span<const Json> recipes, const std::string& task) {
    std::optional<std::int64_t> mined;
    for (const Json& recipe : recipes)
        if (mines_for(recipe, task)) mined = json_at<std::int64_t>(recipe.at("mine"), "negatives", "mine");
    return mined;
}

/// The most that a pair of the task has in the data as they are read.
std::optional<std::int64_t> given_by_task(const Json& task) {
    std::optional<std::int64_t> most = 0;
    for (const Json& entry : task.at("train")) {
        const auto given = given_by(entry);
        if (!given) return std::nullopt;
        most = std::max(most, given);
    }
    return most;
}

/// As core/train's InfoNce and the token objectives count; a plugin's objective decides for itself.
void count(BatchNegatives& batch, const Json& objective) {
    if (batch.objective == "masked_language") {
        batch.in_batch = batch.hard_each = batch.hard = 0;
        return;
    }
    if (batch.objective != "infonce") return;
    const Json settings = builtin_settings(ExtensionKind::objective, batch.objective, objective);
    batch.in_batch = batch.pairs - 1;
    const auto counted = json_at<std::string>(settings, "hard_negatives", "objective");
    if (counted == "none") batch.hard_each = 0;
    if (batch.hard_each) batch.hard = *batch.hard_each * (counted == "all" ? batch.pairs : 1);
}

/// In the last of these stages: what one before it has mined stays with the data.
BatchNegatives of_task(const std::string& name, const Json& task, std::span<const Json> recipes) {
    const Json& recipe = recipes.back();
    const Json training = training_of(recipe);
    BatchNegatives batch;
    batch.stage = json_or<std::string>(recipe, "name", "", "stages");
    batch.tasks = {name};
    batch.objective = method_of(recipe, "objective");
    batch.from = batches_from(recipe, task);
    batch.pairs = json_at<std::int64_t>(training, "batch_size", "training");
    batch.most_tokens = json_or<std::int64_t>(training, "batch_tokens", 0, "training");
    batch.chunk = gradient_cache_chunk_of(recipe.at("objective"));
    batch.hard_each = mined_for(recipes, name);
    if (!batch.hard_each) batch.hard_each = given_by_task(task);
    count(batch, recipe.at("objective"));
    return batch;
}

/// Puts tasks of equal batches together; batches over all tasks are one, with the most that one of its pairs may have.
void add(std::vector<BatchNegatives>& stage, BatchNegatives batch) {
    const auto same = std::find_if(stage.begin(), stage.end(), [&](BatchNegatives other) {
        other.tasks = batch.tasks;
        return other == batch || other.from == From::all_tasks;
    });
    if (same == stage.end()) return stage.push_back(std::move(batch));
    same->tasks.push_back(batch.tasks.front());
    same->hard_each = same->hard_each && batch.hard_each ? std::max(same->hard_each, batch.hard_each) : std::nullopt;
    same->hard = same->hard && batch.hard ? std::max(same->hard, batch.hard) : std::nullopt;
}

std::vector<BatchNegatives> of_last_stage(const Json& settings, std::span<const Json> recipes) {
    std::vector<BatchNegatives> stage;
    for (const auto& [name, task] : settings.at("tasks").items())
        if (trains_on(recipes.back(), name, task)) add(stage, of_task(name, task, recipes));
    return stage;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

}  // namespace

std::string_view words(BatchNegatives::From from) {
    switch (from) {
        case From::data_set:
            return "a data set";
        case From::task:
            return "a task";
        case From::all_tasks:
            return "all tasks";
        case From::curriculum:
            break;
    }
    return "as planned";
}

/// core/train's curricula (curriculum.h); what a plugin's takes together is its own matter.
BatchNegatives::From batches_from(const Json& recipe, const Json& task) {
    const std::string curriculum = method_of(recipe, "curriculum");
    if (curriculum == "static") return From::all_tasks;
    if (curriculum == "task_aware") return task.at("batching") == "homogeneous" ? From::data_set : From::task;
    const bool is_plain = curriculum == "shuffled" || curriculum == "proportional" || curriculum == "round_robin";
    return is_plain ? From::data_set : From::curriculum;
}

std::vector<BatchNegatives> batch_negatives(const Json& settings) {
    if (method_of(settings, "variant") == "start") return {};
    std::vector<BatchNegatives> all;
    const std::vector<Json> recipes = recipes_of(settings);
    for (std::size_t i = 1; i <= recipes.size(); ++i)
        for (BatchNegatives& batch : of_last_stage(settings, std::span(recipes).first(i))) all.push_back(std::move(batch));
    return all;
}

std::vector<AlikeRuns> alike_runs(const std::vector<const ResolvedRun*>& runs) {
    std::vector<AlikeRuns> all;
    for (const ResolvedRun* run : runs) {
        std::vector<BatchNegatives> batches = batch_negatives(run->settings);
        if (batches.empty()) continue;
        const std::string name = run->point.empty() ? run->variant : run->variant + "/" + run->point;
        auto same = std::find_if(all.begin(), all.end(), [&](const AlikeRuns& other) { return other.batches == batches; });
        if (same == all.end()) same = all.insert(all.end(), {{}, std::move(batches)});
        if (std::find(same->names.begin(), same->names.end(), name) == same->names.end()) same->names.push_back(name);
    }
    return all;
}

Json negatives_json(const std::vector<BatchNegatives>& all, int processes) {
    Json list = Json::array();
    for (const BatchNegatives& batch : all)
        list.push_back({{"stage", batch.stage},
                        {"tasks", batch.tasks},
                        {"objective", batch.objective},
                        {"from", words(batch.from)},
                        {"pairs", batch.pairs},
                        {"pairs_per_process", (batch.pairs + processes - 1) / processes},
                        {"most_tokens", batch.most_tokens > 0 ? Json(batch.most_tokens) : Json()},
                        {"gradient_cache_chunk", batch.chunk},
                        {"in_batch", or_null(batch.in_batch)},
                        {"hard_each", or_null(batch.hard_each)},
                        {"hard", or_null(batch.hard)}});
    return list;
}

}  // namespace faceter
