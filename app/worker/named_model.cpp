#include "named_model.h"

#include <ATen/Parallel.h>

#include "common/error.h"
#include "common/strings.h"
#include "model/accelerator.h"

namespace faceter::worker {
namespace {

/// Where a text under this instruction passes: the expert of the task that has it, else the first.
Route instruction_route(const EmbeddingModel& model, const std::string& instruction) {
    for (const auto& [key, route] : model.routes)
        if (route.instruction == instruction) return route;
    return {instruction, 0, model.router ? routed_expert : 0};
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options, bool with_route) {
    command
        .add_option("--model", options.model,
                    "Hugging Face folder, 'minilm', org/name of the Hugging Face hub, run folder, or name of a run")
        ->required();
    command.add_option("--project", options.project, "Project folder that a run's name is looked up in");
    command.add_option("--max-length", options.max_length, "Longest text in tokens, instruction included; default: as the model says");
    command.add_option("--threads", options.threads, "Threads; default: all cores");
    command.add_option("--device", options.device, "auto (a GPU where there is one), cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    if (!with_route) return;
    command.add_option("--task", options.task,
                       "Task of the run (or prompt name of the folder) whose instruction and expert to use, such as retrieval.document");
    command.add_option("--instruction", options.instruction, "Instruction to put in front of every text");
}

OpenedModel open_model(const ModelOptions& options, bool with_route) {
    if (!options.task.empty() && !options.instruction.empty())
        throw usage_error("--task and --instruction exclude each other; give one of them");
    const c10::Device device = choose_device(options.device);
    if (options.threads > 0) at::set_num_threads(options.threads);
    OpenedModel opened;
    opened.run = find_run(options.model, options.project);
    if (opened.run) {
        const auto tasks = read_tasks(opened.run->settings().at("tasks"));
        std::optional<ServedRoute> only;
        if (with_route && !options.task.empty()) only = parse_route(options.task, tasks);
        opened.model = open_run_model(*opened.run, only);
        if (only) opened.route = opened.model->route(only->task, only->role);
    } else {
        const ModelFolder folder = ModelFolder::open(resolve_model(options.model));
        const bool document = options.task == "document" && !router_method(folder.folder).empty();  // the side that no router chooses for
        if (with_route && !options.task.empty() && !document)
            opened.route.instruction = folder.prompt(options.task);
        else if (!folder.default_prompt.empty())
            opened.route.instruction = folder.prompt(folder.default_prompt);
        opened.model = open_folder_model(folder.folder);
    }
    if (opened.model->router && options.task.empty())
        opened.route.expert = routed_expert;  // a text that is not said to be a document is a query
    if (!options.instruction.empty()) opened.route = instruction_route(*opened.model, options.instruction);
    if (options.max_length > 0) {
        const auto positions = static_cast<std::size_t>(opened.model->encoders.front()->config().length_limit);
        if (positions > 0 && options.max_length > positions)
            throw usage_error("--max-length {} is more than the {} positions of the model", options.max_length, positions);
        opened.model->max_length = options.max_length;
    }
    opened.model->move_to(device);
    return opened;
}

}  // namespace faceter::worker
