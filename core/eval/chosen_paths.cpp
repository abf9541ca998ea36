#include "eval/chosen_paths.h"

#include <map>
#include <numeric>
#include <vector>

namespace faceter {

void by_chosen_path(CachedEmbedder& embedder, std::span<const std::string_view> queries, const EvaluationRoutes& routes,
                    const std::function<void(const EvaluationRoutes& routes, std::span<const std::size_t> queries)>& score) {
    if (!routes.query.routed || !routes.document.routed) {
        std::vector<std::size_t> all(queries.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return score(routes, all);
    }
    std::map<Path, std::vector<std::size_t>> places;
    const auto chosen = embedder.choose(queries, routes.query);
    for (std::size_t q = 0; q < queries.size(); ++q) places[chosen[q]].push_back(q);
    for (const auto& [path, own] : places) {
        EvaluationRoutes through = routes;
        through.query.path = through.document.path = path;
        through.query.routed = through.document.routed = false;
        score(through, own);
    }
}

}  // namespace faceter
