#pragma once
#include <map>
#include <string>

#include "common/file.h"
#include "model/embedding_model.h"

namespace faceter {

/// Writes all of a model into `folder`, which must exist, so that opening the folder gives the same model: configuration, tokenizer,
/// weights, heads, adapters as PEFT keeps them, its router's files, and in faceter.json what config.json cannot say. A dense model is a
/// sentence-transformers folder; any other is one that sentence-transformers refuses (ModelFolder::only_faceter). A model with tasks has
/// their instructions as prompts, by "task.role".
void write_model(const fs::path& folder, const EmbeddingModel& model);

/// What stands in front of the texts of each of its tasks, by "task.role", and by "task" where it is the same for both.
std::map<std::string, std::string> prompts_of_tasks(const EmbeddingModel& model);

/// Why the model is more than one dense encoder, as "it has ..."; empty: it is one, its blocks perhaps with token-routed experts.
std::string beyond_dense(const EmbeddingModel& model);
/// Why sentence-transformers cannot hold the model, as "its ..."; empty: it can.
std::string beyond_sentence_transformers(const EmbeddingModel& model);
/// Whether it can with the code alone that the start model's configuration names (NomicBERT's token-routed blocks).
bool needs_released_code(const EmbeddingModel& model);

/// A model opened for one route becomes the dense model that its texts pass through, where there is one: its adapter, or the one that its
/// router always chooses, is merged into the weights; the instruction is the default prompt, and that of
/// queries and documents.
void fold_route(EmbeddingModel& model, const Route& route);

}  // namespace faceter
