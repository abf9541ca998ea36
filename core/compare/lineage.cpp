#include "compare/lineage.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "common/error.h"
#include "experiment/flat_settings.h"
#include "record/run_names.h"
#include "record/trash_folders.h"
#include "stats/number.h"
#include "store/store_events.h"

namespace faceter {
namespace {

using Kind = LineageNode::Kind;

std::string text_at(const Json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : std::string();
}

std::string last_key(const std::string& key) { return key.substr(key.rfind('.') == std::string::npos ? 0 : key.rfind('.') + 1); }

/// PROJECT/runs/ID in a path, as far as the run's folder.
std::optional<fs::path> run_folder_in(const fs::path& path) {
    fs::path folder;
    std::string before;
    for (const fs::path& part : path) {
        folder /= part;
        if (before == "runs" && !part.empty() && !part.string().starts_with(".")) return folder;
        before = part.string();
    }
    return std::nullopt;
}

constexpr std::uint64_t max_router_bytes = 16 << 20;

/// The gates of a run's router as its model has them now; none where it has no router, or one that cannot be read.
Json gates_of(const fs::path& run) {
    const fs::path file = run / "model" / "router.json";
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return Json::array();
    try {
        const Json router = read_json(file, max_router_bytes);
        return router.is_object() ? router.value("gates", Json::array()) : Json::array();
    } catch (const Error&) {
        return Json::array();
    }
}

/// Several stages by name: those of the settings, else those that the variant made of itself, as the journal has them.
std::vector<std::string> stages_of(const Json& settings, const fs::path& folder, StoredEvents& events) {
    std::vector<std::string> names;
    if (const Json stages = settings.value("stages", Json::array()); stages.is_array())
        for (const Json& stage : stages) {
            const std::string name = text_at(stage, "name");
            names.push_back(name.empty() ? fmt::format("stage {}", names.size() + 1) : name);
        }
    if (names.empty())
        for (const StoredEvent& event : events.of(folder, "stage_started"))
            if (const std::string name = text_at(event.fields, "stage"); std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
    return names.size() > 1 ? names : std::vector<std::string>();
}

class Reader {
  public:
    Reader(const Project& project, Store& store) : project_(project), store_(store), events_(store) {}

    Lineage read() {
        const std::vector<RunRow> rows = store_.runs();
        for (const RunRow& row : rows) add_run(row);
        for (std::size_t i = 0; i < rows.size(); ++i) link(i, rows[i].info);
        mark_cycles(lineage_);
        return std::move(lineage_);
    }

  private:
    void add_run(const RunRow& row) {
        LineageNode node;
        node.id = row.info.id;
        node.name = row.info.shown_name();
        node.variant = row.info.point.empty() ? row.info.variant : row.info.variant + " " + row.info.point;
        node.state = run_phase_name(row.state.phase);
        node.created = row.info.created;
        node.seed = row.info.seed;
        node.mean_score = row.mean_score;
        runs_.emplace(node.id, lineage_.nodes.size());
        lineage_.nodes.push_back(std::move(node));
    }

    void link(std::size_t to, const RunInfo& info) {
        const Json settings = store_.settings(info.id);
        if (!settings.is_object()) return;
        lineage_.nodes[to].stages = stages_of(settings, project_.runs_folder() / info.id, events_);
        bool has_parent = false;  // what a run of the project comes from, its start model comes from as well
        if (!info.parent.empty()) has_parent |= connect(run_of_id(info.parent), to, LineageLink::rerun);
        const Json variant = settings.value("variant", Json::object());
        if (info.method == "merged" && variant.is_object() && variant.contains("runs") && variant["runs"].is_array())
            for (const Json& run : variant["runs"])
                if (run.is_string()) has_parent |= connect(run_at(run.get<std::string>(), true), to, LineageLink::merge);
        if (info.is_imported()) return;
        for_each_setting(settings, ItemKeys::bracketed, [&](const std::string& key, const Json& value) {
            if (key == "model" ? !has_parent : key != "variant.runs") read_setting(to, key, value);
        });
        read_added_gates(to, info.id);
    }

    /// Gates that settings name are connected already; of one that was moved back from where `router remove` put it there is nothing to
    /// say.
    void read_added_gates(std::size_t to, const std::string& id) {
        for (const Json& gate : gates_of(project_.runs_folder() / id)) {
            const std::string source = text_at(gate, "source");
            const auto run = source.find('/') == std::string::npos ? std::nullopt : run_at(source, false);
            if (run && *run != to) connect(run, to, LineageLink::part, "router.gates." + text_at(gate, "name"));
        }
    }

    void read_setting(std::size_t to, const std::string& key, const Json& value) {
        if (value.is_array()) {
            for (const Json& item : value)
                if (item.is_string()) read_setting(to, key, item);
            return;
        }
        if (!value.is_string() || value.get_ref<const std::string&>().empty()) return;
        const auto text = value.get<std::string>();
        if (key == "model")
            connect(model_of(text, "start model"), to, LineageLink::start);
        else if (last_key(key) == "teacher")
            connect(model_of(text, "teacher"), to, LineageLink::teacher, key);
        else if (text.find('/') != std::string::npos)
            if (const auto run = run_at(text, false)) connect(run, to, LineageLink::part, key);
    }

    /// True where it leads to a run of the project.
    bool connect(std::optional<std::size_t> from, std::size_t to, LineageLink link, const std::string& setting = "") {
        if (!from) return false;
        for (std::size_t i = lineage_.edges.size(); i-- > 0 && lineage_.edges[i].to == to;)  // those of one run come one after the other
            if (lineage_.edges[i].from == *from && lineage_.edges[i].link == link) return true;
        lineage_.edges.push_back({*from, to, link, setting, false});
        return lineage_.nodes[*from].kind == Kind::run;
    }

    std::size_t run_of_id(const std::string& id) {
        if (const auto run = runs_.find(id); run != runs_.end()) return run->second;
        return node_of("run:" + id, [&] { return missing_run(id); });
    }

    LineageNode missing_run(const std::string& id) const {
        LineageNode node;
        node.kind = Kind::missing;
        node.id = id;
        node.mean_score = not_a_number;
        const std::vector<std::string> names = names_of_runs(project_.folder(), {id});
        node.name = names.empty() || names.front().empty() ? id : names.front();
        const bool is_name = !id.empty() && id.find('/') == std::string::npos && !id.starts_with(".");
        node.note = is_name && !find_in_trash(project_, id).empty() ? "in the trash" : "deleted, or never in this project";
        return node;
    }

    /// The run whose folder, or a part of it, a path names. Of another project, or gone, only where the setting must mean a run (`certain`)
    /// or the path lies in a project's folder of runs.
    std::optional<std::size_t> run_at(const std::string& path, bool certain) {
        for (const fs::path& part : fs::path(path))
            if (const auto run = runs_.find(part.string()); run != runs_.end()) return run->second;
        const auto folder = run_folder_in(fs::path(path));
        if (folder && folder->parent_path() == project_.runs_folder()) return run_of_id(folder->filename().string());
        std::error_code ignored;
        if (folder && fs::exists(*folder / "run.json", ignored)) return run_elsewhere(*folder);
        if (!certain) return std::nullopt;
        return run_of_id(folder ? folder->filename().string() : path);
    }

    std::size_t run_elsewhere(const fs::path& folder) {
        return node_of("run:" + folder.string(), [&] {
            LineageNode node;
            node.kind = Kind::elsewhere;
            node.id = folder.string();
            node.name = folder.filename().string();
            node.note = "of the project " + folder.parent_path().parent_path().string();
            node.mean_score = not_a_number;
            return node;
        });
    }

    std::size_t model_of(const std::string& name, const char* role) {
        if (name.find('/') != std::string::npos)
            if (const auto run = run_at(name, false)) return *run;
        return node_of("model:" + name, [&] {
            LineageNode node;
            node.kind = Kind::model;
            node.id = name;
            const fs::path path(name);
            node.name = path.is_absolute() ? (path.filename().empty() ? path.parent_path() : path).filename().string() : name;
            node.note = role;
            node.mean_score = not_a_number;
            std::error_code ignored;
            if (path.is_absolute() && !fs::exists(path, ignored))
                node.kind = Kind::missing, node.note = std::string(role) + ", its folder is not there any more: " + name;
            return node;
        });
    }

    template <typename Make>
    std::size_t node_of(const std::string& key, const Make& make) {
        const auto [at, is_new] = others_.emplace(key, lineage_.nodes.size());
        if (is_new) lineage_.nodes.push_back(make());
        return at->second;
    }

    const Project& project_;
    Store& store_;
    StoredEvents events_;
    Lineage lineage_;
    std::unordered_map<std::string, std::size_t> runs_, others_;  // -> node
};

std::vector<std::vector<std::size_t>> edges_by(const Lineage& lineage, std::size_t LineageEdge::*end) {
    std::vector<std::vector<std::size_t>> edges(lineage.nodes.size());
    for (std::size_t e = 0; e < lineage.edges.size(); ++e) edges[lineage.edges[e].*end].push_back(e);
    return edges;
}

/// All that can be reached along edges from one end to the other, the beginning included.
std::vector<char> reached(const Lineage& lineage, std::vector<std::size_t> from, std::size_t LineageEdge::*end,
                          std::size_t LineageEdge::*other) {
    const auto edges = edges_by(lineage, end);
    std::vector<char> seen(lineage.nodes.size(), 0);
    while (!from.empty()) {
        const std::size_t node = from.back();
        from.pop_back();
        if (seen[node]) continue;
        seen[node] = 1;
        for (const std::size_t e : edges[node]) from.push_back(lineage.edges[e].*other);
    }
    return seen;
}

}  // namespace

const char* lineage_link_name(LineageLink link) {
    switch (link) {
        case LineageLink::rerun:
            return "rerun";
        case LineageLink::merge:
            return "merge";
        case LineageLink::start:
            return "start";
        case LineageLink::teacher:
            return "teacher";
        default:
            return "part";
    }
}

const char* lineage_kind_name(LineageNode::Kind kind) {
    return kind == Kind::model ? "model" : kind == Kind::run ? "run" : kind == Kind::elsewhere ? "elsewhere" : "missing";
}

Lineage read_lineage(const Project& project, Store& store) { return Reader(project, store).read(); }

/// Depth first, without recursion: a record may name thousands of runs one after the other.
void mark_cycles(Lineage& lineage) {
    enum class Seen : char { no, open, done };
    const auto edges = edges_by(lineage, &LineageEdge::from);
    std::vector<Seen> seen(lineage.nodes.size(), Seen::no);
    for (std::size_t first = 0; first < lineage.nodes.size(); ++first) {
        if (seen[first] != Seen::no) continue;
        std::vector<std::pair<std::size_t, std::size_t>> way{{first, 0}};  // node, its next edge
        seen[first] = Seen::open;
        while (!way.empty()) {
            auto& [node, next] = way.back();
            if (next == edges[node].size()) {
                seen[node] = Seen::done;
                way.pop_back();
                continue;
            }
            LineageEdge& edge = lineage.edges[edges[node][next++]];
            edge.closes_cycle = seen[edge.to] == Seen::open;
            if (seen[edge.to] != Seen::no) continue;
            seen[edge.to] = Seen::open;
            way.emplace_back(edge.to, 0);
        }
    }
}

Lineage lineage_around(const Lineage& lineage, const std::set<std::string>& runs) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < lineage.nodes.size(); ++i)
        if (lineage.nodes[i].kind == Kind::run && runs.contains(lineage.nodes[i].id)) chosen.push_back(i);
    const auto before = reached(lineage, chosen, &LineageEdge::to, &LineageEdge::from);
    const auto after = reached(lineage, chosen, &LineageEdge::from, &LineageEdge::to);
    std::vector<char> wanted(lineage.nodes.size(), 0);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = before[i] || after[i];
    for (const LineageEdge& edge : lineage.edges)
        if (after[edge.to]) wanted[edge.from] = 1;
    Lineage part;
    std::vector<std::size_t> place(lineage.nodes.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        place[i] = part.nodes.size();
        if (wanted[i]) part.nodes.push_back(lineage.nodes[i]);
    }
    for (LineageEdge edge : lineage.edges) {
        if (!wanted[edge.from] || !wanted[edge.to]) continue;
        edge.from = place[edge.from], edge.to = place[edge.to];
        part.edges.push_back(std::move(edge));
    }
    return part;
}

Json lineage_to_json(const Lineage& lineage) {
    Json nodes = Json::array(), edges = Json::array();
    for (const LineageNode& node : lineage.nodes) {
        Json one = {{"kind", lineage_kind_name(node.kind)}, {"id", node.id}, {"name", node.name}};
        if (!node.note.empty()) one["note"] = node.note;
        if (node.kind == Kind::run)
            one.update({{"variant", node.variant},
                        {"seed", node.seed},
                        {"state", node.state},
                        {"created", node.created},
                        {"mean_score", number_to_json(node.mean_score)},
                        {"stages", node.stages}});
        nodes.push_back(std::move(one));
    }
    for (const LineageEdge& edge : lineage.edges) {
        Json one = {{"from", lineage.nodes[edge.from].id}, {"to", lineage.nodes[edge.to].id}, {"link", lineage_link_name(edge.link)}};
        if (!edge.setting.empty()) one["setting"] = edge.setting;
        if (edge.closes_cycle) one["closes_cycle"] = true;
        edges.push_back(std::move(one));
    }
    return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

}  // namespace faceter
