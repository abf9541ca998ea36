#include <ATen/ATen.h>

#include "eval/inter_task_similarity.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

namespace faceter {
namespace {

/// The mean cosine over all pairs of different rows: with u_i of length 1, (|sum_i u_i|^2 - n) / (n (n - 1)). Near 0, texts stand apart;
/// near 1, they all look alike.
double mean_cosine(const at::Tensor& rows) {
    const double n = static_cast<double>(rows.size(0));
    const at::Tensor unit = rows.to(at::kDouble) / rows.to(at::kDouble).norm(2, 1, true).clamp_min(1e-12);  // [N, D]
    const double square = unit.sum(0).square().sum().item<double>();
    return n > 1 ? (square - n) / (n * (n - 1)) : 0;
}

/// Gets a finished run's model and texts; what it returns is stored with the run, drawn on page Results and exported by code that is there.
class @CLASS@ final : public Analysis {
  public:
    AnalysisResult run(const AnalysisContext& context) const override {
        const std::vector<std::string_view> texts(context.texts.begin(), context.texts.end());
        Figure figure;
        figure.kind = FigureKind::bars;
        figure.name = "@NAME@";
        figure.title = "Mean cosine between different texts: " + context.run_name;
        figure.x.label = "Task";
        figure.y.label = "Mean cosine";
        Table table;
        table.name = "@NAME@";
        table.caption = figure.title;
        table.add_column("task", ColumnKind::text);
        table.add_column("mean cosine", ColumnKind::number, 3);
        Series series{context.run_name};
        Json result = Json::object();
        for (const Facet& facet : facets_of(context.tasks)) {  // a facet: a task (and role) with an instruction of its own
            const double value = mean_cosine(context.embedder.embed(texts, context.embedder.model().route(facet.task, facet.role)));
            figure.x.categories.push_back(facet.name);
            series.y.push_back(value);
            table.add_row({Cell::of(facet.name), Cell::of(value)});
            result[facet.name] = value;
        }
        figure.series.push_back(std::move(series));
        return {result, {{"@NAME@", figure}}, {{"@NAME@", table}}};
    }
};

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("@NAME@", [](faceter::Registry& registry) {
    registry.add_analysis("@NAME@", [](const faceter::Json&) { return std::make_unique<faceter::@CLASS@>(); });
})
