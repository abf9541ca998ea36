#include "eval/inter_task_similarity.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stats/density.h"
#include "stats/descriptive.h"

namespace faceter {

std::vector<Facet> facets_of(const std::vector<Task>& tasks) {
    std::vector<Facet> facets;
    for (const Task& task : tasks) {
        if (task.query_instruction == task.document_instruction) {
            facets.push_back({task.name, task.name, Role::query});
        } else {
            facets.push_back({task.name + ".query", task.name, Role::query});
            facets.push_back({task.name + ".document", task.name, Role::document});
        }
    }
    return facets;
}

InterTaskSimilarity inter_task_similarity(CachedEmbedder& embedder, const std::vector<Task>& tasks, const std::vector<std::string>& texts) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto facets = facets_of(tasks);
    std::vector<at::Tensor> embeddings;  // [N, D] in float64, rows of length 1
    for (const Facet& facet : facets)
        embeddings.push_back(normalize_rows(embedder.embed(views, embedder.model().route(facet.task, facet.role)).to(at::kDouble)));
    InterTaskSimilarity result;
    result.num_texts = texts.size();
    for (std::size_t i = 0; i < facets.size(); ++i)
        for (std::size_t j = i + 1; j < facets.size(); ++j) {
            const at::Tensor cosines = (embeddings[i] * embeddings[j]).sum(1).contiguous();
            const double* first = cosines.data_ptr<double>();
            InterTaskSimilarity::Pair pair{facets[i].name, facets[j].name, {first, first + cosines.numel()}, 0};
            pair.mean = mean(pair.values);
            result.pairs.push_back(std::move(pair));
        }
    return result;
}

Json InterTaskSimilarity::to_json() const {
    Json all = Json::array();
    for (const Pair& pair : pairs) all.push_back({{"a", pair.a}, {"b", pair.b}, {"mean", pair.mean}, {"values", pair.values}});
    return {{"texts", num_texts}, {"pairs", all}};
}

Figure InterTaskSimilarity::densities(const std::string& run) const {
    Figure figure;
    figure.kind = FigureKind::densities;
    figure.name = "inter_task_similarity";
    figure.title = fmt::format("Inter-task similarity, {}", run);
    figure.x.label = "cosine similarity of the same text under two tasks";
    figure.y.label = "density";
    for (const Pair& pair : pairs) {
        if (!(standard_deviation(pair.values) > 1e-9)) {
            figure.notes.push_back(
                fmt::format("{} - {}: every text has similarity {:.4f}, so there is no density.", pair.a, pair.b, pair.mean));
            continue;
        }
        const GaussianDensity density(pair.values);
        Series series;
        series.name = fmt::format("{} - {}", pair.a, pair.b);
        series.x = density.grid();
        series.y = density(series.x);
        series.mean = pair.mean;
        figure.series.push_back(std::move(series));
    }
    figure.notes.push_back(fmt::format("{} texts; Gaussian kernel, Scott's bandwidth; MoTE, Figure 3.", num_texts));
    return figure;
}

Table InterTaskSimilarity::table(const std::string& run) const {
    Table table;
    table.name = "inter_task_similarity";
    table.caption = fmt::format(
        "Inter-task similarity of {}: cosine similarity of the same text embedded under two tasks, mean over {} texts", run, num_texts);
    table.add_column("task", ColumnKind::text);
    table.add_column("other task", ColumnKind::text);
    table.add_column("mean", ColumnKind::number, 4);
    table.add_column("std", ColumnKind::number, 4);
    for (const Pair& pair : pairs)
        table.add_row({Cell::of(pair.a), Cell::of(pair.b), Cell::of(pair.mean), Cell::of(standard_deviation(pair.values))});
    return table;
}

}  // namespace faceter
