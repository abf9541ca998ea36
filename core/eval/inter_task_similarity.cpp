#include "eval/inter_task_similarity.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "common/hash.h"
#include "stats/density.h"
#include "stats/descriptive.h"

namespace faceter {
namespace {

constexpr std::size_t longest_sample = 400;  // bytes of a text that a result keeps
constexpr std::size_t most_samples = 2000;   // texts that it keeps

/// At most `longest_sample` bytes, cut between characters.
std::string beginning(const std::string& text) {
    if (text.size() <= longest_sample) return text;
    std::size_t end = longest_sample;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end) + "…";
}

/// Equal for equal lists only: each text with its length.
std::string fingerprint(const std::vector<std::string>& texts) {
    Sha256 hash;
    for (const std::string& text : texts) {
        hash.update(fmt::format("{}:", text.size()));
        hash.update(text);
    }
    return hash.finish();
}

}  // namespace

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

std::vector<Facet> facets_of(const std::vector<Task>& tasks, const EmbeddingModel& model) {
    std::vector<Facet> facets;
    for (const Facet& facet : facets_of(tasks)) {
        facets.push_back(facet);
        const Route query = model.route(facet.task, Role::query), document = model.route(facet.task, Role::document);
        if (facet.name == facet.task && (query.path != document.path || query.encoder != document.encoder))
            facets.push_back({facet.task + ".document", facet.task, Role::document});
    }
    return facets;
}

InterTaskSimilarity inter_task_similarity(CachedEmbedder& embedder, const std::vector<Task>& tasks, const std::vector<std::string>& texts) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto facets = facets_of(tasks, embedder.model());
    std::vector<at::Tensor> embeddings;  // [N, D] in float64, rows of length 1
    for (const Facet& facet : facets)
        embeddings.push_back(normalize_rows(embedder.embed(views, embedder.model().route(facet.task, facet.role)).to(at::kDouble)));
    return compare_facets(facets, embeddings, texts);
}

InterTaskSimilarity compare_facets(const std::vector<Facet>& facets, const std::vector<at::Tensor>& embeddings,
                                   const std::vector<std::string>& texts) {
    InterTaskSimilarity result;
    result.texts = texts;
    for (const Facet& facet : facets) result.facets.push_back(facet.name);
    for (std::size_t i = 0; i < facets.size(); ++i)
        for (std::size_t j = i + 1; j < facets.size(); ++j) {
            const at::Tensor cosines = (embeddings[i] * embeddings[j]).sum(1).contiguous();
            const double* first = cosines.data_ptr<double>();
            InterTaskSimilarity::Pair pair{facets[i].name, facets[j].name, {first, first + cosines.numel()}, 0};
            pair.mean = mean(pair.values);
            result.pairs.push_back(std::move(pair));
        }
    if (!embeddings.empty() && !texts.empty()) result.projection = project_to_plane(at::cat(embeddings));
    return result;
}

Json InterTaskSimilarity::to_json() const {
    Json all = Json::array(), samples = Json::array();
    for (const Pair& pair : pairs) all.push_back({{"a", pair.a}, {"b", pair.b}, {"mean", pair.mean}, {"values", pair.values}});
    for (std::size_t i = 0; i < std::min(texts.size(), most_samples); ++i) samples.push_back(beginning(texts[i]));
    return {{"texts", texts.size()}, {"fingerprint", fingerprint(texts)}, {"samples", samples}, {"pairs", all}};
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
    figure.notes.push_back(fmt::format("{} texts; Gaussian kernel, Scott's bandwidth; MoTE, Figure 3.", texts.size()));
    return figure;
}

Figure InterTaskSimilarity::plane(const std::string& run) const {
    Figure figure;
    figure.kind = FigureKind::scatter;
    figure.name = "inter_task_projection";
    figure.title = fmt::format("The same texts under each task, {}", run);
    figure.x.label = "first principal component";
    figure.x.unit = fmt::format("{:.0f}% of the variance", 100 * projection.explained[0]);
    figure.y.label = "second";
    figure.y.unit = fmt::format("{:.0f}%", 100 * projection.explained[1]);
    const std::size_t n = projection.x.empty() ? 0 : texts.size();
    for (std::size_t f = 0; f < facets.size(); ++f) {
        Series series;
        series.name = facets[f];
        for (std::size_t i = f * n; i < (f + 1) * n; ++i) {
            series.x.push_back(projection.x[i]);
            series.y.push_back(projection.y[i]);
            series.labels.push_back(fmt::format("{}", i - f * n + 1));
        }
        figure.series.push_back(std::move(series));
    }
    figure.notes.push_back(
        fmt::format("{} texts, numbered as the run embedded them; principal components of all tasks' embeddings together.", texts.size()));
    return figure;
}

Table InterTaskSimilarity::table(const std::string& run) const {
    Table table;
    table.name = "inter_task_similarity";
    table.caption = fmt::format(
        "Inter-task similarity of {}: cosine similarity of the same text embedded under two tasks, mean over {} texts", run, texts.size());
    table.add_column("task", ColumnKind::text);
    table.add_column("other task", ColumnKind::text);
    table.add_column("mean", ColumnKind::number, 4);
    table.add_column("std", ColumnKind::number, 4);
    for (const Pair& pair : pairs)
        table.add_row({Cell::of(pair.a), Cell::of(pair.b), Cell::of(pair.mean), Cell::of(standard_deviation(pair.values))});
    return table;
}

}  // namespace faceter
