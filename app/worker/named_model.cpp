#include "named_model.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/command.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "experiment/run_models.h"
#include "experiment/start_model.h"
#include "model/accelerator.h"
#include "model/task_adapters.h"
#include "record/models_by_run.h"
#include "record/whole_settings.h"
#include "settings/core_settings.h"

namespace faceter::worker {
namespace {

/// Where a text under this instruction passes: as that of the task that has it, else the plain model, or as the router says.
Route instruction_route(const EmbeddingModel& model, const std::string& instruction) {
    const Route* found = nullptr;
    for (const auto& [key, route] : model.routes) {
        if (route.instruction != instruction) continue;
        if (found && (found->path != route.path || found->encoder != route.encoder))
            throw usage_error("--instruction {} is that of several tasks, each with a part of the model of its own; name one by --task",
                              faceter::quoted(instruction));
        if (!found) found = &route;  // a query's, where the roles differ in being routed alone
    }
    return found ? *found : Route{instruction, 0, Path{}, model.router != nullptr};
}

/// As its default prompt says.
Route default_route(const EmbeddingModel& model, bool routed) {
    Route route;
    route.routed = routed;
    if (!model.folder.default_prompt.empty()) route.instruction = model.folder.prompt(model.folder.default_prompt);
    return route;
}

bool has_prompt(const ModelFolder& folder, const std::string& name) { return folder.prompts.contains(name); }

/// The prompt of that name, else the one that leads to the same adapter: an adapter lies in "retrieval_query", and its prompt is called
/// "retrieval.query".
std::string prompt_of(const EmbeddingModel& model, const std::string& task, const std::optional<std::size_t>& adapter) {
    if (has_prompt(model.folder, task)) return model.folder.prompt(task);
    for (const auto& [name, prompt] : model.folder.prompts)
        if (adapter && find_task_adapter(model, name) == adapter) return prompt;
    return "";
}

/// The task of a folder that was written with its tasks; nothing where `name` is one of its prompts, that side, or empty.
std::optional<ServedRoute> route_of_folder(const ModelFolder& folder, const std::string& name) {
    if (name.empty() || !folder.description || folder.description->tasks.empty() || is_document_side(folder, name)) return std::nullopt;
    std::vector<Task> tasks;
    for (const ModelDescription::TaskShape& shape : folder.description->tasks) {
        Task task;
        task.name = shape.name;
        tasks.push_back(std::move(task));
    }
    const bool known =
        std::any_of(tasks.begin(), tasks.end(), [&](const Task& task) { return name == task.name || name.starts_with(task.name + "."); });
    if (!known && has_prompt(folder, name)) return std::nullopt;
    return parse_route(name, tasks);
}

/// What is opened for one task: that task alone, but all of a model whose products are lowered, which is learned from texts of all its
/// tasks. Queries and documents that are embedded each by itself, and those of `faceter serve`, have passed the same products then.
std::optional<ServedRoute> opened_for(const ModelOptions& options, const std::optional<ServedRoute>& only) {
    const bool learns = compute_from_name(options.compute) != Compute::float32 && choose_device(options.device).is_cpu();
    return learns ? std::nullopt : only;
}

/// The task of a run that --task names.
std::optional<ServedRoute> route_of_run(const RunDirectory& run, const std::string& name) {
    if (name.empty()) return std::nullopt;
    return parse_route(name, read_tasks(whole_settings(run).at("tasks")));
}

/// Of the task, or without one.
Route way_in_run(const EmbeddingModel& model, const std::optional<ServedRoute>& only) {
    if (only) return model.route(only->task, only->role);
    Route route;
    route.routed = model.router != nullptr;  // a text that is not said to be a document is a query
    return route;
}

/// Of a task of the folder, of a prompt or an adapter that it has, or as its default prompt says.
Route way_in_folder(const EmbeddingModel& model, const std::string& name, const std::optional<ServedRoute>& only) {
    if (only) return model.route(only->task, only->role);
    if (is_document_side(model.folder, name)) return document_route(model);
    return name.empty() ? default_route(model, model.router != nullptr) : task_route(model, name);
}

void refuse_two_ways(const ModelOptions& options) {
    if (!options.task.empty() && options.instruction) throw usage_error("--task and --instruction exclude each other; give one of them");
}

/// The runs of the project, if there is one, were looked through first: that none is called so is said with what the hub said.
fs::path folder_of(const ModelOptions& options) {
    const fs::path project = options.project.empty() ? project_at_hand() : fs::path(options.project);
    std::error_code none;
    const bool has_runs = fs::is_directory(project / "runs", none);
    try {
        return resolve_named_model(options.model);
    } catch (const Error& error) {
        const std::string said = error.what();
        const bool is_path = options.model.find('/') != std::string::npos;
        if (error.code() == ExitCode::stopped || !has_runs || is_path || said.find("of this project") != std::string::npos) throw;
        throw Error(error.code(), fmt::format("{}; nor has the project a run of this name; to see its runs: faceter list --project {}",
                                              said, shell_word(project.string())));
    }
}

/// At most one of its tasks, where one is named.
std::unique_ptr<EmbeddingModel> open_run(const RunDirectory& run, const ModelOptions& options, bool with_route) {
    return open_run_model(run, opened_for(options, with_route ? route_of_run(run, options.task) : std::nullopt));
}

std::unique_ptr<EmbeddingModel> open_folder(const ModelOptions& options, bool with_route) {
    const ModelFolder folder = ModelFolder::open(folder_of(options));
    return open_folder_model(folder.folder, opened_for(options, with_route ? route_of_folder(folder, options.task) : std::nullopt));
}

/// None or a part of a text would be read, and every text would have the same vector.
void require_room_for_text(const EmbeddingModel& model, std::size_t max_length) {
    const std::size_t positions = most_tokens(model.folder, model.encoders.front()->config()), special = model.tokenizer->num_special();
    if (positions > 0 && max_length > positions)
        throw usage_error("--max-length {} is more than the {} positions of the model", max_length, positions);
    if (max_length <= special)
        throw usage_error("--max-length {} leaves no room for a text: the model puts {} special tokens around it; give more than these",
                          max_length, special);
}

}  // namespace

std::string short_model_name(const std::string& name) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) return name;
    fs::path path = absolute_path(name);
    if (path.filename().empty()) path = path.parent_path();
    return path.filename().string();
}

std::vector<std::string> task_names(const EmbeddingModel& model) {
    std::vector<std::string> names;
    std::set<std::size_t> reached;  // adapters that a prompt of nearly the same name leads to
    for (const auto& [name, prompt] : model.folder.prompts) {
        names.push_back(name);
        if (const auto adapter = find_task_adapter(model, name)) reached.insert(*adapter);
    }
    const auto& adapters = model.encoders.front()->adapters();
    for (std::size_t i = 0; i < adapters.size(); ++i)
        if (!reached.contains(i)) names.push_back(adapters[i].name);
    return names;
}

bool is_document_side(const ModelFolder& folder, const std::string& name) {
    return name == "document" && !router_method(folder.folder).empty() && !has_prompt(folder, name);
}

Route document_route(const EmbeddingModel& model) { return default_route(model, false); }

bool has_task_route(const EmbeddingModel& model, const std::string& task) {
    return has_prompt(model.folder, task) || find_task_adapter(model, task);
}

Route task_route(const EmbeddingModel& model, const std::string& task) {
    if (!has_task_route(model, task))
        throw usage_error("{}: the model has no prompt or adapter named {}{}", model.folder.folder.string(), faceter::quoted(task),
                          suggestion(task, task_names(model)));
    Route route;
    const auto adapter = find_task_adapter(model, task);
    if (adapter)
        route.path = Path::of_adapter(static_cast<int>(*adapter));
    else  // a text that is not said to be a document is a query
        route.routed = model.router && task != "document" && !task.ends_with(".document");
    route.instruction = prompt_of(model, task, adapter);
    return route;
}

void add_model_options(CLI::App& command, ModelOptions& options, bool with_route) {
    command
        .add_option("--model", options.model,
                    "Hugging Face folder, 'minilm', org/name of the Hugging Face hub, run folder, or name of a run")
        ->required();
    command.add_option("--project", options.project, "Project folder that a run's name is looked up in");
    command.add_option("--max-length", options.max_length, "Longest text in tokens, instruction included; default: as the model says")
        ->check(CLI::Range(1, 1 << 24));
    command.add_option("--threads", options.threads, "Threads; 0, the default: all cores")->check(CLI::Range(0, most_threads));
    command.add_option("--device", options.device, "auto (a GPU where there is one), cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    if (!with_route) return;
    command.add_option("--task,--prompt-name", options.task,
                       "Task of the run (or prompt name of the folder) whose instruction and expert to use, such as retrieval.document; "
                       "faceter describe lists a folder's prompts");
    command.add_option_function<std::string>(
        "--instruction", [&options](const std::string& text) { options.instruction = text; },
        "Instruction to put in front of every text, in place of a default prompt; \"\" for none");
}

void add_compute_option(CLI::App& command, ModelOptions& options) {
    command
        .add_option("--compute", options.compute,
                    "How the encoder's products are computed: float32; bf16, on a GPU as well; int8 (CPU), weights scaled per channel and "
                    "activations per token. Products that lose too much are kept from it (faceter describe --compute lists them)")
        ->check(CLI::IsMember({"float32", "bf16", "int8"}))
        ->capture_default_str();
}

Route named_route(const ModelOptions& options, const OpenedModel& opened) {
    refuse_two_ways(options);
    const EmbeddingModel& model = *opened.model;
    if (options.instruction) return instruction_route(model, *options.instruction);
    return opened.run ? way_in_run(model, route_of_run(*opened.run, options.task))
                      : way_in_folder(model, options.task, route_of_folder(model.folder, options.task));
}

OpenedModel open_model(const ModelOptions& options, bool with_route) {
    refuse_two_ways(options);
    const c10::Device device = choose_device(options.device);
    if (options.threads > 0) at::set_num_threads(options.threads);
    use_runs_as_models(options.project);
    OpenedModel opened;
    opened.run = find_run(options.model, options.project);
    opened.model = opened.run ? open_run(*opened.run, options, with_route) : open_folder(options, with_route);
    if (with_route) opened.route = named_route(options, opened);
    if (options.max_length > 0) {
        require_room_for_text(*opened.model, options.max_length);
        opened.model->max_length = options.max_length;
    }
    opened.model->move_to(device);
    return opened;
}

void note_missing_task(const ModelOptions& options, const OpenedModel& opened, bool routed) {
    if (!opened.run || !options.task.empty()) return;
    bool instructed = false, parted = false;
    for (const auto& [key, route] : opened.model->routes) {
        instructed = instructed || !route.instruction.empty();
        parted = parted || route.path != Path{} || (route.routed && !routed);
    }
    std::vector<std::string_view> lacks;
    if (instructed) lacks.push_back("no instruction stands in front of the texts");
    if (opened.model->encoders.size() > 1) lacks.push_back("the first task's encoder embeds them all");
    if (parted) lacks.push_back("none of the tasks' experts, adapters or gates is used");
    if (!lacks.empty())
        say(stderr, "note: without --task {}; 'faceter describe' lists the tasks of {}\n", fmt::join(lacks, ", and "), options.model);
}

ComputeReport prepare_to_embed(OpenedModel& opened, const ModelOptions& options, bool release_weights) {
    const ComputeReport report = prepare_products(*opened.model, compute_from_name(options.compute), release_weights);
    if (!report.native)
        say(stderr,
            "warning: this processor has no instructions for --compute {}; the vectors are the same, but no faster than float32's\n",
            options.compute);
    return report;
}

}  // namespace faceter::worker
