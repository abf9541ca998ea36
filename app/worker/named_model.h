#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "model/compute.h"
#include "plugin/run_model.h"

namespace faceter::worker {

/// The options by which a command names a model, and the model they name.
struct ModelOptions {
    std::string model, project, task;
    std::optional<std::string> instruction;  ///< empty: no instruction, where the model has a default prompt as well
    std::size_t max_length = 0;
    int threads = 0;
    std::string device = "auto";
    std::string compute = "float32";
};
void add_model_options(CLI::App& command, ModelOptions& options, bool with_route);
/// --compute: how prepare_to_embed() lays its products out.
void add_compute_option(CLI::App& command, ModelOptions& options);

/// A model opened for one kind of text.
struct OpenedModel {
    std::unique_ptr<EmbeddingModel> model;
    std::optional<RunDirectory> run;
    Route route;  ///< of --task or --instruction
};
/// "path/to/model/" and "." are called as the folder is; a run, or a name of the hub, as it is said.
std::string short_model_name(const std::string& name);
/// What task_route() takes: the prompts of a released model, and the adapters that none of them leads to.
std::vector<std::string> task_names(const EmbeddingModel& model);
/// The prompt and the adapter that a released model has for a task, by the name of either. Usage errors: it has neither, with those that it
/// has.
Route task_route(const EmbeddingModel& model, const std::string& task);
/// Whether it has a prompt or an adapter of that name.
bool has_task_route(const EmbeddingModel& model, const std::string& task);
/// Whether the name stands for the side of a folder that its router does not choose for.
bool is_document_side(const ModelFolder& folder, const std::string& name);
/// The way of the texts of that side.
Route document_route(const EmbeddingModel& model);
/// Opens it; with --task a run's mixture is opened for that task only. Usage errors: a task that it does not have, --task with
/// --instruction, a --max-length that takes no text or more than the model does.
OpenedModel open_model(const ModelOptions& options, bool with_route);
/// The way of the texts of --task or --instruction through a model that was opened whole, or for that task. Usage errors as above.
Route named_route(const ModelOptions& options, const OpenedModel& opened);
/// Says on standard error what the texts of a run's tasks have and those without --task lack: instructions, parts of the model. It may be
/// meant. `routed`: the run's router chooses for them all the same.
void note_missing_task(const ModelOptions& options, const OpenedModel& opened, bool routed);
/// Lays its products out as --compute says, and warns where that is no faster here. `release_weights`: only that stays in memory; the
/// model's fingerprint can then not be asked for.
ComputeReport prepare_to_embed(OpenedModel& opened, const ModelOptions& options, bool release_weights);

}  // namespace faceter::worker
