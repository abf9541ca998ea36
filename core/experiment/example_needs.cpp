#include "experiment/example_needs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "common/error.h"
#include "common/strings.h"
#include "data/example_kinds.h"
#include "data/pair_file.h"
#include "data/settings.h"
#include "experiment/recipes.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

bool is_scored(const ExampleKind& kind) { return kind.scored; }
bool has_negatives(const ExampleKind& kind) { return kind.negatives; }
bool has_either(const ExampleKind& kind) { return kind.scored || kind.negatives; }

/// Surely no example of the entry is so.
bool none_is(const Json& entry, bool (*so)(const ExampleKind&)) {
    bool found = false;
    const bool told = look_at_examples(entry, [&](const ExampleKind& kind) { return !(found = so(kind)); });
    return told && !found;
}

/// The first example of the entry, where its settings or files tell.
std::optional<ExampleKind> first_of(const Json& entry) {
    std::optional<ExampleKind> first;
    look_at_examples(entry, [&](const ExampleKind& kind) {
        first = kind;
        return false;
    });
    return first;
}

bool has_label(const Json& entry) {
    const auto first = first_of(entry);
    return first && !first->label.empty();
}

std::string name_of(const Json& entry) {
    for (const char* key : {"name", "path", "view"})
        if (const auto name = json_or<std::string>(entry, key, "", "data entry"); !name.empty()) return name;
    return json_or<std::string>(entry, "source", "", "data entry");
}

/// One of these stages mines hard negatives for the task.
bool is_mined(std::span<const Json> recipes, const std::string& task) {
    return std::any_of(recipes.begin(), recipes.end(), [&](const Json& recipe) { return mines_for(recipe, task); });
}

bool is_from_negatives(LearnsFrom what) { return what == LearnsFrom::negatives || what == LearnsFrom::scores; }

class Check {
  public:
    Check(const Catalogue& catalogue, std::string file) : catalogue_(catalogue), file_(std::move(file)) {}

    void run(const Json& settings) {
        const std::vector<Json> recipes = recipes_of(settings);
        for (std::size_t i = 0; i < recipes.size(); ++i) {
            const auto method = json_at<std::string>(recipes[i].at("objective"), "method", "objective");
            const Catalogue::Entry* objective = catalogue_.find(ExtensionKind::objective, method);
            for (const auto& [name, task] : settings.at("tasks").items())
                if (objective && trains_on(recipes[i], name, task)) {
                    const bool mined = is_mined({recipes.data(), i + 1}, name);  // by now; a later stage does so too late
                    check_task(objective->extension, name, task, mined);
                    check_lone_pairs(objective->extension, recipes[i], name, task, mined);
                }
        }
        for (const auto& [name, task] : settings.at("tasks").items()) check_noise(name, task);
    }

    /// As the source refuses on reading, which of data that are scored comes after the training.
    void check_formats(const Json& settings) {
        for (const auto& [name, task] : settings.at("tasks").items())
            for (const char* part : {"train", "validation"}) check_formats(task.at(part), fmt::format("tasks.{}.{}", name, part));
        check_formats(settings.at("evaluation").at("datasets"), "evaluation.datasets");
    }

    const std::vector<std::string>& remarks() const { return remarks_; }

  private:
    std::string place(const std::string& task, std::size_t i) const { return fmt::format("{}: tasks.{}.train[{}]", file_, task, i); }

    void check_formats(const Json& entries, const std::string& where) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (!seen_.insert(Json::array({"format", where, entries[i]})).second) continue;
            if (const std::string reason = reason_not_of_format(entries[i]); !reason.empty())
                throw data_error("{}: {}[{}] ({}): {}", file_, where, i, name_of(entries[i]), reason);
        }
    }

    /// A pair that is a batch has no other's texts for negatives, and no other pair to stand above or below.
    void check_lone_pairs(const Extension& objective, const Json& recipe, const std::string& name, const Json& task, bool mined) {
        const bool by_order = objective.learns_from == LearnsFrom::order;
        if (!by_order && objective.learns_from != LearnsFrom::positives) return;
        if (json_at<std::int64_t>(training_of(recipe), "batch_size", "training") > 1) return;
        const bool none_counts = json_or<Json>(recipe.at("objective"), "hard_negatives", Json(), "objective") == Json("none");
        const Json& train = task.at("train");
        const auto lacks = [](const Json& entry) { return none_is(entry, has_negatives); };
        if (train.empty() || (!none_counts && (mined || !std::all_of(train.begin(), train.end(), lacks)))) return;
        throw settings_error(
            "{} ({}): objective {} holds each {} of its batch, and training.batch_size is 1, without hard negatives that count: the loss "
            "would be 0; set batch_size to 2 or more, or give the data 'negatives'",
            place(name, 0), name_of(train.front()), objective.name,
            by_order ? "pair against the other pairs" : "query against the other texts");
    }

    /// As inject_noise refuses on reading.
    void check_noise(const std::string& name, const Json& task) {
        for (std::size_t i = 0; i < task.at("train").size(); ++i) {
            const Json& entry = task.at("train")[i];
            if (json_at<double>(entry, "noise_rate", "data entry") == 0) continue;
            if (!seen_.insert(Json::array({"noise_rate", name, entry})).second) continue;
            if (const auto first = first_of(entry); first && first->scored)
                throw settings_error(
                    "{}.noise_rate is set: it exchanges positives, and the records of {} have scores, which are of the positives that they "
                    "came with; leave noise_rate out, or the scores",
                    place(name, i), name_of(entry));
        }
    }

    void check_task(const Extension& objective, const std::string& name, const Json& task, bool mined) {
        for (std::size_t i = 0; i < task.at("train").size(); ++i) {
            const Json& entry = task.at("train")[i];
            if (!seen_.insert(Json::array({objective.name, mined, name, entry})).second) continue;
            require_format(name, i, entry);
            warn_of_scores(objective, name, i, entry);
            warn_of_labels(objective, name, i, entry);
            if (const std::string reason = why_not(objective.learns_from, entry, mined); !reason.empty())
                throw settings_error("{} ({}): objective {} {}", place(name, i), name_of(entry), objective.name, reason);
        }
    }

    /// As the source refuses on reading.
    void require_format(const std::string& name, std::size_t i, const Json& entry) const {
        const auto text_of = [&](const char* key) { return json_or<std::string>(entry, key, "", "data entry"); };
        if (text_of("source") != "file") return;
        if (const std::string reason = reason_not_read(text_of("path"), text_of("format")); !reason.empty())
            throw settings_error("{} ({}): {}", place(name, i), name_of(entry), reason);
    }

    /// Pairs that people graded; beside hard negatives scores are a teacher's, and their positives are positives.
    void warn_of_scores(const Extension& objective, const std::string& name, std::size_t i, const Json& entry) {
        if (objective.learns_from != LearnsFrom::positives) return;
        const auto first = first_of(entry);
        if (!first || !first->scored || first->negatives) return;
        const std::string learn = names_of({LearnsFrom::order, LearnsFrom::scored_pairs});
        remarks_.push_back(
            fmt::format("{} ({}): objective {} does not read the scores of these pairs, and takes a pair with a low one for texts that "
                        "belong together; "
                        "keep the pairs with high ones{}",
                        place(name, i), name_of(entry), objective.name,
                        learn.empty() ? "" : ", or use an objective that learns from scores: " + learn));
    }

    /// Pairs of which some may be said not to belong together; where scores are learnt from, why_not() refuses them.
    void warn_of_labels(const Extension& objective, const std::string& name, std::size_t i, const Json& entry) {
        constexpr std::size_t most_looked_at = 2000;
        const bool chosen = !json_or<Json>(entry, "labels", Json::array(), "data entry").empty();
        if (chosen || objective.learns_from == LearnsFrom::anything) return;
        if (!seen_.insert(Json::array({"labels", name, entry})).second) return;
        std::set<std::string> labels;
        std::size_t count = 0;
        look_at_examples(entry, [&](const ExampleKind& kind) {
            if (!kind.label.empty() && !kind.scored) labels.insert(kind.label);
            return ++count < most_looked_at && labels.size() < 6;
        });
        if (labels.size() > 1) remarks_.push_back(fmt::format("{} ({}): {}", place(name, i), name_of(entry), warning_of_labels(labels)));
    }

    std::string why_not(LearnsFrom what, const Json& entry, bool mined) const {
        const bool from_scores = what == LearnsFrom::scores || what == LearnsFrom::scored_pairs;
        if (from_scores && none_is(entry, is_scored))
            return fmt::format(
                "learns from scores, and these data have none; give each {}, or have a teacher write them (faceter data score){}",
                what == LearnsFrom::scores ? "example 'scores', the positive's first" : "pair a 'score'", others({LearnsFrom::positives}));
        if (from_scores && mined)
            return "learns from scores, and the negatives that a stage mines for these data have none; have them mined and scored before "
                   "(faceter data mine, then faceter data score), and leave mine out" +
                   others({LearnsFrom::negatives});
        if (is_from_negatives(what) && !mined && none_is(entry, has_negatives))
            return "compares each positive with hard negatives, and these data have none; give them 'negatives', or have them mined "
                   "(faceter data mine, or mine in stages)" +
                   (none_is(entry, is_scored) ? others({LearnsFrom::positives}) : others({LearnsFrom::order, LearnsFrom::scored_pairs}));
        if (mined || !none_is(entry, has_either)) return "";
        const std::string label = has_label(entry) ? " (their 'label' is not read as one: where it is a grade, call it so)" : "";
        if (what == LearnsFrom::order)
            return "learns an order of pairs, and these data have neither scores nor negatives; give each pair a 'score'" + label +
                   ", or have a teacher write it (faceter data score)" + others({LearnsFrom::positives});
        if (what == LearnsFrom::verdicts)
            return "learns which pairs belong together and which do not, and these data have neither scores nor negatives; give each "
                   "pair a 'score' of 1 or 0" +
                   label + ", or 'negatives'" + others({LearnsFrom::positives});
        return "";
    }

    std::string names_of(std::initializer_list<LearnsFrom> what) const {
        std::vector<std::string> names;
        for (const std::string& name : catalogue_.names(ExtensionKind::objective))
            if (const auto own = catalogue_.find(ExtensionKind::objective, name)->extension.learns_from;
                std::find(what.begin(), what.end(), own) != what.end())
                names.push_back(name);
        return join(names, ", ");
    }
    /// Objectives that such data are for.
    std::string others(std::initializer_list<LearnsFrom> what) const {
        const std::string names = names_of(what);
        return names.empty() ? "" : "; or use an objective that does without: " + names;
    }

    const Catalogue& catalogue_;
    std::string file_;
    std::vector<std::string> remarks_;
    std::set<Json> seen_;  // runs share their tasks, and with them the files that are looked into
};

}  // namespace

std::vector<std::string> check_examples(const Experiment& experiment, const Catalogue& catalogue) {
    Check check(catalogue, experiment.file().string());
    for (const ResolvedRun& run : experiment.runs()) {
        check.check_formats(run.settings);
        if (run.method != "start") check.run(run.settings);
    }
    return check.remarks();
}

bool needs_negatives(const Json& settings, std::size_t part, const std::string& task, const Catalogue& catalogue) {
    const std::vector<Json> recipes = recipes_of(settings);
    for (std::size_t i = part; i < recipes.size(); ++i) {
        const Json& recipe = recipes[i];
        if (i > part && mines_for(recipe, task)) return false;
        const auto method = json_at<std::string>(recipe.at("objective"), "method", "objective");
        const Catalogue::Entry* objective = catalogue.find(ExtensionKind::objective, method);
        const bool from_negatives = objective && is_from_negatives(objective->extension.learns_from);
        if (from_negatives && trains_on(recipe, task, settings.at("tasks").at(task))) return true;
    }
    return false;
}

}  // namespace faceter
