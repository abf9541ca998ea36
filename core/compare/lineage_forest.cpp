#include <algorithm>
#include <cmath>

#include "common/printable.h"
#include "common/strings.h"
#include "compare/lineage.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

using Kind = LineageNode::Kind;

constexpr std::size_t deepest_indent = 12;  // beyond it lines stand under one another: what is wide no terminal shows

/// Which of several edges a node hangs on.
int rank_of(LineageLink link) { return link == LineageLink::rerun || link == LineageLink::merge ? 0 : static_cast<int>(link); }

const char* verb_of(LineageLink link) {
    switch (link) {
        case LineageLink::rerun:
            return "reruns ";
        case LineageLink::merge:
            return "merges ";
        case LineageLink::start:
            return "starts from ";
        case LineageLink::teacher:
            return "is taught by ";
        default:
            return "uses ";
    }
}

std::string named(const LineageNode& node) { return node.kind == Kind::missing ? fmt::format("{} ({})", node.name, node.note) : node.name; }

/// A line of the forest: where it hangs, and what is drawn in front of it.
struct Line {
    std::size_t node = 0, depth = 0;
    bool is_last = true;
    std::string before;  ///< of the lines below it that belong to nodes above
};

std::string indented(const std::string& before, const char* own, std::size_t depth) {
    return depth == 0 ? "" : depth > deepest_indent ? before : before + own;
}

void add_lines(const Lineage& lineage, const LineageForest& forest, const Line& at, int width, std::vector<std::string>& lines) {
    const LineageNode& node = lineage.nodes[at.node];
    std::string text = node.name;
    for (const std::string& part : {lineage_description(node), lineage_origin(lineage, at.node, forest.parent[at.node])})
        if (!part.empty()) text += "  " + part;
    const std::string first = indented(at.before, at.is_last ? "└─ " : "├─ ", at.depth),
                      further = indented(at.before, at.is_last ? "   " : "│  ", at.depth) +
                                (forest.children[at.node].empty() ? "     " : "│    ");
    bool is_first = true;
    for (const std::string& piece : wrap(printable(text), std::max(20, width - display_width(further)))) {
        lines.push_back((is_first ? first : further) + piece);
        is_first = false;
    }
}

}  // namespace

LineageForest lineage_forest(const Lineage& lineage) {
    const std::size_t count = lineage.nodes.size();
    LineageForest forest{{},
                         std::vector<std::vector<std::size_t>>(count),
                         std::vector<std::optional<std::size_t>>(count),
                         std::vector<std::optional<std::size_t>>(count)};
    for (std::size_t e = 0; e < lineage.edges.size(); ++e) {
        const LineageEdge& edge = lineage.edges[e];
        std::optional<std::size_t>& best = forest.parent_edge[edge.to];
        if (edge.closes_cycle || (best && rank_of(lineage.edges[*best].link) <= rank_of(edge.link))) continue;
        best = e;
        forest.parent[edge.to] = edge.from;
    }
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    for (const std::size_t node : order)
        if (forest.parent[node]) forest.children[*forest.parent[node]].push_back(node);
    // What runs come from stands behind them in the list of nodes; as roots they stand in the order of their first run.
    std::vector<std::size_t> first_run(count);
    for (const std::size_t node : order) first_run[node] = forest.children[node].empty() ? node : forest.children[node].front();
    for (const std::size_t node : order)
        if (!forest.parent[node]) forest.roots.push_back(node);
    std::stable_sort(forest.roots.begin(), forest.roots.end(), [&](std::size_t a, std::size_t b) { return first_run[a] < first_run[b]; });
    return forest;
}

LineageLayout lay_out(const LineageForest& forest) {
    LineageLayout layout;
    layout.places.resize(forest.children.size());
    std::vector<std::pair<std::size_t, std::size_t>> todo;  // node, column; the next one last
    bool beside_parent = true;
    for (auto root = forest.roots.rbegin(); root != forest.roots.rend(); ++root) todo.emplace_back(*root, 0);
    while (!todo.empty()) {
        const auto [node, column] = todo.back();
        todo.pop_back();
        layout.rows = std::max<std::size_t>(1, layout.rows + (beside_parent ? 0 : 1));
        layout.places[node] = {column, layout.rows - 1};
        layout.columns = std::max(layout.columns, column + 1);
        const auto& children = forest.children[node];
        beside_parent = !children.empty();
        for (auto child = children.rbegin(); child != children.rend(); ++child) todo.emplace_back(*child, column + 1);
    }
    return layout;
}

std::string lineage_description(const LineageNode& node) {
    if (node.kind != Kind::run) return node.note;
    std::vector<std::string> parts{node.variant, fmt::format("seed {}", node.seed), node.state};
    if (std::isfinite(node.mean_score)) parts.push_back(fmt::format("mean {:.2f}", node.mean_score));
    if (!node.stages.empty()) parts.push_back("stages " + join(node.stages, " > "));
    return join(parts, ", ");
}

std::string lineage_origin(const Lineage& lineage, std::size_t node, std::optional<std::size_t> shown) {
    std::vector<std::string> parts;
    const auto begin = std::partition_point(lineage.edges.begin(), lineage.edges.end(), [&](const auto& edge) { return edge.to < node; });
    for (const LineageLink link : {LineageLink::rerun, LineageLink::merge, LineageLink::start, LineageLink::teacher, LineageLink::part}) {
        std::vector<std::string> names;
        for (auto at = begin; at != lineage.edges.end() && at->to == node; ++at) {
            const LineageEdge& edge = *at;
            if (edge.link != link || (link == LineageLink::start && edge.from == shown)) continue;
            names.push_back(named(lineage.nodes[edge.from]) + (link == LineageLink::part ? " (" + edge.setting + ")" : "") +
                            (edge.closes_cycle ? " (which its record makes its own descendant)" : ""));
        }
        if (!names.empty()) parts.push_back(verb_of(link) + join(names, ", "));
    }
    return join(parts, "; ");
}

std::vector<std::string> lineage_lines(const Lineage& lineage, int width) {
    const LineageForest forest = lineage_forest(lineage);
    std::vector<std::string> lines;
    std::vector<Line> todo;  // the next one last
    for (auto root = forest.roots.rbegin(); root != forest.roots.rend(); ++root) todo.push_back({*root, 0, true, ""});
    while (!todo.empty()) {
        const Line at = std::move(todo.back());
        todo.pop_back();
        add_lines(lineage, forest, at, width, lines);
        const auto& children = forest.children[at.node];
        const std::string before = indented(at.before, at.is_last ? "   " : "│  ", at.depth);
        for (std::size_t i = children.size(); i-- > 0;) todo.push_back({children[i], at.depth + 1, i + 1 == children.size(), before});
    }
    return lines;
}

}  // namespace faceter
