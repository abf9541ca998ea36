#include "expert_moves.h"

#include <fmt/format.h>

#include "common/strings.h"
#include "model/movement.h"

namespace faceter {
namespace {

/// What an expert owns: where the norms are shared, its MLP alone.
std::vector<at::Tensor> owned(const Expert& expert, bool shared_norms) {
    return shared_norms ? std::vector{expert.up, expert.up_bias, expert.down, expert.down_bias} : expert.tensors();
}

Movement movement_of(const std::vector<at::Tensor>& now, const std::vector<at::Tensor>& before) {
    Movement movement;
    for (std::size_t i = 0; i < now.size(); ++i) movement.add(now[i], before[i]);
    return movement;
}

/// Of one mixture block, in units of the dense block's length.
struct BlockMoves {
    std::size_t block = 0;
    std::vector<double> moved;                 ///< of each expert from the dense block
    std::vector<std::vector<double>> between;  ///< [E][E]
};

BlockMoves moves_of(const Block& block, std::size_t index) {
    const auto dense = owned(block.dense.value(), block.shared_norms);
    BlockMoves result{index, {}, {}};
    for (const Expert& expert : block.experts) {
        const auto own = owned(expert, block.shared_norms);
        const Movement from_dense = movement_of(own, dense);
        result.moved.push_back(from_dense.ratio());
        result.between.emplace_back();
        for (const Expert& other : block.experts) {
            const double apart = movement_of(own, owned(other, block.shared_norms)).moved;
            result.between.back().push_back(Movement{apart, from_dense.start}.ratio());
        }
    }
    return result;
}

/// What a run's experts are called: the first task and role that has each, and how many more.
std::vector<std::string> expert_names(const EmbeddingModel& model, std::size_t count) {
    std::vector<std::string> names(count);
    std::vector<int> more(count, 0);
    for (const Task& task : model.tasks)
        for (const Role role : {Role::query, Role::document}) {
            const int expert = model.route(task.name, role).path.expert;
            if (expert < 0 || static_cast<std::size_t>(expert) >= count) continue;
            const auto e = static_cast<std::size_t>(expert);
            if (names[e].empty())
                names[e] = fmt::format("{}: {}.{}", e, task.name, role_name(role));
            else
                ++more[e];
        }
    for (std::size_t e = 0; e < count; ++e) {
        if (names[e].empty()) names[e] = fmt::format("{}", e);
        if (more[e] > 0) names[e] += fmt::format(" +{}", more[e]);
    }
    return names;
}

Figure moved_figure(const std::vector<BlockMoves>& blocks, const std::vector<std::string>& names, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "mote_moved";
    figure.title = fmt::format("How far experts moved from the dense block: {}", run);
    figure.x.label = "Block";
    figure.y.label = "Distance";
    figure.y.unit = "of the dense block's length";
    for (std::size_t e = 0; e < names.size(); ++e) {
        Series series;
        series.name = names[e];
        for (const BlockMoves& block : blocks) {
            series.x.push_back(static_cast<double>(block.block));
            series.y.push_back(block.moved[e]);
        }
        figure.series.push_back(std::move(series));
    }
    return figure;
}

Figure between_figure(const std::vector<BlockMoves>& blocks, const std::vector<std::string>& names, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::heat_map;
    figure.name = "mote_between";
    figure.title = fmt::format("How far experts are from one another: {}", run);
    figure.x.label = "Expert";
    figure.y.label = "Block and expert";
    figure.heat_map.columns = names;
    figure.heat_map.label = "Distance";
    figure.heat_map.unit = "of the dense block's length";
    figure.heat_map.decimals = 4;
    for (const BlockMoves& block : blocks)
        for (std::size_t e = 0; e < names.size(); ++e) {
            figure.heat_map.rows.push_back(fmt::format("block {}, {}", block.block, e));
            figure.heat_map.values.insert(figure.heat_map.values.end(), block.between[e].begin(), block.between[e].end());
        }
    return figure;
}

/// A row a task and role.
Table experts_table(const EmbeddingModel& model, const std::vector<BlockMoves>& blocks, const std::string& run) {
    Table table;
    table.name = "mote_experts";
    table.caption = fmt::format("Instructions and their experts: {}", run);
    table.add_column("task", ColumnKind::text);
    table.add_column("instruction", ColumnKind::text);
    table.add_column("expert", ColumnKind::count);
    table.add_column("moved, mean", ColumnKind::number, 4);
    table.add_column("moved, most", ColumnKind::number, 4);
    table.add_column("in block", ColumnKind::count);
    for (const Task& task : model.tasks)
        for (const Role role : {Role::query, Role::document}) {
            const Route route = model.route(task.name, role);
            if (route.path.expert < 0) continue;
            double sum = 0, most = -1;
            std::size_t where = 0;
            for (const BlockMoves& block : blocks) {
                const double moved = block.moved[static_cast<std::size_t>(route.path.expert)];
                sum += moved;
                if (moved > most) most = moved, where = block.block;
            }
            table.add_row({Cell::of(fmt::format("{}.{}", task.name, role_name(role))), Cell::of(std::string(route.instruction)),
                           Cell::of(static_cast<double>(route.path.expert)), Cell::of(sum / static_cast<double>(blocks.size())),
                           Cell::of(most), Cell::of(static_cast<double>(where))});
        }
    table.footnotes = {"Distances from the dense block that the experts began as, in units of its length."};
    return table;
}

class ExpertMoves final : public Analysis {
  public:
    AnalysisResult run(const AnalysisContext& context) const override {
        const EmbeddingModel& model = context.embedder.model();
        std::vector<BlockMoves> blocks;
        const auto& all = model.encoders.front()->blocks();
        for (std::size_t b = 0; b < all.size(); ++b)
            if (all[b].is_mixture()) blocks.push_back(moves_of(all[b], b));
        if (blocks.empty()) return {{{"moves", Json::array()}, {"note", "this model has no task experts"}}, {}, {}};
        Json result = Json::array();
        for (const BlockMoves& block : blocks)
            result.push_back({{"block", block.block}, {"moved", block.moved}, {"between", block.between}});
        const auto names = expert_names(model, blocks.front().moved.size());
        return {{{"moves", result}, {"experts", names}},
                {{"mote_moved", moved_figure(blocks, names, context.run_name)},
                 {"mote_between", between_figure(blocks, names, context.run_name)}},
                {{"mote_experts", experts_table(model, blocks, context.run_name)}}};
    }
};

}  // namespace

std::unique_ptr<Analysis> make_expert_moves() { return std::make_unique<ExpertMoves>(); }

}  // namespace faceter
