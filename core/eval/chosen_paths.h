#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "eval/tasks.h"

namespace faceter {

/// Where the model's router chooses the path of queries and of documents, documents go that of their query: calls `score` for each path in
/// use, with the routes that lead through it and the places of the queries that chose it. Elsewhere once, with the routes as they are and
/// all places.
void by_chosen_path(CachedEmbedder& embedder, std::span<const std::string_view> queries, const EvaluationRoutes& routes,
                    const std::function<void(const EvaluationRoutes& routes, std::span<const std::size_t> queries)>& score);

}  // namespace faceter
