#include "expert_load.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "data/sources.h"
#include "eval/inter_task_similarity.h"

namespace faceter {
namespace {

/// Of one block, over all tokens seen.
struct BlockLoad {
    std::size_t block = 0;
    at::Tensor load;  // float64 [E]
    double entropy = 0, tokens = 0;

    std::vector<double> shares() const {
        const at::Tensor s = load / load.sum().clamp_min(1);
        return {s.data_ptr<double>(), s.data_ptr<double>() + s.numel()};
    }
    double mean_entropy() const { return tokens > 0 ? entropy / tokens : 0; }
};

void add(std::vector<BlockLoad>& loads, const RoutingTrace& trace) {
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (loads.size() <= i) loads.push_back({trace[i].block, at::zeros_like(trace[i].load, at::TensorOptions(at::kCPU))});
        loads[i].load.add_(trace[i].load.cpu());
        loads[i].entropy += trace[i].entropy_sum().item<double>();
        loads[i].tokens += static_cast<double>(trace[i].probabilities.size(0));
    }
}

std::vector<std::string> expert_names(std::int64_t count) {
    std::vector<std::string> names;
    for (std::int64_t e = 0; e < count; ++e) names.push_back(fmt::format("expert {}", e));
    return names;
}

using FacetLoads = std::vector<std::pair<Facet, std::vector<BlockLoad>>>;

/// Rows: task and block; columns: experts; an even share is the middle of the colours.
Figure load_figure(const FacetLoads& facets, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::heat_map;
    figure.name = "expert_load";
    figure.title = fmt::format("Share of tokens by expert: {}", run);
    const std::int64_t experts = facets.front().second.front().load.numel();
    figure.x.label = "Expert";
    figure.y.label = "Task and block";
    figure.heat_map.columns = expert_names(experts);
    figure.heat_map.label = "Share of assignments";
    figure.heat_map.centre = 1.0 / static_cast<double>(experts);
    for (const auto& [facet, loads] : facets)
        for (const BlockLoad& load : loads) {
            figure.heat_map.rows.push_back(fmt::format("{}, block {}", facet.name, load.block));
            const auto shares = load.shares();
            figure.heat_map.values.insert(figure.heat_map.values.end(), shares.begin(), shares.end());
        }
    figure.notes = {fmt::format("An even share is {:.3f}.", *figure.heat_map.centre)};
    return figure;
}

Figure entropy_figure(const FacetLoads& facets, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "router_entropy";
    figure.title = fmt::format("Entropy of the router by block: {}", run);
    figure.x.label = "Block";
    figure.y.label = "Entropy";
    figure.y.unit = "nats";
    for (const auto& [facet, loads] : facets) {
        Series series;
        series.name = facet.name;
        for (const BlockLoad& load : loads) {
            series.x.push_back(static_cast<double>(load.block));
            series.y.push_back(load.mean_entropy());
        }
        figure.series.push_back(std::move(series));
    }
    figure.notes = {fmt::format("A router without a preference has {:.3f} nats.",
                                std::log(static_cast<double>(facets.front().second.front().load.numel())))};
    return figure;
}

Table load_table(const FacetLoads& facets, const std::string& run) {
    Table table;
    table.name = "expert_load";
    table.caption = fmt::format("Token routing of {}", run);
    table.add_column("task", ColumnKind::text);
    table.add_column("block", ColumnKind::count);
    table.add_column("tokens", ColumnKind::count);
    table.add_column("smallest share", ColumnKind::number, 3);
    table.add_column("largest share", ColumnKind::number, 3);
    table.add_column("entropy", ColumnKind::number, 3);
    for (const auto& [facet, loads] : facets)
        for (const BlockLoad& load : loads) {
            const auto shares = load.shares();
            table.add_row({Cell::of(facet.name), Cell::of(static_cast<double>(load.block)), Cell::of(load.tokens),
                           Cell::of(*std::min_element(shares.begin(), shares.end())),
                           Cell::of(*std::max_element(shares.begin(), shares.end())), Cell::of(load.mean_entropy())});
        }
    table.footnotes = {"Entropy in nats, the mean over tokens; shares are of all assignments of a block, and embedding drops none."};
    return table;
}

class ExpertLoad final : public Analysis {
  public:
    AnalysisResult run(const AnalysisContext& context) const override {
        if (context.texts.empty()) throw DataUnavailable("its settings name no texts to embed (texts: {source: ..., count: ...})");
        const EmbeddingModel& model = context.embedder.model();
        const std::vector<std::string_view> texts(context.texts.begin(), context.texts.end());
        FacetLoads facets;
        Json result = Json::array();
        for (const Facet& facet : facets_of(context.tasks)) {
            std::vector<BlockLoad> loads;
            EmbedOptions options;
            options.routing = [&](const RoutingTrace& trace) { add(loads, trace); };
            embed_texts(model, texts, model.route(facet.task, facet.role), options);
            for (const BlockLoad& load : loads)
                result.push_back({{"task", facet.name},
                                  {"block", load.block},
                                  {"shares", load.shares()},
                                  {"entropy", load.mean_entropy()},
                                  {"tokens", load.tokens}});
            if (!loads.empty()) facets.emplace_back(facet, std::move(loads));
        }
        if (facets.empty()) return {{{"loads", result}, {"note", "this model has no token-routed blocks"}}, {}, {}};
        return {{{"loads", result}},
                {{"expert_load", load_figure(facets, context.run_name)}, {"router_entropy", entropy_figure(facets, context.run_name)}},
                {{"expert_load", load_table(facets, context.run_name)}}};
    }
};

}  // namespace

std::unique_ptr<Analysis> make_expert_load() { return std::make_unique<ExpertLoad>(); }

}  // namespace faceter
