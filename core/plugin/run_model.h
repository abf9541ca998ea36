#pragma once
#include <memory>
#include <optional>
#include <string>

#include "common/error.h"
#include "model/embedding_model.h"
#include "plugin/registry.h"
#include "record/run_directory.h"

namespace faceter {

/// RUN/model: what a finished run leaves, as write_model() writes it.
fs::path final_model_folder(const RunDirectory& run);
/// Writes it (temporary folder, then rename).
void write_final_model(const RunDirectory& run, const EmbeddingModel& model);

/// The model of a folder (EmbeddingModel::open), with its router where router.json describes one. With `only`, just what that route needs.
std::unique_ptr<EmbeddingModel> open_folder_model(const fs::path& folder, const std::optional<ServedRoute>& only = {});
/// The method that router.json of a folder names; empty: it has none. A data error where it cannot be read.
std::string router_method(const fs::path& folder);

/// The start model of a run with the run's tasks and lengths, before its variant shapes it: dense, or with token-routed blocks. Errors
/// (settings): it has task experts, adapters or several encoders.
std::unique_ptr<EmbeddingModel> open_start_model(const Json& settings);
/// Its settings carry the run's seed as `seed`: what it draws before training varies with it.
std::unique_ptr<Variant> variant_of(const Json& settings);

/// "retrieval", "retrieval.query", "retrieval.document"; a usage error naming the tasks that are there.
ServedRoute parse_route(const std::string& text, const std::vector<Task>& tasks);

/// What is to be said of a run without a final model: one that is not done yet, or one whose record alone is here.
Error no_final_model(const RunDirectory& run);
/// A finished run's model; with `only`, just what that route needs. Data error (no_final_model) where the run has none.
std::unique_ptr<EmbeddingModel> open_run_model(const RunDirectory& run, const std::optional<ServedRoute>& only = {});

/// The run that a command line's model name means: a run folder, or a run's name in `project` (empty: project_at_hand()); nothing
/// where it is no run. Errors (usage): a name that is that of no model, and of several runs or of one that was deleted.
std::optional<RunDirectory> find_run(const std::string& name, const fs::path& project);

}  // namespace faceter
