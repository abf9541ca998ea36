#include "eval/form_scores.h"

#include <fmt/format.h>

namespace faceter {

double FormScores::mean(std::size_t form) const {
    double sum = 0;
    for (const EvaluationResult& result : results[form]) sum += result.score;
    return sum / static_cast<double>(results[form].size());
}

Json FormScores::to_json() const {
    Json all = Json::array();
    for (std::size_t f = 0; f < forms.size(); ++f) {
        Json scores = Json::object();
        for (const EvaluationResult& result : results[f]) scores[result.name] = result.score;
        all.push_back({{"elements", forms[f].prefix == 0 ? dim : forms[f].prefix},
                       {"precision", precision_name(forms[f].precision)},
                       {"bytes", forms[f].bytes(dim)},
                       {"scores", scores},
                       {"mean", mean(f)}});
    }
    return all;
}

Table FormScores::table(const std::string& model) const {
    Table table;
    table.name = "embedding_forms";
    table.caption = fmt::format("Scores of stored forms of the embeddings, percent: {}", model);
    table.add_column("elements", ColumnKind::count);
    table.add_column("precision", ColumnKind::text);
    table.add_column("bytes", ColumnKind::count);
    for (const EvaluationResult& result : results.front())
        table.add_column(fmt::format("{} ({})", result.name, result.metric), ColumnKind::number, 2);
    table.add_column("mean", ColumnKind::number, 2);
    table.add_column("of the whole", ColumnKind::number, 1).unit = "%";
    for (std::size_t f = 0; f < forms.size(); ++f) {
        std::vector<Cell> row{Cell::of(static_cast<double>(forms[f].prefix == 0 ? dim : forms[f].prefix)),
                              Cell::of(std::string(precision_name(forms[f].precision))),
                              Cell::of(static_cast<double>(forms[f].bytes(dim)))};
        for (const EvaluationResult& result : results[f]) row.push_back(Cell::of(result.score));
        row.push_back(Cell::of(mean(f)));
        row.push_back(Cell::of(100 * mean(f) / mean(0)));
        table.add_row(std::move(row));
    }
    return table;
}

Figure FormScores::figure(const std::string& model) const {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "embedding_forms";
    figure.title = fmt::format("Score of shorter and coarser embeddings: {}", model);
    figure.x.label = "Elements";
    figure.x.log = true;
    figure.y.label = results.front().size() == 1 ? fmt::format("{}, {}", results.front().front().name, results.front().front().metric)
                                                 : "Mean over data sets";
    figure.y.unit = "%";
    for (const Precision precision : {Precision::float32, Precision::int8, Precision::binary}) {
        Series series;
        series.name = precision_name(precision);
        for (std::size_t f = 0; f < forms.size(); ++f) {
            if (forms[f].precision != precision) continue;
            series.x.push_back(static_cast<double>(forms[f].prefix == 0 ? dim : forms[f].prefix));
            series.y.push_back(mean(f));
        }
        if (!series.x.empty()) figure.series.push_back(std::move(series));
    }
    return figure;
}

void add_form_scores(FormScores& scores, CachedEmbedder& embedder, const EvaluationSet& set, const EvaluationRoutes& routes) {
    scores.results.resize(scores.forms.size());
    for (std::size_t f = 0; f < scores.forms.size(); ++f) {
        embedder.set_form(scores.forms[f]);
        scores.results[f].push_back(evaluate_set(embedder, set, routes));
    }
    embedder.set_form({});
}

}  // namespace faceter
