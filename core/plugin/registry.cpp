#include "plugin/registry.h"

#include "common/error.h"
#include "common/strings.h"
#include "data/sources.h"
#include "eval/form_scores.h"
#include "eval/inter_task_similarity.h"
#include "plugin/declared_settings.h"
#include "plugin/merged_variant.h"

namespace faceter {
namespace {

template <typename Factory>
void add(std::map<std::string, Factory>& factories, const std::string& name, Factory factory, std::string_view what) {
    if (!factories.emplace(name, std::move(factory)).second)
        throw failure("two plugins offer a {} named '{}'; remove one of them", what, name);
}

template <typename Factory>
const Factory& find(const std::map<std::string, Factory>& factories, const std::string& name, std::string_view what) {
    const auto found = factories.find(name);
    if (found != factories.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, factory] : factories) known.push_back(key);
    throw settings_error("no {} named '{}' is loaded{}", what, name, suggestion(name, known));
}

/// The dense model as it is, under its tasks' instructions: the untrained baseline.
class StartModel final : public Variant {
  public:
    void prepare(EmbeddingModel&) const override {}
    std::vector<Stage> stages(const EmbeddingModel&) const override { return {}; }
};

class SimilarityAnalysis final : public Analysis {
  public:
    AnalysisResult run(const AnalysisContext& context) const override {
        if (context.texts.empty()) throw DataUnavailable("its settings name no texts to embed (texts: {source: ..., count: ...})");
        const auto similarity = inter_task_similarity(context.embedder, context.tasks, context.texts);
        return {similarity.to_json(),
                {{"inter_task_similarity", similarity.densities(context.run_name)},
                 {"inter_task_projection", similarity.plane(context.run_name)}},
                {{"inter_task_similarity", similarity.table(context.run_name)}}};
    }
};

class FormsAnalysis final : public Analysis {
  public:
    explicit FormsAnalysis(const Json& settings)
        : prefixes_(json_at<std::vector<std::int64_t>>(settings, "prefixes", "analysis")),
          precisions_(json_at<std::vector<std::string>>(settings, "precisions", "analysis")) {
        if (precisions_.empty()) precisions_ = {"int8", "binary"};
    }

    AnalysisResult run(const AnalysisContext& context) const override {
        const std::int64_t dim = context.embedder.model().dim();
        std::vector<std::int64_t> prefixes = prefixes_;
        for (std::int64_t half = dim / 2; prefixes_.empty() && half >= dim / 8 && half > 0; half /= 2) prefixes.push_back(half);
        FormScores scores{dim, embedding_forms(prefixes, precisions_, dim), {}};
        for (const EvaluationSet& set : context.evaluation) {
            if (context.phase) context.phase("score stored forms on " + set.name);
            add_form_scores(scores, context.embedder, set, routes_for(context.embedder.model(), set, ""));
        }
        if (scores.results.empty()) return {{{"note", "no data set was scored"}}, {}, {}};
        return {{{"forms", scores.to_json()}},
                {{"embedding_forms", scores.figure(context.run_name)}},
                {{"embedding_forms", scores.table(context.run_name)}}};
    }

  private:
    std::vector<std::int64_t> prefixes_;
    std::vector<std::string> precisions_;
};

}  // namespace

std::vector<Stage> Variant::stages(const EmbeddingModel&) const { return {Stage{}}; }
void Variant::finish(EmbeddingModel&, const FinishContext&) const {}

void Registry::add_variant(const std::string& name, VariantFactory factory) { add(variants_, name, std::move(factory), "variant"); }
void Registry::add_curriculum(const std::string& name, CurriculumFactory factory) {
    add(curricula_, name, std::move(factory), "curriculum");
}
void Registry::add_objective(const std::string& name, ObjectiveFactory factory) { add(objectives_, name, std::move(factory), "objective"); }
void Registry::add_token_objective(const std::string& name, TokenObjectiveFactory factory) {
    add(token_objectives_, name, std::move(factory), "objective");
}
void Registry::add_analysis(const std::string& name, AnalysisFactory factory) { add(analyses_, name, std::move(factory), "analysis"); }

void Registry::add_router(const std::string& name, RouterOpener open, RouterEditor edit) {
    add(routers_, name, std::pair(std::move(open), std::move(edit)), "router");
}

std::unique_ptr<Variant> Registry::make_variant(const std::string& name, const Json& settings) const {
    return find(variants_, name, "variant")(declared_settings(ExtensionKind::variant, name, settings));
}
std::unique_ptr<Curriculum> Registry::make_curriculum(const std::string& name, const CurriculumContext& context) const {
    CurriculumContext complete = context;
    complete.settings = declared_settings(ExtensionKind::curriculum, name, std::move(complete.settings));
    return find(curricula_, name, "curriculum")(complete);
}
std::unique_ptr<Objective> Registry::make_objective(const std::string& name, const Json& given) const {
    const Json settings = declared_settings(ExtensionKind::objective, name, given);
    auto dims = json_or<std::vector<std::int64_t>>(settings, "matryoshka_dims", {}, "objective");
    if (const auto on_tokens = token_objectives_.find(name); on_tokens != token_objectives_.end()) {
        if (!dims.empty()) throw settings_error("objective.matryoshka_dims is for losses on embeddings; {} has none", name);
        return on_tokens->second(settings);
    }
    auto objective = find(objectives_, name, "objective")(settings);
    if (dims.empty()) return objective;
    return std::make_unique<Matryoshka>(std::move(objective), std::move(dims),
                                        json_or<std::vector<double>>(settings, "matryoshka_weights", {}, "objective"));
}
std::unique_ptr<Analysis> Registry::make_analysis(const std::string& name, const Json& settings) const {
    return find(analyses_, name, "analysis")(declared_settings(ExtensionKind::analysis, name, settings));
}

std::shared_ptr<const ExpertRouter> Registry::open_router(const std::string& name, EmbeddingModel& model, const fs::path& folder) const {
    return find(routers_, name, "router").first(model, folder);
}
std::string Registry::edit_router(const std::string& name, EmbeddingModel& model, const fs::path& folder, const Json& change) const {
    return find(routers_, name, "router").second(model, folder, change);
}

void register_builtins(Registry& registry) {
    registry.add_variant("start", [](const Json&) { return std::make_unique<StartModel>(); });
    registry.add_variant("merged", make_merged_variant);
    registry.add_curriculum("task_aware", make_task_aware_curriculum);
    registry.add_curriculum("static", make_static_curriculum);
    registry.add_curriculum("shuffled", make_shuffled_curriculum);
    registry.add_curriculum("proportional", make_proportional_curriculum);
    registry.add_curriculum("round_robin", make_round_robin_curriculum);
    registry.add_objective("infonce", [](const Json& settings) { return std::make_unique<InfoNce>(InfoNceSettings::from_json(settings)); });
    registry.add_token_objective("masked_language", [](const Json& settings) { return std::make_unique<MaskedLanguage>(settings); });
    registry.add_analysis("inter_task_similarity", [](const Json&) { return std::make_unique<SimilarityAnalysis>(); });
    registry.add_analysis("embedding_forms", [](const Json& settings) { return std::make_unique<FormsAnalysis>(settings); });
}

}  // namespace faceter
