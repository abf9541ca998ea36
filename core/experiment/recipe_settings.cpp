#include "experiment/recipe_settings.h"

#include <algorithm>

#include "common/strings.h"
#include "data/entry.h"
#include "experiment/builtin_settings.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

/// Names of data sets that a score may be watched of.
struct ScoredNames {
    std::vector<std::string> evaluation, validation;

    explicit ScoredNames(const Json& settings) {
        add(json_or<Json>(settings.at("evaluation"), "datasets", Json::array(), "evaluation"), evaluation);
        for (const auto& [name, task] : settings.at("tasks").items())
            add(json_or<Json>(task, "validation", Json::array(), "tasks"), validation);
    }

  private:
    static void add(const Json& entries, std::vector<std::string>& names) {
        for (const Json& entry : entries) {
            DataRequest request;
            request.settings = entry;
            names.push_back(DataEntry(request).set_name());
        }
    }
};

bool is_among(const std::string& name, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

class Check {
  public:
    Check(const Json& recipe, const YamlNode& node, std::string where, const ScoredNames& names, Problems& problems)
        : recipe_(recipe), node_(node), where_(std::move(where)), names_(names), problems_(problems) {}

    void prefixes() {
        const Json& objective = recipe_.at("objective");
        const auto dims = json_or<std::vector<std::int64_t>>(objective, "matryoshka_dims", {}, "objective");
        const auto weights = json_or<std::vector<double>>(objective, "matryoshka_weights", {}, "objective");
        if (!dims.empty() && objective.at("method") == "masked_language")
            problem("objective",
                    "objective.matryoshka_dims is set: it is for losses on embeddings, and masked_language has none; leave it out");
        for (std::size_t i = 0; i < dims.size(); ++i)
            if (std::find(dims.begin() + static_cast<std::ptrdiff_t>(i) + 1, dims.end(), dims[i]) != dims.end())
                problem("objective", fmt::format("objective.matryoshka_dims has {} twice; name each prefix once, and what it counts for in "
                                                 "matryoshka_weights",
                                                 dims[i]));
        if (!weights.empty() && weights.size() != dims.size())
            problem("objective",
                    fmt::format("objective.matryoshka_weights has {} numbers for {} prefixes in matryoshka_dims; give one each, or none",
                                weights.size(), dims.size()));
    }

    void masking() {
        if (recipe_.at("objective").at("method") != "masked_language") return;
        const Json objective = builtin_settings(ExtensionKind::objective, "masked_language", recipe_.at("objective"));
        const auto masked = json_at<double>(objective, "mask_share", "objective"),
                   random = json_at<double>(objective, "random_share", "objective");
        if (masked + random > 1 + 1e-9)
            problem("objective",
                    fmt::format("objective.mask_share and random_share are {} and {}; together they are at most 1", masked, random));
    }

    void scores() {
        const Json training = training_of(recipe_);
        const auto chosen = json_at<std::vector<std::string>>(training, "evaluate_datasets", "training");
        for (const std::string& name : chosen)
            if (!is_among(name, names_.evaluation))
                problem("training", fmt::format("training.evaluate_datasets names {}, which is no data set of evaluation.datasets{}",
                                                faceter::quoted(name), suggestion(name, names_.evaluation)));
        if (const Json& early = training.at("early_stopping"); early.is_object())
            watched(json_at<std::string>(early, "dataset", "early_stopping"), chosen.empty() ? names_.evaluation : chosen);
    }

  private:
    void watched(const std::string& name, const std::vector<std::string>& scored) {
        if (name.empty() && scored.empty() && names_.validation.empty())
            problem("training",
                    "training.early_stopping watches scores, and nothing is scored: evaluation.datasets is empty, and no task has "
                    "validation data; add some, or leave early_stopping out");
        if (!name.empty() && !is_among(name, scored) && !is_among(name, names_.validation))
            problem("training", fmt::format("training.early_stopping.dataset is '{}', which is not scored during training{}", name,
                                            suggestion(name, scored)));
    }

    void problem(const char* part, const std::string& message) {
        const YamlNode* node = node_.find(part);
        problems_.add((node ? *node : node_).position(), where_ + message);
    }

    const Json& recipe_;
    const YamlNode& node_;
    std::string where_;
    const ScoredNames& names_;
    Problems& problems_;
};

}  // namespace

void check_recipe_settings(const Json& settings, const YamlNode& root, Problems& problems) {
    const ScoredNames names(settings);
    const auto check = [&](const Json& recipe, const YamlNode& node, const std::string& where) {
        Check one(recipe, node, where, names, problems);
        one.prefixes();
        one.masking();
        one.scores();
    };
    const Json& stages = settings.at("stages");
    if (stages.empty()) return check(settings, root, "");
    const YamlNode* nodes = root.find("stages");
    for (std::size_t i = 0; i < stages.size(); ++i) check(stages[i], nodes->items[i], fmt::format("stages[{}].", i));
}

}  // namespace faceter
