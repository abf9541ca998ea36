#include "session/set_views.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/strings.h"
#include "compare/data_cards.h"
#include "data/duplicates.h"
#include "data/overlap.h"
#include "experiment/recipes.h"
#include "settings/core_settings.h"
#include "train/pair_batch.h"

namespace faceter::worker {
namespace {

constexpr std::size_t most_rows = 500, most_shown_bytes = 4000, between_progress = 4096;

/// Many texts go into one answer; nobody reads the end of a long one in a table.
void cut_to_shown(Json& text) {
    const auto whole = text.get<std::string>();
    text = start_of_text(whole, most_shown_bytes);
}

/// One entry of the data of resolved run settings: {"settings", "use": training | evaluation, "task": of training data, "index": place in
/// tasks.TASK.train or evaluation.datasets}.
class OpenSet {
  public:
    OpenSet(const Json& params, SessionData& data, Request& request)
        : settings_(json_at<Json>(params, "settings", "data set")),
          task_(task_of(settings_, json_or<std::string>(params, "task", "", "data set"))) {
        const bool is_training = json_at<std::string>(params, "use", "data set") == "training";
        const Json list =
            is_training ? task_.train : json_at<Json>(json_at<Json>(settings_, "evaluation", "settings"), "datasets", "evaluation");
        const auto index = json_at<std::size_t>(params, "index", "data set");
        if (!list.is_array() || index >= list.size()) throw usage_error("data set {}: the settings have no such entry", index + 1);
        request.progress("read the data", 0, 0);
        if (is_training)
            training_ = data.training_set(settings_, list[index], task_);
        else
            evaluation_ = data.evaluation_set(settings_, list[index]);
        request.check();
    }

    const TrainingSet* training() const { return training_.get(); }
    const EvaluationSet* evaluation() const { return evaluation_.get(); }
    const Json& settings() const { return settings_; }
    const std::string& name() const { return training_ ? training_->name : evaluation_->name; }
    const std::string& task_name() const { return training_ ? task_.name : evaluation_->routing.task; }
    const std::string& task_type() const { return training_ ? task_.type : evaluation_->task_type; }
    const Json& card() const { return training_ ? training_->card : evaluation_->card; }
    ExampleRows rows() const { return training_ ? ExampleRows(*training_) : ExampleRows(*evaluation_); }

  private:
    /// Of test data none is named.
    static Task task_of(const Json& settings, const std::string& name) {
        if (name.empty()) return {};
        for (Task& task : read_tasks(json_at<Json>(settings, "tasks", "settings")))
            if (task.name == name) return std::move(task);
        throw usage_error("the settings have no task {}", faceter::quoted(name));
    }

    Json settings_;
    Task task_;
    std::shared_ptr<TrainingSet> training_;
    std::shared_ptr<EvaluationSet> evaluation_;
};

bool has(const ExampleRow& row, const std::string& lowercase) {
    const auto holds = [&](std::string_view text) { return lowercase_ascii(text).find(lowercase) != std::string::npos; };
    for (const ExampleRow::Text& text : row.texts)
        if (holds(text.text)) return true;
    return row.label.is_string() && holds(row.label.get<std::string>());
}

Json row_json(std::size_t number, const ExampleRow& row) {
    Json texts = Json::array();
    for (const ExampleRow::Text& text : row.texts)
        texts.push_back({{"role", text.role},
                         {"text", start_of_text(text.text, most_shown_bytes)},
                         {"is_whole", text.text.size() <= most_shown_bytes}});
    return {{"number", number}, {"texts", std::move(texts)}, {"label", row.label}};
}

/// All of both sides but a training set's negatives, which share the documents' table.
Json histograms(const EmbeddingModel& model, const SetRoutes& routes, const char* query, const std::vector<std::string_view>& queries,
                const char* document, const std::vector<std::string_view>& documents) {
    return {length_histogram(model, routes.query, query, queries), length_histogram(model, routes.document, document, documents)};
}

/// The settings' own training, or that of the first stage which trains the task.
Json training_of_task(const Json& settings, const std::string& task) {
    for (const Json& recipe : recipes_of(settings))
        if (trains(recipe, task)) return training_of(recipe);
    return training_of(settings);
}

using Views = std::vector<std::string_view>;

/// Queries and documents of a retrieval set, or of all parts of one (languages); nothing where it is another kind of set.
std::optional<std::pair<Views, Views>> retrieval_sides(const EvaluationSet& set) {
    std::vector<const EvaluationSet*> parts;
    for (const EvaluationSet& part : set.subsets) parts.push_back(&part);
    if (parts.empty()) parts.push_back(&set);
    std::pair<Views, Views> sides;
    for (const EvaluationSet* part : parts) {
        const auto* retrieval = std::get_if<RetrievalData>(&part->data);
        if (!retrieval) return std::nullopt;
        for (const std::string_view query : retrieval->queries.views()) sides.first.push_back(query);
        for (const std::string_view document : retrieval->documents.views()) sides.second.push_back(document);
    }
    return sides;
}

}  // namespace

SetRoutes routes_of(const EmbeddingModel& model, const TrainingSet& set, const Json& settings) {
    const Json training = training_of_task(settings, set.task);
    const auto through = [&](PairSide side) {
        const char* key = side == PairSide::query ? "query_length" : "document_length";
        return SeenThrough{route_of(model, set, side), json_or<std::size_t>(training, key, 0, "training")};
    };
    return {through(PairSide::query), through(PairSide::positive), through(PairSide::negative)};
}

SetRoutes routes_of(const EvaluationRoutes& routes) { return {{routes.query}, {routes.document}, {routes.document}}; }

Json seen_row(const EmbeddingModel& model, const SetRoutes& routes, const ExampleRow& row) {
    Json texts = Json::array();
    for (const ExampleRow::Text& text : row.texts) {
        const SeenThrough& through = !text.is_document ? routes.query : text.role == "negative" ? routes.negative : routes.document;
        texts.push_back(seen_text(model, through, text.role, text.text));
    }
    return {{"texts", std::move(texts)}, {"label", row.label}};
}

Json lengths_of(const EmbeddingModel& model, const SetRoutes& routes, const TrainingSet& set) {
    std::vector<std::string_view> anchors, positives;
    for (const Example& example : set.examples) {
        anchors.push_back(set.texts[example.anchor]);
        positives.push_back(set.texts[example.positive]);
    }
    return histograms(model, routes, "anchor", anchors, "positive", positives);
}

Json lengths_of(const EmbeddingModel& model, const SetRoutes& routes, const EvaluationSet& set) {
    if (const auto sides = retrieval_sides(set)) return histograms(model, routes, "query", sides->first, "document", sides->second);
    return Json::array({length_histogram(model, routes.query, "text", held_out_texts(set))});
}

/// -> {"name", "use", "task", "task_type", "size": examples, "licence", "sha256", "card"} (core/compare/data_cards.h).
Json data_set(const Json& params, SessionData& data, Request& request) {
    const OpenSet set(params, data, request);
    request.progress("hash the files", 0, 0);
    Json card = data_card({set.name(), set.training() ? "training" : "evaluation", set.task_name(), set.card()},
                          [&](std::uint64_t bytes) { request.progress("hash the files (MiB)", bytes >> 20, 0); });
    card["task_type"] = set.task_type();
    card["size"] = set.rows().size();
    return card;
}

/// {..., "offset", "count", "search"} -> {"size", "found", "offset", "examples": [{"number", "texts": [{"role", "text", "is_whole"}],
/// "label"}]}: those from `offset` on, counted among the ones that hold `search` in a text or the label, whatever its case.
Json data_examples(const Json& params, SessionData& data, Request& request) {
    const OpenSet set(params, data, request);
    const ExampleRows rows = set.rows();
    const auto offset = json_or<std::size_t>(params, "offset", 0, "data set");
    const auto count = std::min(most_rows, json_or<std::size_t>(params, "count", 50, "data set"));
    const std::string wanted = lowercase_ascii(json_or<std::string>(params, "search", "", "data set"));
    Json examples = Json::array();
    std::size_t found = wanted.empty() ? rows.size() : 0;
    for (std::size_t i = offset; wanted.empty() && i < rows.size() && examples.size() < count; ++i)
        examples.push_back(row_json(i, rows.row(i)));
    for (std::size_t i = 0; !wanted.empty() && i < rows.size(); ++i) {
        if (i % between_progress == 0) request.progress("search", i, rows.size());
        const ExampleRow row = rows.row(i);
        if (has(row, wanted) && found++ >= offset && examples.size() < count) examples.push_back(row_json(i, row));
    }
    return {{"size", rows.size()}, {"found", found}, {"offset", offset}, {"examples", std::move(examples)}};
}

/// -> {"max_length", "lengths": [length_histogram]}, under the instructions that the run's variant gives its start model.
Json data_lengths(const Json& params, SessionData& data, Request& request) {
    const OpenSet set(params, data, request);
    request.progress("open the tokenizer", 0, 0);
    const EmbeddingModel& model = data.prepared_model(set.settings());
    request.progress("count tokens", 0, 0);
    if (const TrainingSet* training = set.training())
        return {{"max_length", model.max_length}, {"lengths", lengths_of(model, routes_of(model, *training, set.settings()), *training)}};
    const EvaluationRoutes routes = routes_for(model, *set.evaluation(), "");
    return {{"max_length", model.max_length}, {"lengths", lengths_of(model, routes_of(routes), *set.evaluation())}};
}

/// -> core/data/duplicates.h.
Json data_duplicates(const Json& params, SessionData& data, Request& request) {
    const OpenSet set(params, data, request);
    const ExampleRows rows = set.rows();
    Json found = to_json(find_duplicates(rows, [&](std::size_t done) { request.progress("compare examples", done, rows.size()); }));
    for (Json& group : found["first"]) cut_to_shown(group["text"]);
    return found;
}

/// {"settings"} -> {"overlaps": [one for each pair of a training and a test set (core/data/overlap.h)], "left_out": [why]}.
Json data_overlap(const Json& params, SessionData& data, Request& request) {
    const auto settings = json_at<Json>(params, "settings", "data set");
    const std::vector<Task> tasks = read_tasks(json_at<Json>(settings, "tasks", "settings"));
    const Json tests = json_at<Json>(json_at<Json>(settings, "evaluation", "settings"), "datasets", "evaluation");
    std::size_t total = tests.size(), done = 0;
    for (const Task& task : tasks) total += task.train.size();
    Json overlaps = Json::array(), left_out = Json::array();
    OverlapCounter counter;
    const auto tick = [&] { request.check(); };
    const auto each = [&](auto body) {
        request.progress("compare data sets", done++, total);
        try {
            body();
        } catch (const DataUnavailable& reason) {
            left_out.push_back(reason.what());
        }
    };
    for (const Task& task : tasks)
        for (const Json& entry : task.train) each([&] { counter.add(*data.training_set(settings, entry, task), tick); });
    for (const Json& entry : tests)
        each([&] {
            for (const Overlap& one : counter.count(*data.evaluation_set(settings, entry), tick)) {
                overlaps.push_back(to_json(one));
                overlaps.back().erase("example");  // the first of the examples
                for (Json& text : overlaps.back()["examples"]) cut_to_shown(text);
            }
        });
    return {{"overlaps", std::move(overlaps)}, {"left_out", std::move(left_out)}};
}

}  // namespace faceter::worker
