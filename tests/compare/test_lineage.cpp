#include "compare/lineage.h"

#include "figure/text_width.h"
#include "store/store.h"
#include "support/lineage_project.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Lineage lineage_of(const fs::path& folder) {
    Store store(folder);
    store.ingest_all();
    return read_lineage(Project(folder, false), store);
}

std::size_t node_of(const Lineage& lineage, const std::string& id) {
    for (std::size_t i = 0; i < lineage.nodes.size(); ++i)
        if (lineage.nodes[i].id == id) return i;
    return lineage.nodes.size();
}

/// "start-model >start> IC-1" of every edge.
std::set<std::string> edges_of(const Lineage& lineage) {
    std::set<std::string> edges;
    for (const LineageEdge& edge : lineage.edges)
        edges.insert(fmt::format("{} >{}> {}", lineage.nodes[edge.from].name, lineage_link_name(edge.link), lineage.nodes[edge.to].name));
    return edges;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

}  // namespace

class TestLineage : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void start_models_reruns_merges_teachers_and_parts_are_edges() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        const Lineage lineage = lineage_of(folder.path());
        QCOMPARE(edges_of(lineage),
                 (std::set<std::string>{"start-model >start> IC-1", "start-model >start> EM-1", "IC-1 >rerun> IC-2", "IC-1 >start> Tuned-1",
                                        "EM-1 >teacher> Tuned-1", "IC-1 >merge> merged-mean-1", "EM-1 >merge> merged-mean-1",
                                        "start-model >start> Gated-1", "merged-mean-1 >part> Gated-1"}));
        const LineageNode& tuned = lineage.nodes[node_of(lineage, project.tuned.id)];
        QCOMPARE(tuned.stages, (std::vector<std::string>{"pretrain", "finetune"}));
        QVERIFY(lineage.nodes.back().kind == LineageNode::Kind::model);
        for (const LineageEdge& edge : lineage.edges) QVERIFY(!edge.closes_cycle);
    }

    void gates_that_were_added_to_a_router_are_edges_too() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        const fs::path runs = folder.path() / "runs", model = runs / project.gated.id / "model";
        make_directories(model);
        const Json gates = {{{"name", "sql"}, {"source", (runs / project.merged.id / "gates/sql").string()}},
                            {{"name", "law"}, {"source", (runs / project.em.id / "model/gates/law").string()}},
                            {{"name", "again"}, {"source", (model / "removed/again").string()}},
                            {{"name", "outside"}, {"source", "/somewhere/gates/outside"}},
                            {{"name", "trained"}, {"source", ""}},
                            {{"name", 3}, {"source", {1}}},
                            "no object"};
        overwrite(model / "router.json", Json{{"method", "router_retriever"}, {"gates", gates}}.dump());
        const Lineage lineage = lineage_of(folder.path());
        std::set<std::string> edges;
        for (const std::string& edge : edges_of(lineage))
            if (edge.ends_with("> Gated-1")) edges.insert(edge);
        QCOMPARE(edges, (std::set<std::string>{"start-model >start> Gated-1", "merged-mean-1 >part> Gated-1", "EM-1 >part> Gated-1"}));
        const std::string text = joined(lineage_lines(lineage, 200));
        QVERIFY2(has(text, "uses merged-mean-1 (variant.gates.sql), EM-1 (router.gates.law)"), text.c_str());
        for (const char* damaged : {"{\"gates\": [", "[]", "{\"gates\": {\"a\": {\"source\": \"x\"}}}"}) {
            overwrite(model / "router.json", damaged);
            QVERIFY2(!edges_of(lineage_of(folder.path())).contains("EM-1 >part> Gated-1"), damaged);
        }
    }
    void stages_that_a_variant_made_of_itself_are_in_the_journal() {
        const TemporaryDirectory folder;
        const RunDirectory run = sample_run(folder.path());
        JournalWriter(run, run.begin_attempt(), {}).event("stage_started", {{"stage", "gate sql"}, {"index", 0}});
        JournalWriter(run, run.begin_attempt(), {}).event("stage_started", {{"stage", "gate sql"}, {"index", 0}});
        JournalWriter(run, run.begin_attempt(), {}).event("stage_started", {{"stage", "gate law"}, {"index", 1}});
        const Lineage lineage = lineage_of(folder.path());
        QCOMPARE(lineage.nodes[0].stages, (std::vector<std::string>{"gate sql", "gate law"}));
    }

    void the_tree_has_each_node_once_under_what_it_comes_from() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        const std::vector<std::string> lines = lineage_lines(lineage_of(folder.path()), 100);
        const std::string text = joined(lines);
        QCOMPARE(lines[0], std::string("start-model  start model"));
        QVERIFY2(has(text, "├─ IC-1  IC, seed 1, queued\n"), text.c_str());
        QVERIFY2(has(text, "│  ├─ IC-2  IC, seed 1, queued  reruns IC-1\n"), text.c_str());
        QVERIFY2(has(text, "stages pretrain > finetune"), text.c_str());
        QVERIFY2(has(text, "is taught by EM-1"), text.c_str());
        QVERIFY2(has(text, "merges IC-1, EM-1"), text.c_str());
        QVERIFY2(has(text, "uses merged-mean-1 (variant.gates.sql)"), text.c_str());
        for (const char* name : {"IC-2", "Tuned-1", "Gated-1"}) QCOMPARE(text.find(name), text.rfind(name));
        for (const std::string& line : lines) QVERIFY2(display_width(line) <= 100, line.c_str());
        for (const std::string& line : lineage_lines(lineage_of(folder.path()), 40)) QVERIFY2(display_width(line) <= 40, line.c_str());
    }

    void around_a_run_is_what_it_comes_from_and_what_came_of_it() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        const Lineage all = lineage_of(folder.path());
        const Lineage around = lineage_around(all, {project.merged.id});
        std::set<std::string> names;
        for (const LineageNode& node : around.nodes) names.insert(node.name);
        QCOMPARE(names, (std::set<std::string>{"start-model", "IC-1", "EM-1", "merged-mean-1", "Gated-1"}));
        QVERIFY(edges_of(around).contains("merged-mean-1 >part> Gated-1"));
        QVERIFY(lineage_around(all, {"nobody"}).nodes.empty());
    }

    void what_is_not_there_any_more_is_named_as_such() {
        const TemporaryDirectory folder;
        LineageProject made(folder.path());
        const Project project(folder.path(), false);
        project.trash(made.ic.id);
        project.remove(made.em.id);
        fs::remove(folder.path() / "start-model");
        const Lineage lineage = lineage_of(folder.path());
        const LineageNode &trashed = lineage.nodes[node_of(lineage, made.ic.id)], &removed = lineage.nodes[node_of(lineage, made.em.id)];
        QVERIFY(trashed.kind == LineageNode::Kind::missing && removed.kind == LineageNode::Kind::missing);
        QCOMPARE(trashed.name, std::string("IC-1"));
        QCOMPARE(trashed.note, std::string("in the trash"));
        QVERIFY(has(removed.note, "deleted"));
        const std::string text = joined(lineage_lines(lineage, 100));
        QVERIFY2(has(text, "merges IC-1 (in the trash), EM-1 (deleted"), text.c_str());
        QVERIFY2(has(text, "its folder is not there any more"), text.c_str());
    }

    void a_run_of_another_project_is_named_with_it() {
        const TemporaryDirectory folder, other;
        const RunDirectory teacher = sample_run(other.path());
        run_from(folder.path(), "IC", model_of(teacher));
        const Lineage lineage = lineage_of(folder.path());
        QVERIFY(lineage.nodes.back().kind == LineageNode::Kind::elsewhere);
        QVERIFY(has(lineage.nodes.back().note, other.path().string()));
        QCOMPARE(lineage.nodes.back().name, teacher.info().id);
    }

    void a_project_that_was_moved_keeps_its_edges() {
        const TemporaryDirectory folder;
        const fs::path before = folder.path() / "before", after = folder.path() / "after";
        const LineageProject made(before);
        fs::rename(before, after);
        QVERIFY(edges_of(lineage_of(after)).contains("IC-1 >start> Tuned-1"));
    }

    void cycles_in_edited_records_end() {
        const TemporaryDirectory folder;
        const RunDirectory a = run_from(folder.path(), "A", "some/model"), b = run_from(folder.path(), "B", "some/model", a.info().id);
        const RunDirectory own = run_from(folder.path(), "Own", "some/model");
        const auto set_parent = [](const RunDirectory& run, const std::string& parent) {
            Json json = read_json(run.folder() / "run.json");
            json["parent"] = parent;
            overwrite(run.folder() / "run.json", json.dump());
        };
        set_parent(a, b.info().id);
        set_parent(own, own.info().id);
        const Lineage lineage = lineage_of(folder.path());
        const auto closing =
            std::count_if(lineage.edges.begin(), lineage.edges.end(), [](const LineageEdge& edge) { return edge.closes_cycle; });
        QCOMPARE(closing, 2);
        const std::string text = joined(lineage_lines(lineage, 100));
        for (const char* name : {"A-1", "B-1", "Own-1"}) QVERIFY2(has(text, name), text.c_str());
        QVERIFY2(has(text, "its own descendant"), text.c_str());
        const LineageLayout layout = lay_out(lineage_forest(lineage));
        QCOMPARE(layout.places.size(), lineage.nodes.size());
        QCOMPARE(lineage_around(lineage, {a.info().id}).nodes.size(), std::size_t{2});
    }

    void hostile_names_and_settings_are_plain_text() {
        const TemporaryDirectory folder;
        run_from(folder.path(), "A\x1b[31m", "/nowhere/\x1b]0;title\x07", "../../etc/passwd", [](Json& settings) {
            settings["variant"] = "no object";
            settings["stages"] = {1, {{"name", 3}}, "x"};
            settings["objective"] = {{"teacher", {"a", 2, nullptr}}};
        });
        const Lineage lineage = lineage_of(folder.path());
        for (const std::string& line : lineage_lines(lineage, 100)) {
            QVERIFY2(line.find('\x1b') == std::string::npos && line.find('\x07') == std::string::npos, line.c_str());
            QVERIFY(display_width(line) <= 100);
        }
        QVERIFY(lineage_to_json(lineage).at("edges").size() > 0);
    }

    void a_chain_of_thousands_is_neither_deep_recursion_nor_a_wide_tree() {
        constexpr std::size_t count = 20'000;
        Lineage chain;
        for (std::size_t i = 0; i < count; ++i) {
            LineageNode node;
            node.id = node.name = fmt::format("run-{}", i);
            chain.nodes.push_back(std::move(node));
            if (i > 0) chain.edges.push_back({i - 1, i, LineageLink::rerun, "", false});
        }
        mark_cycles(chain);
        const LineageLayout layout = lay_out(lineage_forest(chain));
        QCOMPARE(layout.columns, count);
        QCOMPARE(layout.rows, std::size_t{1});
        for (const std::string& line : lineage_lines(chain, 100)) QVERIFY(display_width(line) <= 100);
    }

    void each_node_has_a_place_of_its_own_and_stands_right_of_what_it_comes_from() {
        const TemporaryDirectory folder;
        const LineageProject project(folder.path());
        const Lineage lineage = lineage_of(folder.path());
        const LineageForest forest = lineage_forest(lineage);
        const LineageLayout layout = lay_out(forest);
        std::set<std::pair<std::size_t, std::size_t>> places;
        for (std::size_t i = 0; i < lineage.nodes.size(); ++i) {
            places.emplace(layout.places[i].column, layout.places[i].row);
            QVERIFY(layout.places[i].column < layout.columns && layout.places[i].row < layout.rows);
            if (forest.parent[i]) QCOMPARE(layout.places[i].column, layout.places[*forest.parent[i]].column + 1);
        }
        QCOMPARE(places.size(), lineage.nodes.size());
        QCOMPARE(layout.places[node_of(lineage, project.ic.id)].row, std::size_t{0});  // beside its start model
    }
};

FACETER_TEST(TestLineage)
#include "test_lineage.moc"
