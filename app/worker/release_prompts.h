#pragma once
#include <optional>

#include "eval/tasks.h"

namespace faceter::worker {

/// The prompts (and adapters) that a released model's own folder has for a data set, by the names under which mteb looks for them
/// (models/abs_encoder.py, get_prompt_name): those of the data set and of its kind of task, each by side before for both, and "query" and
/// "document". Then by the names that sentence-transformers' encode_query and encode_document take ("passage", "corpus") and that releases
/// have (Nomic's "search_query", jina v3's "retrieval.passage", "text-matching" and "separation"). Sides exist in retrieval and reranking;
/// elsewhere all texts have one. Case, '-', '.' and '_' count for nothing. A side without such a name has the default prompt.
/// Nothing where no name fits.
std::optional<EvaluationRoutes> release_routes(const EmbeddingModel& model, const EvaluationSet& set);

}  // namespace faceter::worker
