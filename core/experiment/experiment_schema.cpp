#include "experiment/experiment_schema.h"

#include "data/settings.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

Schema task_with_data() {
    Schema schema = task_schema();
    schema.fields.push_back(
        list("train", section("", data_entry_schema(), "A data set."), "Training data of the task; none: the task is only evaluated."));
    schema.fields.push_back(list(
        "validation", section("", data_entry_schema(), "A data set."),
        "Held-out data of the task: what a gate of this task is scored on and stopped early by (variants that train one), and a greedy "
        "soup of runs chooses by; others do not read them."));
    return schema;
}

Schema evaluation_with_data() {
    Schema schema = evaluation_schema();
    schema.fields.push_back(list("datasets", section("", data_entry_schema(), "A data set."), "Every run is scored on these."));
    return schema;
}

/// {"oneOf": [...]} over the methods of a kind, each with its own settings.
Json methods_json_schema(const Catalogue& catalogue, ExtensionKind kind) {
    Json options = Json::array();
    for (const std::string& name : catalogue.names(kind)) {
        const Catalogue::Entry& entry = *catalogue.find(kind, name);
        Json option = schema_to_json_schema(kind == ExtensionKind::analysis ? analysis_schema(entry) : method_schema(entry));
        option.erase("$schema");
        option["properties"]["method"]["const"] = name;
        options.push_back(std::move(option));
    }
    return {{"oneOf", options}};
}

/// A stage names only what differs, so nothing of its training is required or has a default.
Json stage_json_schema(const Catalogue& catalogue) {
    Json stage = schema_to_json_schema(stage_schema());
    stage.erase("$schema");
    Json training = schema_to_json_schema(training_schema());
    training.erase("$schema");
    stage["properties"]["training"] = training;
    stage["properties"]["curriculum"] = methods_json_schema(catalogue, ExtensionKind::curriculum);
    stage["properties"]["objective"] = methods_json_schema(catalogue, ExtensionKind::objective);
    return stage;
}

Schema made_experiment_schema() {
    Schema schema = experiment_head_schema();
    schema.name = "Faceter experiment";
    schema.fields.push_back(map("tasks", section("", task_with_data(), "A task."), "The task tree: task -> data sets -> examples.").must());
    schema.fields.push_back(any("variants", "Name -> method and the method's own settings."));
    schema.fields.push_back(any("curriculum", "The order of batches: method and its settings."));
    schema.fields.push_back(any("objective", "The loss: method and its settings."));
    schema.fields.push_back(section("training", training_schema(), "The training recipe."));
    schema.fields.push_back(any("stages",
                                "Parts of the training, one after another (weakly supervised, then supervised): tasks and what of the "
                                "recipe differs. None: one part, all tasks."));
    schema.fields.push_back(section("evaluation", evaluation_with_data(), "What every run is scored on."));
    schema.fields.push_back(any("analyses", "Analyses of the finished run: method, texts and the method's own settings."));
    schema.fields.push_back(any("sweep", "Dotted setting -> list of values; one run for each combination."));
    return schema;
}

}  // namespace

const Schema& experiment_schema() {
    static const Schema schema = made_experiment_schema();
    return schema;
}

Schema method_schema(const Catalogue::Entry& entry) {
    Schema schema = entry.extension.schema;
    schema.name = entry.extension.name;
    schema.summary = entry.extension.summary;
    schema.fields.insert(schema.fields.begin(), text("method", "", "Name of the method.").must());
    return schema;
}

Schema analysis_schema(const Catalogue::Entry& entry) {
    Schema schema = method_schema(entry);
    if (!schema.find("texts")) schema.fields.push_back(section("texts", data_entry_schema(), "The texts that are embedded.").optional());
    return schema;
}

Json experiment_json_schema(const Catalogue& catalogue) {
    Json json = schema_to_json_schema(experiment_schema());
    Json& properties = json["properties"];
    properties["variants"] = {{"type", "object"}, {"additionalProperties", methods_json_schema(catalogue, ExtensionKind::variant)}};
    properties["curriculum"] = methods_json_schema(catalogue, ExtensionKind::curriculum);
    properties["objective"] = methods_json_schema(catalogue, ExtensionKind::objective);
    properties["stages"] = {{"type", "array"}, {"items", stage_json_schema(catalogue)}};
    properties["analyses"] = {{"type", "array"}, {"items", methods_json_schema(catalogue, ExtensionKind::analysis)}};
    properties["sweep"] = {{"type", "object"}, {"additionalProperties", {{"type", "array"}, {"minItems", 1}}}};
    return json;
}

}  // namespace faceter
