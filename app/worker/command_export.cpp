#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "common/error.h"
#include "common/strings.h"
#include "named_model.h"
#include "train/checkpoint.h"
#include "train/token_objective.h"

namespace faceter::worker {
namespace {

struct ExportCommand {
    std::string run, folder, project = ".", task;
    bool force = false;
};

/// One dense sentence-transformers folder: what texts of one route pass through. `instruction` becomes its default prompt.
void write_folder(const fs::path& out, const EmbeddingModel& model, const Route& route) {
    ModelFolder like = model.folder;
    like.max_seq_length = model.max_length;
    if (!route.instruction.empty()) {
        like.prompts = {{"default", route.instruction}};
        like.default_prompt = "default";
    }
    make_directories(out);
    write_sentence_transformers_files(out, like);
    write_model_tensors(out, like, model.encoders[static_cast<std::size_t>(route.encoder)]->dense_tensors(route.expert));
    if (const fs::path head = model.folder.folder / mlm_head_file; fs::exists(head))
        fs::copy_file(head, out / mlm_head_file, fs::copy_options::overwrite_existing);
    fmt::print("{}\n", out.string());
}

bool needs_one_folder_a_task(const EmbeddingModel& model) {
    for (const auto& [key, route] : model.routes)
        if (route.encoder != model.routes.begin()->second.encoder || route.expert != model.routes.begin()->second.expert) return true;
    return false;
}

/// The prompts of a model whose tasks share all weights: one a distinct instruction.
void add_prompts(EmbeddingModel& model) {
    model.folder.prompts.clear();
    model.folder.default_prompt.clear();
    for (const auto& [key, route] : model.routes)
        if (!route.instruction.empty()) model.folder.prompts[key.first + "." + std::string(role_name(key.second))] = route.instruction;
}

/// sentence-transformers has token-routed blocks in NomicBERT alone.
void refuse_routed_blocks_elsewhere(const EmbeddingModel& model, const std::string& run) {
    const auto& blocks = model.encoders.front()->blocks();
    const bool routed = std::any_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.routing.has_value(); });
    if (routed && model.folder.model_type != "nomic_bert")
        throw data_error(
            "{}: has token-routed blocks, which no {} checkpoint can hold outside of Faceter; train it from a NomicBERT model to export it",
            run, model.folder.model_type);
}

int export_run(const ExportCommand& options) {
    const auto run = find_run(options.run, options.project);
    if (!run)
        throw usage_error("no run '{}' in {}; 'faceter list --project {}' shows the runs", options.run, options.project, options.project);
    const fs::path out = options.folder;
    if (fs::exists(out) && !fs::is_empty(out) && !options.force)
        throw usage_error("{}: is not empty; give another folder, or --force", out.string());
    const auto model = open_run_model(*run);
    refuse_routed_blocks_elsewhere(*model, options.run);
    if (!options.task.empty()) {
        const ServedRoute served = parse_route(options.task, model->tasks);
        write_folder(out, *model, model->route(served.task, served.role));
    } else if (needs_one_folder_a_task(*model)) {
        for (const auto& [key, route] : model->routes)
            write_folder(out / safe_file_name(key.first + "." + std::string(role_name(key.second))), *model, route);
    } else {
        add_prompts(*model);
        write_folder(out, *model, {});
    }
    return 0;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<ExportCommand>();
    auto* command = app.add_subcommand(
        "export", "Write a run's model as a folder that sentence-transformers loads (a mixture: one folder a task and role).");
    command->footer(
        "Example:\n  faceter export quickstart-ic exported --project my-project\n"
        "  faceter export quickstart-mote retrieval-model --project my-project --task retrieval.document");
    command->add_option("RUN", options->run, "Run folder or name")->required();
    command->add_option("DIR", options->folder, "Folder to write")->required();
    command->add_option("--project", options->project, "Project folder that the run's name is looked up in");
    command->add_option("--task", options->task, "Only this task, with its expert merged in, such as retrieval.document");
    command->add_flag("--force", options->force, "Write into a folder that is not empty");
    command->callback([=, &exit_code] { exit_code = export_run(*options); });
}

}  // namespace faceter::worker
