#include "eval/tasks.h"

#include "common/error.h"
#include "common/strings.h"
#include "model/compute.h"
#include "stats/descriptive.h"

namespace faceter {
namespace {

struct TaskType {
    EvaluateFunction evaluate;
    TextsFunction texts;
};

std::map<std::string, TaskType>& task_types() {
    static std::map<std::string, TaskType> all;
    return all;
}

const TaskType& type_of(const EvaluationSet& set) {
    const auto found = task_types().find(set.task_type);
    if (found == task_types().end()) throw data_error("data set '{}' is of type '{}', which has no evaluation", set.name, set.task_type);
    return found->second;
}

/// The mean over subsets of every measure that all of them have.
std::map<std::string, double> mean_metrics(const std::vector<EvaluationResult::Subset>& subsets) {
    std::map<std::string, double> means;
    for (const auto& [name, value] : subsets.front().metrics) {
        std::vector<double> values;
        for (const auto& subset : subsets)
            if (const auto found = subset.metrics.find(name); found != subset.metrics.end()) values.push_back(found->second);
        if (values.size() == subsets.size()) means[name] = mean(values);
    }
    return means;
}

/// Every subset counts once, however many examples it has (MTEB).
EvaluationResult evaluate_subsets(EvaluateFunction evaluate, CachedEmbedder& embedder, const EvaluationSet& set,
                                  const EvaluationRoutes& routes) {
    EvaluationResult all;
    std::vector<double> scores;
    for (const EvaluationSet& subset : set.subsets) {
        EvaluationResult one = evaluate(embedder, subset, routes);
        all.metric = one.metric;
        all.n += one.n;
        all.settings = one.settings;
        scores.push_back(one.score);
        all.subsets.push_back({subset.name, one.score, one.n, std::move(one.metrics)});
    }
    all.score = mean(scores);
    all.metrics = mean_metrics(all.subsets);
    all.settings["subsets"] = set.subsets.size();
    return all;
}

/// An error says which data set it was.
template <typename Evaluate>
EvaluationResult with_name(const EvaluationSet& set, Evaluate evaluate) {
    try {
        return evaluate();
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("data set '{}': {}", set.name, error.what()));
    }
}

void apply(const EvaluationRouting& routing, EvaluationRoutes& routes) {
    if (routing.role == "query") routes.document = routes.query;
    if (routing.role == "document") routes.query = routes.document;
    if (routing.query_instruction) routes.query.instruction = *routing.query_instruction;
    if (routing.document_instruction) routes.document.instruction = *routing.document_instruction;
}

}  // namespace

bool register_task_type(const std::string& task_type, EvaluateFunction evaluate, TextsFunction texts) {
    return task_types().emplace(task_type, TaskType{evaluate, texts}).second;
}

double percent(const std::vector<double>& values) { return 100 * mean(values); }

EvaluationRoutes routes_for(const EmbeddingModel& model, const EvaluationSet& set, const std::string& task_name) {
    const std::string& wanted = task_name.empty() ? set.routing.task : task_name;
    const Task* task = find_task(model.tasks, wanted, wanted.empty() ? set.task_type : wanted);
    if (task && !wanted.empty() && task->name != wanted && task->type != wanted) {
        std::vector<std::string> known;
        for (const Task& one : model.tasks) known.push_back(one.name);
        throw settings_error("data set '{}' is to be scored as task {}, which the model lacks{}", set.name, faceter::quoted(wanted),
                             suggestion(wanted, known));
    }
    EvaluationRoutes routes;
    if (task)
        routes = {task->name, model.route(task->name, Role::query), model.route(task->name, Role::document)};
    else if (model.router)
        routes.query.routed = true;
    apply(set.routing, routes);
    return routes;
}

std::vector<std::string_view> embedded_texts(const EvaluationSet& set) {
    if (set.subsets.empty()) return type_of(set).texts(set);
    std::vector<std::string_view> texts;
    for (const EvaluationSet& subset : set.subsets) {
        const auto more = embedded_texts(subset);
        texts.insert(texts.end(), more.begin(), more.end());
    }
    return texts;
}

EvaluationResult evaluate_set(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    const EvaluateFunction evaluate = type_of(set).evaluate;
    EvaluationResult result = with_name(
        set, [&] { return set.subsets.empty() ? evaluate(embedder, set, routes) : evaluate_subsets(evaluate, embedder, set, routes); });
    result.name = set.name;
    result.task_type = set.task_type;
    result.task = routes.task;
    result.settings["query_instruction"] = routes.query.instruction;
    if (set.task_type == "retrieval" || set.task_type == "reranking") result.settings["document_instruction"] = routes.document.instruction;
    result.settings["data_fingerprint"] = set.fingerprint;
    if (!embedder.model().computed.empty()) result.settings["compute"] = compute_name_of(embedder.model());
    return result;
}

Json EvaluationResult::to_json() const {
    Json json = {{"name", name}, {"task_type", task_type}, {"task", task},   {"metric", metric},           {"score", score},
                 {"n", n},       {"metrics", metrics},     {"draws", draws}, {"per_example", per_example}, {"settings", settings}};
    for (const Subset& subset : subsets)
        json["subsets"].push_back({{"name", subset.name}, {"score", subset.score}, {"n", subset.n}, {"metrics", subset.metrics}});
    return json;
}

}  // namespace faceter
