#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "plugin/run_model.h"

namespace faceter::worker {

/// The options by which a command names a model, and the model they name.
struct ModelOptions {
    std::string model, project = ".", task, instruction;
    std::size_t max_length = 0;
    int threads = 0;
    std::string device = "auto";
};
void add_model_options(CLI::App& command, ModelOptions& options, bool with_route);

/// A model opened for one kind of text.
struct OpenedModel {
    std::unique_ptr<EmbeddingModel> model;
    std::optional<RunDirectory> run;
    Route route;  ///< of --task or --instruction
};
/// Opens it; with --task a run's mixture is opened for that task only. Usage errors: a task that it does not have, --task with
/// --instruction.
OpenedModel open_model(const ModelOptions& options, bool with_route);

}  // namespace faceter::worker
