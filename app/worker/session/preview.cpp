#include <fmt/format.h>

#include <algorithm>

#include "common/strings.h"
#include "eval/tasks.h"
#include "session/set_views.h"

namespace faceter::worker {
namespace {

struct Shown {
    const EmbeddingModel& model;
    std::size_t num_examples;
};

/// Examples spread over the whole set: the first ones of a file are often alike.
std::vector<std::size_t> spread(std::size_t size, std::size_t wanted) {
    std::vector<std::size_t> places;
    const std::size_t count = std::min(size, wanted);
    for (std::size_t i = 0; i < count; ++i) places.push_back(i * size / count);
    return places;
}

Json describe(const Json& card, const std::string& name, const char* use, const std::string& task, const std::string& type) {
    return {{"name", name},
            {"use", use},
            {"task", task},
            {"task_type", type},
            {"counts", json_or<Json>(card, "counts", Json::object(), "card")},
            {"warnings", json_or<Json>(card, "warnings", Json::array(), "card")}};
}

Json examples_of(const ExampleRows& rows, const SetRoutes& routes, const Shown& shown) {
    Json examples = Json::array();
    for (const std::size_t i : spread(rows.size(), shown.num_examples)) examples.push_back(seen_row(shown.model, routes, rows.row(i)));
    return examples;
}

/// Of a corpus of instructions as many of its leaves; nobody looks through hundreds.
constexpr std::size_t most_leaves = 12;

Json training_preview(const TrainingSet& set, const Json& settings, const Task& task, const Shown& shown) {
    Json one = describe(set.card, set.name, "training", task.name, task.type);
    one["size"] = set.examples.size();
    const SetRoutes routes = routes_of(shown.model, set, settings);
    one["examples"] = examples_of(ExampleRows(set), routes, shown);
    one["lengths"] = lengths_of(shown.model, routes, set);
    return one;
}

Json preview_training(const Json& settings, const std::string& wanted, const Shown& shown, SessionData& data, Request& request) {
    Json sets = Json::array();
    for (const Task& task : shown.model.tasks) {
        if (!wanted.empty() && task.name != wanted) continue;
        for (const Json& entry : task.train) {
            request.progress("read " + task.name, sets.size(), 0);
            try {
                const auto leaves = data.training_sets(settings, entry, task);
                const std::size_t count = std::min(leaves->size(), most_leaves);
                for (std::size_t i = 0; i < count; ++i) sets.push_back(training_preview((*leaves)[i], settings, task, shown));
                if (count < leaves->size())
                    sets.back()["warnings"].push_back(fmt::format("{} more data sets of this entry are not shown", leaves->size() - count));
            } catch (const DataUnavailable& error) {
                sets.push_back({{"name", json_or<std::string>(entry, "name", "data set", "entry")},
                                {"use", "training"},
                                {"task", task.name},
                                {"unavailable", error.what()}});
            }
        }
    }
    return sets;
}

void preview_evaluation(const Json& settings, const std::string& wanted, const Shown& shown, SessionData& data, Request& request,
                        Json& sets) {
    for (const Json& entry : json_at<Json>(json_at<Json>(settings, "evaluation", "settings"), "datasets", "evaluation")) {
        const auto named = json_or<std::string>(entry, "task", "", "entry");
        // An entry that names another task is not read at all: it may be large.
        if (!wanted.empty() && !named.empty() && named != wanted &&
            find_task(shown.model.tasks, named, named) != find_task(shown.model.tasks, wanted, wanted))
            continue;
        request.progress("read evaluation data", sets.size(), 0);
        try {
            const auto set = data.evaluation_set(settings, entry);
            const EvaluationRoutes routes = routes_for(shown.model, *set, "");
            if (!wanted.empty() && routes.task != wanted) continue;
            Json one = describe(set->card, set->name, "evaluation", routes.task, set->task_type);
            one["size"] = held_out_texts(*set).size();
            one["examples"] = examples_of(ExampleRows(*set), routes_of(routes), shown);
            one["lengths"] = lengths_of(shown.model, routes_of(routes), *set);
            sets.push_back(std::move(one));
        } catch (const DataUnavailable& error) {
            sets.push_back({{"name", json_or<std::string>(entry, "name", "data set", "entry")},
                            {"use", "evaluation"},
                            {"task", named},
                            {"unavailable", error.what()}});
        }
    }
}

}  // namespace

/// {"settings": resolved settings of a run, "task": name or none for all, "examples": 12} -> {"max_length", "sets": [{"name", "use":
/// training | evaluation, "task", "task_type", "size", "counts", "warnings", "examples": [{"texts": [seen_text], "label"}], "lengths":
/// [length_histogram]}]}; a set that cannot exist on this machine has "unavailable", the reason, instead of what is read.
Json preview(const Json& params, SessionData& data, Request& request) {
    const auto settings = json_at<Json>(params, "settings", "preview");
    const auto task = json_or<std::string>(params, "task", "", "preview");
    request.progress("open the tokenizer", 0, 0);
    const Shown shown{data.prepared_model(settings),
                      std::clamp<std::size_t>(json_or<std::size_t>(params, "examples", 12, "preview"), 1, 200)};
    Json sets = preview_training(settings, task, shown, data, request);
    preview_evaluation(settings, task, shown, data, request, sets);
    return {{"max_length", shown.model.max_length}, {"sets", std::move(sets)}};
}

}  // namespace faceter::worker
