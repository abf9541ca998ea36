#include "plugin/run_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "checkpoint/hub.h"
#include "common/atomic_file.h"
#include "common/error.h"
#include "common/in_place.h"
#include "common/strings.h"
#include "experiment/start_model.h"
#include "model/task_adapters.h"
#include "plugin/loader.h"
#include "plugin/model_writer.h"
#include "record/models_by_run.h"
#include "record/run_names.h"
#include "record/state.h"
#include "record/whole_settings.h"
#include "settings/core_settings.h"
#include "train/token_objective.h"

namespace faceter {
namespace {

void apply_settings(EmbeddingModel& model, const Json& settings) {
    model.tasks = read_tasks(settings.at("tasks"));
    check_max_length(settings, model.folder, model.encoders.front()->config(), "settings");
    const auto limit = json_or<std::size_t>(settings, "max_length", 0, "settings");
    if (limit == 0) return;
    if (limit <= model.tokenizer->num_special())
        throw settings_error("max_length is {}, and {} special tokens stand around each text, which leaves nothing of it; name more", limit,
                             model.tokenizer->num_special());
    model.max_length = limit;
}

/// Whether a name that stands for no one run of a project is its runs' all the same: of one that was deleted, or of several.
bool is_of_runs(const Project& project, const std::string& name) {
    const std::vector<std::string> ids = project.run_ids();
    const bool begins = std::any_of(ids.begin(), ids.end(), [&](const std::string& id) { return id.starts_with(name); });
    return !name.empty() && (begins || id_of_name(project.folder(), name));
}

}  // namespace

fs::path final_model_folder(const RunDirectory& run) { return run.folder() / "model"; }

void write_final_model(const RunDirectory& run, const EmbeddingModel& model) {
    const fs::path final = final_model_folder(run), temporary = run.folder() / fmt::format(".model-{}", ::getpid());
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    check_in_place(run.folder() / "run.json");
    make_directories(temporary);
    try {
        write_model(temporary, model);
        if (const fs::path head = run.folder() / mlm_head_file; fs::exists(head)) copy_file_atomic(head, temporary / mlm_head_file);
        sync_directory(temporary);
        replace_folder(temporary, final);
    } catch (...) {
        fs::remove_all(temporary, ignored);
        throw;
    }
}

std::string router_method(const fs::path& folder) {
    const fs::path file = folder / "router.json";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return "";
    return json_at<std::string>(read_json(file), "method", file.string());
}

namespace {

/// A folder that was copied without its router: every text would pass its base alone.
void require_router(const ModelFolder& files) {
    if (!files.description || !router_method(files.folder).empty()) return;
    for (const ModelDescription::TaskShape& task : files.description->tasks)
        if (task.query.routed || task.document.routed)
            throw data_error(
                "{}: is missing; by it a router chooses a gate for texts of the task {}, which would pass the base alone without it. Copy "
                "the folder whole, or export the run again",
                (files.folder / "router.json").string(), faceter::quoted(task.name));
}

}  // namespace

std::unique_ptr<EmbeddingModel> open_folder_model(const fs::path& folder, const std::optional<ServedRoute>& only) {
    const ModelFolder files = ModelFolder::open(folder);
    require_router(files);
    auto model = EmbeddingModel::open(files, only);
    if (!files.description) open_task_adapters(*model, files);
    const bool routed = !only || !model->folder.description || model->route(only->task, only->role).routed;
    if (const std::string method = router_method(folder); routed && !method.empty())
        model->router = registry().open_router(method, *model, folder);
    return model;
}

std::unique_ptr<EmbeddingModel> open_start_model(const Json& settings) {
    const ModelFolder folder = ModelFolder::open(resolve_model(json_at<std::string>(settings, "model", "settings")));
    check_start_model(folder);
    auto model = EmbeddingModel::open(folder);
    model->routes.clear();  // of the run that it comes from
    apply_settings(*model, settings);
    return model;
}

std::unique_ptr<Variant> variant_of(const Json& settings) {
    Json variant = settings.at("variant");
    variant["seed"] = seed_of(settings);
    return registry().make_variant(json_at<std::string>(variant, "method", "variant"), variant);
}

ServedRoute parse_route(const std::string& text, const std::vector<Task>& tasks) {
    std::vector<std::string> known;
    for (const Task& task : tasks) {
        if (text == task.name || text == task.name + ".query") return {task.name, Role::query};
        if (text == task.name + ".document") return {task.name, Role::document};
        known.push_back(task.name);
        if (task.query_instruction != task.document_instruction) known.insert(known.end(), {task.name + ".query", task.name + ".document"});
    }
    throw usage_error("no task '{}' in this model{}", text, suggestion(text, known));
}

Error no_final_model(const RunDirectory& run) {
    if (read_state(run).phase == RunPhase::done)
        return data_error(
            "{0}: the run is done, and its model is not here (a bundle holds records without models); name the run where it was trained, "
            "or train it anew: faceter rerun {1}",
            run.folder().string(), run.info().id);
    return data_error("{}: the run has no final model yet; let it finish, or continue it with 'faceter resume {}'", run.folder().string(),
                      run.info().id);
}

std::unique_ptr<EmbeddingModel> open_run_model(const RunDirectory& run, const std::optional<ServedRoute>& only) {
    const fs::path folder = final_model_folder(run);
    if (run.info().is_baseline()) {
        auto model = open_start_model(run.settings());
        variant_of(run.settings())->prepare(*model);
        return model;
    }
    if (!fs::is_directory(folder)) throw no_final_model(run);
    auto model = open_folder_model(folder, only);
    model->tasks = read_tasks(whole_settings(run).at("tasks"));
    return model;
}

std::optional<RunDirectory> find_run(const std::string& name, const fs::path& in) {
    const fs::path project = in.empty() ? project_at_hand() : in;
    std::error_code ignored;
    if (fs::is_regular_file(fs::path(name) / "run.json", ignored)) return RunDirectory(absolute_path(name));
    if (name.find('/') != std::string::npos || fs::is_directory(name, ignored)) return std::nullopt;
    if (in.empty() && !fs::is_directory(project / "runs", ignored)) return std::nullopt;
    const Project known(project, false);
    try {
        return known.find_run(name);
    } catch (const Error&) {
        if (is_of_runs(known, name) && find_model(name).empty()) throw;
        return std::nullopt;
    }
}

}  // namespace faceter
