#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/json.h"
#include "record/run_directory.h"

namespace faceter {

class Store;

/// How a run comes from something else.
enum class LineageLink {
    rerun,    ///< the settings of that run again
    merge,    ///< made of that run's weights
    start,    ///< begins with that model
    teacher,  ///< is taught, filtered or mined for by that model
    part,     ///< reads a part of that run: a gate, data
};
const char* lineage_link_name(LineageLink link);

struct LineageNode {
    enum class Kind {
        model,      ///< that no run of the project has trained
        run,        ///< of the project
        elsewhere,  ///< a run of another project
        missing,    ///< a run that is not there (any more), or a model's folder that is not
    };
    Kind kind = Kind::run;
    std::string id;    ///< of a run its id; of a model its name or folder as settings have it
    std::string name;  ///< as people read it
    std::string note;  ///< missing: in the trash, deleted ...; elsewhere: where
    std::string variant, state, created;
    std::uint64_t seed = 0;
    double mean_score = 0;            ///< percent; NaN where there is none
    std::vector<std::string> stages;  ///< where the run has several
};
const char* lineage_kind_name(LineageNode::Kind kind);

struct LineageEdge {
    std::size_t from = 0, to = 0;  ///< nodes; `to` comes from `from`
    LineageLink link = LineageLink::start;
    std::string setting;        ///< dotted key of a teacher or a part; router.gates.NAME: of a gate that was added later
    bool closes_cycle = false;  ///< what records say leads back to where it came from: somebody has edited them
};

/// Where the runs of a project come from. Nodes: runs by creation, then what else they name. Edges: by `to`.
struct Lineage {
    std::vector<LineageNode> nodes;
    std::vector<LineageEdge> edges;
};
/// Of all runs that the store has. Looks at folders that settings name outside of the project, and at the routers of runs, whose gates may
/// have been added since they ran (faceter router add).
Lineage read_lineage(const Project& project, Store& store);
/// These runs, what they come from, what came of them, and what that comes from besides.
Lineage lineage_around(const Lineage& lineage, const std::set<std::string>& runs);
Json lineage_to_json(const Lineage& lineage);

/// Marks the edges that close cycles. read_lineage has done so.
void mark_cycles(Lineage& lineage);

/// Every node under one of those that it comes from: a rerun under its run, a merge under its first run, any other under its start model.
struct LineageForest {
    std::vector<std::size_t> roots;
    std::vector<std::vector<std::size_t>> children;  ///< by node
    std::vector<std::optional<std::size_t>> parent;  ///< by node
    std::vector<std::optional<std::size_t>> parent_edge;
};
LineageForest lineage_forest(const Lineage& lineage);

/// A column a generation, a row a branch: the first child stands beside its parent, each further one in a row of its own.
struct LineagePlace {
    std::size_t column = 0, row = 0;
};
struct LineageLayout {
    std::vector<LineagePlace> places;  ///< by node
    std::size_t columns = 0, rows = 0;
};
LineageLayout lay_out(const LineageForest& forest);

/// What a node says of itself besides its name and where it comes from: "MoTE, seed 1, done, mean 61.20".
std::string lineage_description(const LineageNode& node);
/// "merges IC-1, IC-2; is taught by large": what it comes from, but for a start model that `shown` names already.
std::string lineage_origin(const Lineage& lineage, std::size_t node, std::optional<std::size_t> shown);
/// The forest as lines of at most `width` cells.
std::vector<std::string> lineage_lines(const Lineage& lineage, int width);

}  // namespace faceter
