#include "study.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include "common/error.h"
#include "eval/projection.h"
#include "eval/tasks.h"
#include "study_figures.h"
#include "study_tables.h"

namespace faceter {
namespace {

double score_at(const StudySet& set, std::size_t query, int expert) {
    return set.scores[static_cast<std::int64_t>(query)][expert].item<double>();
}

const double* row_of(const StudySet& set, std::size_t query) {
    return set.scores.data_ptr<double>() + static_cast<std::int64_t>(query) * set.scores.size(1);
}

/// The scores of one set through every expert, by the evaluation's own code.
StudySet study_set(CachedEmbedder& embedder, const RouterModel& router, const EvaluationSet& evaluation) {
    const auto& data = std::get<RetrievalData>(evaluation.data);
    StudySet set{evaluation.name, evaluation.routing.task, {}, {}, {}};
    EvaluationRoutes routes = routes_for(embedder.model(), evaluation, "");
    for (const std::string_view query : data.queries.views()) set.queries.emplace_back(query);
    std::vector<at::Tensor> columns;
    for (int expert = 0; expert <= static_cast<int>(router.library().gates.size()); ++expert) {
        routes.query.path = path_of(expert);
        routes.document.path = path_of(router.documents_adapted() ? expert : 0);
        routes.query.routed = routes.document.routed = false;
        const auto scores = evaluate_set(embedder, evaluation, routes).per_example;
        columns.push_back(at::tensor(at::ArrayRef<double>(scores), at::kDouble));
    }
    routes.query.path = Path{};
    set.base = embedder.embed(data.queries.views(), routes.query);
    set.scores = at::stack(columns, 1).contiguous();
    return set;
}

/// The first `count` documents that some query asks for: sets that share a corpus differ in these.
std::vector<std::string_view> relevant_documents(const RetrievalData& data, std::size_t count) {
    std::vector<std::string_view> texts;
    std::set<std::uint32_t> seen;
    for (const auto& judged : data.qrels)
        for (const auto& [document, grade] : judged)
            if (grade > 0 && texts.size() < count && seen.insert(document).second) texts.push_back(data.documents[document]);
    return texts;
}

/// Queries and documents of each set in the plane, under the base (Figure 2).
Figure map_figure(const std::vector<std::pair<std::string, at::Tensor>>& sets, const char* name, const char* what, const std::string& run) {
    Figure figure;
    figure.kind = FigureKind::scatter;
    figure.name = name;
    figure.title = fmt::format("{} under the base encoder: {}", what, run);
    std::vector<at::Tensor> all;
    for (const auto& [set, rows] : sets) all.push_back(rows);
    const Projection plane = project_to_plane(at::cat(all));
    figure.x.label = fmt::format("First component ({:.0f}% of the variance)", 100 * plane.explained[0]);
    figure.y.label = fmt::format("Second component ({:.0f}%)", 100 * plane.explained[1]);
    std::size_t next = 0;
    for (const auto& [set, rows] : sets) {
        Series series;
        series.name = set;
        for (std::int64_t i = 0; i < rows.size(0); ++i, ++next) {
            series.x.push_back(plane.x[next]);
            series.y.push_back(plane.y[next]);
        }
        figure.series.push_back(std::move(series));
    }
    return figure;
}

/// What a routed query costs beside a plain one, on this machine: median of some rounds over the same queries.
Table latency_table(const StudyData& data, const EmbeddingModel& model) {
    std::vector<std::string_view> queries;
    for (const StudySet& set : data.sets)
        for (std::size_t i = 0; i < std::min<std::size_t>(set.queries.size(), 1000 / data.sets.size() + 1); ++i)
            queries.emplace_back(set.queries[i]);
    const auto timed = [&](auto body) {
        std::vector<double> seconds;
        for (int round = 0; round < 5; ++round) {
            const auto start = std::chrono::steady_clock::now();
            body();
            seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
        return 1000 * seconds[2] / static_cast<double>(queries.size());
    };
    const at::Tensor base = embed_texts(model, queries, Route{});
    const double plain = timed([&] { embed_texts(model, queries, Route{}); }), choice = timed([&] { data.router->choose(base); });
    const double both = timed([&] { embed_texts(model, queries, Route{"", 0, Path{}, true}); });
    Table table;
    table.name = "router_latency";
    table.caption = fmt::format("Time of a query, {} queries at a time: {}", queries.size(), data.run);
    table.add_column("what", ColumnKind::text);
    table.add_column("time", ColumnKind::number, 4).unit = "ms";
    table.add_column("of two plain passes", ColumnKind::number, 3);
    for (const auto& [name, ms] :
         {std::pair("base pass", plain), std::pair("choosing a gate", choice), std::pair("routed, both passes", both)})
        table.add_row({Cell::of(std::string(name)), Cell::of(ms), Cell::of(ms / (2 * plain))});
    return table;
}

/// As many as the run has tasks to route to: gates that were added or taken away since are none that it trained on. A router that the run
/// only evaluates has its own.
std::size_t domains_of_run(const AnalysisContext& context, const RouterModel& router) {
    const Json variant = json_or<Json>(context.run, "variant", Json::object(), "settings");
    if (json_or<std::string>(variant, "method", "", "variant") != router_method_name) return router.library().candidates(false).size();
    return context.tasks.size() - json_at<Json>(variant, "single_gates", "variant").size();
}

class RouterStudy final : public Analysis {
  public:
    explicit RouterStudy(const Json& settings) : settings_(settings) {}

    AnalysisResult run(const AnalysisContext& context) const override {
        const EmbeddingModel& model = context.embedder.model();
        StudyData data;
        data.router = dynamic_cast<const RouterModel*>(model.router.get());
        data.run = context.run_name;
        if (!data.router) return {{{"note", "this model has no router"}}, {}, {}};
        data.trained_domains = domains_of_run(context, *data.router);
        std::vector<std::string> left_out;
        for (const EvaluationSet& set : context.evaluation) {
            if (!is_of_study(set)) {
                if (set.task_type == "retrieval") left_out.push_back(fmt::format("{} is left out: it has subsets", set.name));
                continue;
            }
            if (context.phase) context.phase("score gates on " + set.name);
            data.sets.push_back(study_set(context.embedder, *data.router, set));
        }
        if (data.sets.empty())
            return {{{"note", left_out.empty() ? "no retrieval set was scored" : "no retrieval set without subsets was scored"}}, {}, {}};
        if (context.phase) context.phase("compare routers");
        AnalysisResult result = compare(data, std::move(left_out));
        add_tables(data, result);
        add_curves(data, result);
        result.tables.emplace_back("router_gates", gate_table(data, model));
        result.tables.emplace_back("router_latency", latency_table(data, model));
        add_maps(context, data, result);
        return result;
    }

  private:
    /// Those of other task types are none of a router's.
    static bool is_of_study(const EvaluationSet& set) { return set.task_type == "retrieval" && set.subsets.empty(); }

    template <typename T>
    std::vector<T> list(const char* key, std::vector<T> fallback) const {
        auto values = json_at<std::vector<T>>(settings_, key, "analysis");
        return values.empty() ? fallback : values;
    }

    AnalysisResult compare(const StudyData& data, std::vector<std::string> notes) const {
        // Claims of studies name them: core/compare/router_methods.cpp has them as well.
        static const std::vector<std::pair<std::string, std::string>> names = {{"pilot", "RouterRetriever"},
                                                                               {"expert_classifier", "ExpertClassifierRouter"},
                                                                               {"classification_head", "ClassificationHeadRouter"},
                                                                               {"dataset", "DatasetRouter"},
                                                                               {"random", "random gate"}};
        const auto wanted = list<std::string>("routers", {"pilot", "expert_classifier", "classification_head", "dataset", "random"});
        std::vector<StudyMethod> methods;
        for (const auto& [kind, name] : names) {
            if (std::find(wanted.begin(), wanted.end(), kind) == wanted.end() && kind != "pilot") continue;
            RouterSettings settings = data.router->settings();
            settings.kind = kind;
            try {
                methods.push_back(routed(data, name, data.candidates(), settings));
            } catch (const Error& error) {
                notes.push_back(fmt::format("{} is left out: {}", name, error.what()));
            }
        }
        add_single_gates(data, methods, notes);
        methods.push_back(through(data, "no gate", 0));
        for (std::size_t i = 0; i < data.library().gates.size(); ++i) {
            const GateInfo& gate = data.library().gates[i];
            if (gate.kind == "single") methods.push_back(through(data, "single gate: " + gate.name, static_cast<int>(i) + 1));
            if (gate.kind == "multi_task") methods.push_back(through(data, "Multi-Task", static_cast<int>(i) + 1));
        }
        methods.push_back(best_individuals(data, data.candidates()));
        methods.push_back(oracle(data, data.candidates()));
        AnalysisResult result;
        for (const StudyMethod& method : methods) {
            Json scores = Json::object();
            const auto means = method.means();
            for (std::size_t s = 0; s < data.sets.size(); ++s) scores[data.sets[s].name] = means[s];
            result.result["methods"].push_back({{"name", method.name}, {"mean", method.mean()}, {"scores", scores}});
        }
        result.result["notes"] = notes;
        result.tables.emplace_back("router_scores", score_table(data, methods, notes));
        result.tables.emplace_back("router_tests", test_table(data, methods));
        return result;
    }

    /// Adds what `make` gives under its name. Where gates and library cannot make it (pilots of ties that are dropped) that is noted: the
    /// run is trained, and keeps all else.
    template <typename Made, typename Make>
    static void add(std::vector<std::pair<std::string, Made>>& all, AnalysisResult& result, const char* name, Make make) {
        try {
            all.emplace_back(name, make());
        } catch (const Error& error) {
            result.result["notes"].push_back(fmt::format("{} is left out: {}", name, error.what()));
        }
    }

    void add_tables(const StudyData& data, AnalysisResult& result) const {
        const auto table = [&](const char* name, auto make) { add(result.tables, result, name, make); };
        table("router_agreement", [&] { return agreement_table(data); });
        table("router_own_gate", [&] { return own_gate_table(data); });
        table("router_errors", [&] { return error_table(data); });
        table("router_matrix", [&] { return matrix_table(data); });
        if (const auto count = json_at<std::size_t>(settings_, "examples", "analysis"))
            table("router_other_domains", [&] { return example_table(data, count); });
        const auto second = list<std::string>("second_gates", {});
        if (!second.empty()) table("router_second_gate", [&] { return second_gate_table(data, second); });
    }

    /// Table 1's two rows: without the single gate (above) and with it among the candidates.
    static void add_single_gates(const StudyData& data, std::vector<StudyMethod>& methods, std::vector<std::string>& notes) {
        constexpr const char* name = "RouterRetriever with the single gate";
        std::vector<int> wider = data.candidates();
        for (std::size_t i = 0; i < data.library().gates.size(); ++i)
            if (data.library().gates[i].kind == "single") wider.push_back(static_cast<int>(i) + 1);
        if (wider.size() == data.candidates().size()) return;
        RouterSettings settings = data.router->settings();
        settings.kind = "pilot";
        try {
            methods.push_back(routed(data, name, wider, settings));
        } catch (const Error& error) {
            notes.push_back(fmt::format("{} is left out: {}", name, error.what()));
        }
    }

    void add_curves(const StudyData& data, AnalysisResult& result) const {
        const auto figure = [&](const char* name, auto make) { add(result.figures, result, name, make); };
        figure("router_matrix", [&] { return matrix_figure(data); });
        figure("router_best_gate", [&] { return best_gate_figure(data); });
        figure("router_routed_gate", [&] { return routed_gate_figure(data); });
        figure("router_gate_count", [&] { return gate_count_figure(data, json_at<int>(settings_, "orders", "analysis")); });
        figure("router_clusters", [&] { return clusters_figure(data, list<int>("clusters", {1, 2, 3, 5, 10})); });
        figure("router_label_weight", [&] { return label_weight_figure(data, list<double>("label_weights", {0, 0.25, 0.5, 0.75, 1})); });
        for (auto& sizes : training_size_figures(data)) result.figures.push_back(std::move(sizes));
    }

    void add_maps(const AnalysisContext& context, const StudyData& data, AnalysisResult& result) const {
        const auto count = json_at<std::size_t>(settings_, "map_points", "analysis");
        if (count == 0) return;
        std::vector<std::pair<std::string, at::Tensor>> queries, documents;
        for (const StudySet& set : data.sets)
            queries.emplace_back(set.name,
                                 set.base.narrow(0, 0, std::min<std::int64_t>(static_cast<std::int64_t>(count), set.base.size(0))));
        for (const EvaluationSet& set : context.evaluation) {
            if (!is_of_study(set)) continue;
            const auto texts = relevant_documents(std::get<RetrievalData>(set.data), count);
            if (texts.empty()) continue;
            Route route = routes_for(context.embedder.model(), set, "").document;
            route.routed = false;
            documents.emplace_back(set.name, context.embedder.embed(texts, route));
        }
        result.figures.emplace_back("router_query_map", map_figure(queries, "router_query_map", "Queries", data.run));
        result.figures.emplace_back("router_document_map", map_figure(documents, "router_document_map", "Documents", data.run));
    }

    Json settings_;
};

}  // namespace

std::vector<double> chosen_scores(const StudySet& set, const std::vector<int>& chosen) {
    std::vector<double> scores;
    for (std::size_t q = 0; q < chosen.size(); ++q) scores.push_back(score_at(set, q, chosen[q]));
    return scores;
}

double best_score(const StudySet& set, std::size_t query, const std::vector<int>& candidates) {
    double best = -std::numeric_limits<double>::infinity();
    for (const int expert : candidates) best = std::max(best, row_of(set, query)[expert]);
    return best;
}

std::vector<int> oracle_choice(const StudySet& set, const std::vector<int>& candidates) {
    std::vector<int> chosen;
    for (std::size_t q = 0; q < set.queries.size(); ++q) {
        const double best = best_score(set, q, candidates);
        chosen.push_back(*std::find_if(candidates.begin(), candidates.end(),
                                       [&](int expert) { return row_of(set, q)[expert] >= best - equal_percent; }));
    }
    return chosen;
}

int best_individual(const StudySet& set, const std::vector<int>& candidates) {
    const at::Tensor means = set.scores.mean(0);
    return *std::max_element(candidates.begin(), candidates.end(),
                             [&](int a, int b) { return means[a].item<double>() < means[b].item<double>(); });
}

std::vector<double> shares(const std::vector<int>& chosen, const std::vector<int>& candidates) {
    std::vector<double> all;
    for (const int expert : candidates)
        all.push_back(chosen.empty()
                          ? 0
                          : static_cast<double>(std::count(chosen.begin(), chosen.end(), expert)) / static_cast<double>(chosen.size()));
    return all;
}

std::vector<double> best_shares(const StudySet& set, const std::vector<int>& candidates) {
    std::vector<double> all(candidates.size(), 0);
    for (std::size_t q = 0; q < set.queries.size(); ++q) {
        const double best = best_score(set, q, candidates);
        std::vector<std::size_t> winners;
        for (std::size_t c = 0; c < candidates.size(); ++c)
            if (row_of(set, q)[candidates[c]] >= best - equal_percent) winners.push_back(c);
        for (const std::size_t c : winners) all[c] += 1 / static_cast<double>(winners.size()) / static_cast<double>(set.queries.size());
    }
    return all;
}

std::unique_ptr<Analysis> make_router_study(const Json& settings) { return std::make_unique<RouterStudy>(settings); }

}  // namespace faceter
