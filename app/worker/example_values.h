#pragma once
#include "eval/tasks.h"

namespace faceter::worker {

/// What `faceter evaluate --per-example` adds to the JSON of a set that was scored as `result`:
///   per_example         a value for each example: of the main metric (percent) where that is a mean over examples; of pairs, whose metrics
///                       are none, the similarity; of sentences with translations 100 where the right one was found, else 0
///   per_example_of      what the values are: ndcg_at_10, accuracy, cosine ...
///   per_example_wanted  of pairs: the label or score that the data has for each
///   examples            where it is known which text each value is of: an object for each, with "example" (its number, from 1), "value",
///                       "text", "other" of a pair, "wanted" (what a model should find), and "id" where the data name it;
///                       texts are cut to 200 cells
/// Of a set with subsets each has its own: {"subsets": [{...}, ...]}, in the order of the set's.
Json example_values(CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes, const EvaluationResult& result);

}  // namespace faceter::worker
