#include <algorithm>

#include "common/strings.h"
#include "eval/tasks.h"
#include "session/seen_text.h"
#include "session/session_data.h"

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

Json training_examples(const TrainingSet& set, const Shown& shown) {
    const Route query = shown.model.route(set.task, Role::query), document = shown.model.route(set.task, Role::document);
    Json examples = Json::array();
    for (const std::size_t i : spread(set.examples.size(), shown.num_examples)) {
        const Example& example = set.examples[i];
        Json texts = {seen_text(shown.model, query, "anchor", set.texts[example.anchor]),
                      seen_text(shown.model, document, "positive", set.texts[example.positive])};
        for (std::uint32_t n = 0; n < std::min<std::uint32_t>(example.num_negatives, 3); ++n)
            texts.push_back(seen_text(shown.model, document, "negative", set.texts[set.negatives[example.first_negative + n]]));
        Json one = {{"texts", std::move(texts)}, {"label", nullptr}};
        if (example.label >= 0 && static_cast<std::size_t>(example.label) < set.label_names.size())
            one["label"] = set.label_names[static_cast<std::size_t>(example.label)];
        examples.push_back(std::move(one));
    }
    return examples;
}

Json training_lengths(const TrainingSet& set, const Shown& shown) {
    std::vector<std::string_view> anchors, positives;
    for (const Example& example : set.examples) {
        anchors.push_back(set.texts[example.anchor]);
        positives.push_back(set.texts[example.positive]);
    }
    return {length_histogram(shown.model, shown.model.route(set.task, Role::query), "anchor", anchors),
            length_histogram(shown.model, shown.model.route(set.task, Role::document), "positive", positives)};
}

Json example(std::initializer_list<Json> texts, Json label) { return {{"texts", Json::array_t(texts)}, {"label", std::move(label)}}; }

/// Real test data, one shape a task type.
struct EvaluationExamples {
    const Shown& shown;
    const EvaluationRoutes& routes;
    Json out = Json::array();

    Json query(std::string_view role, std::string_view text) const { return seen_text(shown.model, routes.query, role, text); }
    Json document(std::string_view role, std::string_view text) const { return seen_text(shown.model, routes.document, role, text); }

    void operator()(const RetrievalData& data) {
        for (const std::size_t i : spread(data.queries.size(), shown.num_examples)) {
            Json one = example({query("query", data.queries[static_cast<std::uint32_t>(i)])}, nullptr);
            const auto relevant =
                std::find_if(data.qrels[i].begin(), data.qrels[i].end(), [](const auto& judged) { return judged.second > 0; });
            if (relevant != data.qrels[i].end()) one["texts"].push_back(document("relevant", data.documents[relevant->first]));
            out.push_back(std::move(one));
        }
    }
    void operator()(const ClassificationData& data) {
        for (const std::size_t i : spread(data.test.size(), shown.num_examples))
            out.push_back(example({query("test", data.test[static_cast<std::uint32_t>(i)])},
                                  data.label_names[static_cast<std::size_t>(data.test_labels[i])]));
    }
    void operator()(const ClusteringData& data) {
        if (data.sets.empty()) return;
        const auto& set = data.sets.front();
        for (const std::size_t i : spread(set.texts.size(), shown.num_examples))
            out.push_back(example({query("text", set.texts[static_cast<std::uint32_t>(i)])}, "cluster " + std::to_string(set.labels[i])));
    }
    void operator()(const PairData& data) {
        for (const std::size_t i : spread(data.first.size(), shown.num_examples))
            out.push_back(
                example({query("first", data.texts[data.first[i]]), query("second", data.texts[data.second[i]])}, data.scores[i]));
    }
    void operator()(const RerankingData& data) {
        for (const std::size_t i : spread(data.queries.size(), shown.num_examples)) {
            const auto& one = data.queries[i];
            Json made = example({query("query", data.texts[one.query])}, nullptr);
            if (!one.positive.empty()) made["texts"].push_back(document("relevant", data.texts[one.positive.front()]));
            if (!one.negative.empty()) made["texts"].push_back(document("irrelevant", data.texts[one.negative.front()]));
            out.push_back(std::move(made));
        }
    }
    void operator()(const SummarisationData& data) {
        for (const std::size_t i : spread(data.items.size(), shown.num_examples)) {
            const auto& item = data.items[i];
            if (!item.human.empty() && !item.machine.empty())
                out.push_back(example({query("human", data.texts[item.human.front()]), query("machine", data.texts[item.machine.front()])},
                                      item.relevance.front()));
        }
    }
    void operator()(const MultilabelData& data) {
        for (const std::size_t i : spread(data.test.size(), shown.num_examples)) {
            std::vector<std::string> names;
            for (const std::int32_t label : data.test_labels[i]) names.push_back(data.label_names[static_cast<std::size_t>(label)]);
            out.push_back(example({query("test", data.test[static_cast<std::uint32_t>(i)])}, join(names, ", ")));
        }
    }
    void operator()(const BitextData& data) {
        for (const std::size_t i : spread(data.first.size(), shown.num_examples)) {
            const auto id = static_cast<std::uint32_t>(i);
            out.push_back(example({query("sentence", data.first[id]), query("translation", data.second[id])}, nullptr));
        }
    }
};

Json evaluation_lengths(const EvaluationSet& set, const EvaluationRoutes& routes, const Shown& shown) {
    if (const auto* retrieval = std::get_if<RetrievalData>(&set.data))
        return {length_histogram(shown.model, routes.query, "query", retrieval->queries.views()),
                length_histogram(shown.model, routes.document, "document", retrieval->documents.views())};
    return Json::array({length_histogram(shown.model, routes.query, "text", held_out_texts(set))});
}

Json preview_training(const Json& settings, const std::string& wanted, const Shown& shown, SessionData& data, Request& request) {
    Json sets = Json::array();
    for (const Task& task : shown.model.tasks) {
        if (!wanted.empty() && task.name != wanted) continue;
        for (const Json& entry : task.train) {
            request.progress("read " + task.name, sets.size(), 0);
            try {
                const auto set = data.training_set(settings, entry, task);
                Json one = describe(set->card, set->name, "training", task.name, task.type);
                one["size"] = set->examples.size();
                one["examples"] = training_examples(*set, shown);
                one["lengths"] = training_lengths(*set, shown);
                sets.push_back(std::move(one));
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
            EvaluationExamples examples{shown, routes};
            std::visit(examples, set->subsets.empty() ? set->data : set->subsets.front().data);
            one["examples"] = std::move(examples.out);
            one["lengths"] = evaluation_lengths(*set, routes, shown);
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
