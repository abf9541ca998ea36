#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "commands.h"
#include "common/error.h"
#include "common/json_text.h"
#include "common/printable.h"
#include "common/strings.h"
#include "experiment/run_models.h"
#include "figure/table_export.h"
#include "named_model.h"
#include "plugin/loader.h"
#include "record/models_by_run.h"
#include "record/whole_settings.h"

// faceter router list, explain, add, remove: what chooses among a model's experts, and changes to it that train nothing.

namespace faceter::worker {
namespace {

struct RouterCommand {
    std::string model, project, text, task, gate, train;
    std::optional<std::string> name, domain;
    bool json = false;
};

/// The folder with router.json that the command line names: a run's model, or a folder itself.
fs::path router_folder(const RouterCommand& options) {
    use_runs_as_models(options.project);
    const auto run = find_run(options.model, options.project);
    const fs::path folder = run ? final_model_folder(*run) : resolve_named_model(options.model);
    if (!router_method(folder).empty()) return folder;
    if (run && !fs::is_directory(folder)) throw no_final_model(*run);
    throw data_error(
        "{}: has no router (router.json); expected a run of a method that routes, such as router_retriever, or its model folder",
        folder.string());
}

std::string plain(const Json& value) {
    return value.is_string()         ? value.get<std::string>()
           : value.is_number_float() ? fmt::format("{:.4f}", value.get<double>())
                                     : value.dump();
}

/// A list of objects with the same members as a table.
Table table_of(const std::string& name, const Json& entries) {
    Table table;
    table.name = name;
    if (entries.empty()) return table;
    for (const auto& [key, value] : entries.front().items())
        table.add_column(key, value.is_number_integer() ? ColumnKind::count : value.is_number() ? ColumnKind::number : ColumnKind::text, 4);
    for (const Json& entry : entries) {
        std::vector<Cell> cells;
        for (const auto& [key, value] : entry.items())
            cells.push_back(value.is_number() ? Cell::of(value.get<double>()) : Cell::of(plain(value)));
        table.add_row(std::move(cells));
    }
    return table;
}

void print(const Json& json, bool as_json) {
    if (as_json) {
        fmt::print("{}\n", json_text(json, 1));
        return;
    }
    std::vector<std::pair<std::string, Json>> tables;
    for (const auto& [key, value] : json.items()) {
        if (value.is_array()) {
            tables.emplace_back(key, value);
        } else if (value.is_object()) {
            for (const auto& [inner, part] : value.items())
                if (part.is_array())
                    tables.emplace_back(inner, part);
                else
                    say(stdout, "  {:20} {}\n", inner, plain(part));
        } else {
            say(stdout, "{:22} {}\n", key, plain(value));
        }
    }
    for (const auto& [name, entries] : tables)
        say(stdout, "\n{}\n{}", name, entries.empty() ? "none\n" : table_to_text(table_of(name, entries)));
}

int list(const RouterCommand& options) {
    print(open_folder_model(router_folder(options))->router->describe(), options.json);
    return 0;
}

/// Of a run, or as its model's folder says.
std::vector<Task> tasks_of(const RouterCommand& options, const EmbeddingModel& model) {
    if (const auto run = find_run(options.model, options.project)) return read_tasks(whole_settings(*run).at("tasks"));
    std::vector<Task> tasks;
    for (const auto& [key, route] : model.routes) {
        if (key.second != Role::query) continue;
        Task task;
        task.name = key.first;
        task.query_instruction = route.instruction;
        task.document_instruction = model.route(key.first, Role::document).instruction;
        tasks.push_back(std::move(task));
    }
    return tasks;
}

int explain(const RouterCommand& options) {
    const auto model = open_folder_model(router_folder(options));
    Route route;
    if (!options.task.empty()) {
        const std::vector<Task> tasks = tasks_of(options, *model);
        const std::string name = parse_route(options.task, tasks).task;
        route.instruction =
            std::find_if(tasks.begin(), tasks.end(), [&](const Task& task) { return task.name == name; })->query_instruction;
    }
    const std::string_view text = options.text;
    print(model->router->explain(embed_texts(*model, {&text, 1}, route)[0]), options.json);
    return 0;
}

int edit(const RouterCommand& options, const Json& change) {
    const fs::path folder = router_folder(options);
    const auto model = EmbeddingModel::open(ModelFolder::open(folder));  // without its gates, which the change opens
    say(stdout, "{}\n", registry().edit_router(router_method(folder), *model, folder, change));
    return 0;
}

Json added(const RouterCommand& options) {
    Json change = {{"action", "add"}, {"gate", options.gate}};
    if (options.name) change["name"] = *options.name;
    if (options.domain) change["domain"] = *options.domain;
    if (!options.train.empty()) change["train"] = {{"source", "file"}, {"path", options.train}, {"format", "pairs"}};
    return change;
}

CLI::App* subcommand(CLI::App& router, RouterCommand& options, const char* name, const char* summary) {
    CLI::App* command = router.add_subcommand(name, summary);
    command->add_option("MODEL", options.model, "Run folder, name of a run, or model folder with a router")->required();
    command->add_option("--project", options.project, "Project folder that a run's name is looked up in");
    return command;
}

}  // namespace

void add_router(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<RouterCommand>();
    CLI::App* router = app.add_subcommand("router", "Show, explain and change what chooses among a model's gates.")->require_subcommand(1);
    router->footer(
        "Example:\n  faceter router explain my-router \"wavelet transform of audio\" --project my-project\n"
        "  faceter router add my-router gates/medicine --domain medicine --train pairs.jsonl");
    CLI::App* command = subcommand(*router, *options, "list", "Gates, domains and pilots");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &exit_code] { exit_code = list(*options); });
    command = subcommand(*router, *options, "explain", "Which gate a text goes through, and by what similarities");
    command->add_option("TEXT", options->text, "The text")->required();
    command->add_option("--task", options->task, "Task of the run whose query instruction stands in front");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &exit_code] { exit_code = explain(*options); });
    command = subcommand(*router, *options, "add", "Add a gate; nothing is trained, all instances of the library are scored through it");
    command->add_option("GATE", options->gate, "PEFT folder of the gate")->required();
    command->add_option("--name", options->name, "Name of the gate; default: of its folder");
    command->add_option("--domain", options->domain, "Domain that it was trained on; default: its name");
    command->add_option("--train", options->train,
                        "Training pairs of the domain (JSON lines with query and document): they become pilots too");
    command->callback([=, &exit_code] { exit_code = edit(*options, added(*options)); });
    command = subcommand(*router, *options, "remove", "Remove a gate; its files are kept under removed/");
    command->add_option("GATE", options->gate, "Name of the gate")->required();
    command->callback([=, &exit_code] { exit_code = edit(*options, {{"action", "remove"}, {"gate", options->gate}}); });
}

}  // namespace faceter::worker
