#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "common/error.h"
#include "common/strings.h"
#include "named_model.h"
#include "plugin/export_check.h"
#include "plugin/model_writer.h"
#include "staged_folder.h"

namespace faceter::worker {
namespace {

struct ExportCommand {
    std::string run, folder, project = ".", task;
    bool force = false;
};

/// The folder's line, and what others cannot do with it.
void say_who_serves(const fs::path& folder, const EmbeddingModel& model) {
    fmt::print("{}\n", folder.string());
    if (const std::string why = beyond_sentence_transformers(model); !why.empty())
        fmt::print(stderr, "note: {}: sentence-transformers cannot load it: {}. 'faceter embed --model {}' serves it\n", folder.string(),
                   why, folder.string());
    else if (needs_released_code(model))
        fmt::print(stderr,
                   "note: {}: sentence-transformers loads it with trust_remote_code=True only, by the code that its config.json names\n",
                   folder.string());
}

/// What texts of one route pass through, as a folder of its own; its instruction becomes the default prompt.
std::unique_ptr<EmbeddingModel> write_route(const fs::path& out, const RunDirectory& run, const ServedRoute& served) {
    auto model = open_run_model(run, served);
    fold_route(*model, model->route(served.task, served.role));
    make_directories(out);
    write_model(out, *model);
    return model;
}

/// Whether the routes differ in weights that can be told apart without a router: each is a model of its own then.
bool needs_one_folder_a_task(const EmbeddingModel& model) {
    if (model.router) return model.router->always().has_value();
    const auto& [first, whole] = *model.routes.begin();
    return std::any_of(model.routes.begin(), model.routes.end(), [&, &whole = whole](const auto& entry) {
        return entry.second.encoder != whole.encoder || entry.second.path != whole.path;
    });
}

std::string folder_of(const std::string& task, Role role) { return safe_file_name(task + "." + std::string(role_name(role))); }

std::vector<ServedRoute> routes_of(const EmbeddingModel& model) {
    std::vector<ServedRoute> routes;
    for (const auto& [key, route] : model.routes) routes.push_back({key.first, key.second});
    return routes;
}

int export_run(const ExportCommand& options) {
    const auto run = find_run(options.run, options.project);
    if (!run)
        throw usage_error("no run '{}' in {}; 'faceter list --project {}' shows the runs", options.run, options.project, options.project);
    const fs::path out = options.folder;
    if (fs::exists(out) && !fs::is_empty(out) && !options.force)
        throw usage_error("{}: is not empty; give another folder, or --force", out.string());
    StagedFolder staged(out);
    ExportProof proof;
    const auto model = open_run_model(*run);
    const auto prove = [&](const fs::path& folder, std::vector<ServedRoute> routes) {
        proof.add(prove_export({*model, std::move(routes)}, folder, {{"run", run->info().id}}));
    };
    const auto one_route = [&](const fs::path& folder, const ServedRoute& served) {
        const auto alone = write_route(folder, *run, served);
        prove(folder, {served});
        say_who_serves(staged.final_path(folder), *alone);
    };
    if (!options.task.empty()) {
        one_route(staged.path(), parse_route(options.task, model->tasks));
    } else if (!model->routes.empty() && needs_one_folder_a_task(*model)) {
        for (const auto& [key, route] : model->routes) one_route(staged.path() / folder_of(key.first, key.second), {key.first, key.second});
    } else {
        write_model(staged.path(), *model);
        prove(staged.path(), routes_of(*model));
        say_who_serves(out, *model);
    }
    staged.put_in_place();
    fmt::print("{}", proof.lines());
    return 0;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<ExportCommand>();
    auto* command = app.add_subcommand(
        "export",
        "Write a run's model as a folder that sentence-transformers loads (a mixture: one folder a task and role). What it cannot hold "
        "(token-routed blocks, a router of gates) is written for Faceter, and said.");
    command->footer(
        "Example:\n  faceter export quickstart-ic exported --project my-project\n"
        "  faceter export quickstart-mote retrieval-model --project my-project --task retrieval.document");
    command->add_option("RUN", options->run, "Run folder or name")->required();
    command->add_option("DIR", options->folder, "Folder to write")->required();
    command->add_option("--project", options->project, "Project folder that the run's name is looked up in");
    command->add_option("--task", options->task, "Only this task, with its expert or adapter in place, such as retrieval.document");
    command->add_flag("--force", options->force, "Write into a folder that is not empty");
    command->callback([=, &exit_code] { exit_code = export_run(*options); });
}

}  // namespace faceter::worker
