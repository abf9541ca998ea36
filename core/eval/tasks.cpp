#include "eval/tasks.h"

#include "common/error.h"
#include "stats/descriptive.h"

namespace faceter {
namespace {

std::map<std::string, EvaluateFunction>& task_types() {
    static std::map<std::string, EvaluateFunction> all;
    return all;
}

}  // namespace

bool register_task_type(const std::string& task_type, EvaluateFunction function) { return task_types().emplace(task_type, function).second; }

double percent(const std::vector<double>& values) { return 100 * mean(values); }

EvaluationRoutes routes_for(const EmbeddingModel& model, const EvaluationSet& set, const std::string& task_name) {
    const Task* task = find_task(model.tasks, task_name, set.task_type);
    if (!task) return {};
    return {task->name, model.route(task->name, Role::query), model.route(task->name, Role::document)};
}

EvaluationResult evaluate_set(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const auto found = task_types().find(set.task_type);
    if (found == task_types().end()) throw data_error("data set '{}' is of type '{}', which has no evaluation", set.name, set.task_type);
    EvaluationResult result = found->second(embedder, set, routes);
    result.name = set.name;
    result.task_type = set.task_type;
    result.task = routes.task;
    result.settings["query_instruction"] = routes.query.instruction;
    if (set.task_type == "retrieval" || set.task_type == "reranking") result.settings["document_instruction"] = routes.document.instruction;
    result.settings["data_fingerprint"] = set.fingerprint;
    return result;
}

Json EvaluationResult::to_json() const {
    return {{"name", name},   {"task_type", task_type}, {"task", task},   {"metric", metric},           {"score", score},
            {"n", n},         {"metrics", metrics},     {"draws", draws}, {"per_example", per_example}, {"settings", settings}};
}

}  // namespace faceter
