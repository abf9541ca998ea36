#include "experiment/unread_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/printable.h"
#include "common/strings.h"
#include "experiment/recipes.h"
#include "experiment/resolve.h"
#include "experiment/setting_value.h"
#include "experiment/task_defaults.h"
#include "settings/check.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

std::string shown(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Of all runs of an experiment.
class Settings {
  public:
    explicit Settings(const Catalogue& catalogue) : catalogue_(catalogue) {}

    void add(const ResolvedRun& run) {
        analyses(run);
        method(run, ExtensionKind::variant, run.settings.at("variant"), "variants." + run.variant);
        const std::vector<Json> recipes = recipes_of(run.settings);
        untrained(run.settings.at("tasks"), recipes);
        for (const Json& recipe : recipes) {
            const auto stage = json_or<std::string>(recipe, "name", "", "stages");
            const auto place = [&](const std::string& part) {  // what a stage has from the experiment is the experiment's
                const bool own = !stage.empty() && recipe.at(part) != json_or<Json>(run.settings, part, Json(), "settings");
                return (own ? fmt::format("stage {}: ", faceter::quoted(stage)) : "") + part;
            };
            method(run, ExtensionKind::curriculum, recipe.at("curriculum"), place("curriculum"));
            method(run, ExtensionKind::objective, recipe.at("objective"), place("objective"));
            weights(run.settings.at("tasks"), recipe);
            temperatures(run.settings.at("tasks"), recipe);
            batchings(run.settings.at("tasks"), recipe);
            batch_temperature(recipe, place("curriculum"));
            noise_mask(recipe, place("curriculum"));
            validation(run, recipe);
            scores(run, recipe, place("training"));
            if (run.settings.at("sample_limit") == 0) training(recipe, place("training"), place("objective"));  // --smoke has few steps
            if (recipe.at("mine").is_object()) mining(recipe.at("mine"), fmt::format("stage {}: mine", faceter::quoted(stage)));
        }
    }

    std::vector<std::string> unread() const {
        std::vector<std::string> remarks;
        for (const auto& [place, remark] : remarks_)
            if (!read_.contains(place)) remarks.push_back(place + " " + remark);
        return remarks;
    }

  private:
    void note(const std::string& place, bool is_read, const std::string& remark) {
        remarks_.try_emplace(place, remark);
        if (is_read) read_.insert(place);
    }

    /// Tasks that no stage names; a weight of 0 says that they are to be kept out.
    void untrained(const Json& tasks, const std::vector<Json>& recipes) {
        for (const auto& [key, task] : tasks.items()) {
            const std::string& name = key;
            if (task.at("train").empty() || json_at<double>(task, "weight", "task") == 0) continue;
            note(fmt::format("tasks.{}.train", name),
                 std::any_of(recipes.begin(), recipes.end(), [&](const Json& recipe) { return trains(recipe, name); }),
                 "has data, and nothing trains on them: no stage names the task; name it in one, or say weight: 0");
        }
    }

    /// Those that would have nothing to look at.
    void analyses(const ResolvedRun& run) {
        const Json all = json_or<Json>(run.settings, "analyses", Json::array(), "settings");
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::string method = json_at<std::string>(all[i], "method", "analyses"), place = fmt::format("analyses[{}]", i);
            const Catalogue::Entry* entry = catalogue_.find(ExtensionKind::analysis, method);
            if (entry && entry->extension.embeds_texts)
                note(place, json_or<Json>(all[i], "texts", Json(), place).is_object(),
                     fmt::format("({}) has no texts to embed, and is left out; give it texts: {{source: ..., count: ...}}", method));
            if (method == "embedding_forms")
                note(place, !run.settings.at("evaluation").at("datasets").empty(),
                     "(embedding_forms) has nothing to score: evaluation.datasets names nothing");
        }
    }

    /// By an analysis of the method's own plugin, which may vary what the run itself does not read.
    bool is_analysed(const ResolvedRun& run, const std::string& plugin) const {
        const Json analyses = json_or<Json>(run.settings, "analyses", Json::array(), "settings");
        return std::any_of(analyses.begin(), analyses.end(), [&](const Json& analysis) {
            const Catalogue::Entry* entry = catalogue_.find(ExtensionKind::analysis, analysis.at("method").get<std::string>());
            return entry && entry->plugin == plugin;
        });
    }

    void method(const ResolvedRun& run, ExtensionKind kind, const Json& settings, const std::string& where) {
        const Catalogue::Entry* entry = catalogue_.find(kind, json_or<std::string>(settings, "method", "", "settings"));
        for (const Field& field : entry ? entry->extension.schema.fields : std::vector<Field>()) {
            if (field.names_where.empty() || !settings.contains(field.key) || settings.at(field.key) == field.default_value) continue;
            const Condition condition(field.names_where);
            note(where + "." + field.key, condition.holds(settings) || is_analysed(run, entry->plugin),
                 fmt::format("is {}, and nothing reads it: it counts where {} is {}{}, {} is {}", shown(settings.at(field.key)),
                             condition.key, condition.is_not ? "not " : "", condition.value, condition.is_not ? "and it" : "which",
                             shown(json_or<Json>(settings, condition.key, Json(), where))));
        }
    }

    bool curriculum_ignores(const Json& recipe, const std::string& setting) const {
        return ignores(catalogue_.find(ExtensionKind::curriculum, method_of(recipe, "curriculum")), setting);
    }
    bool objective_ignores(const Json& recipe, const std::string& setting) const {
        return ignores(catalogue_.find(ExtensionKind::objective, method_of(recipe, "objective")), setting);
    }
    static bool ignores(const Catalogue::Entry* entry, const std::string& setting) {
        if (!entry) return false;
        const std::vector<std::string>& ignored = entry->extension.ignores;
        return std::find(ignored.begin(), ignored.end(), setting) != ignored.end();
    }

    static std::string method_of(const Json& recipe, const char* part) { return json_at<std::string>(recipe.at(part), "method", part); }

    void weights(const Json& tasks, const Json& recipe) {
        for (const auto& [name, task] : tasks.items())
            if (const auto weight = json_at<double>(task, "weight", "task"); weight != 1 && trains(recipe, name))
                note(fmt::format("tasks.{}.weight", name), !curriculum_ignores(recipe, "weight"),
                     fmt::format("is {}, and nothing reads it: curriculum {} draws no batches by weight{}", weight,
                                 method_of(recipe, "curriculum"),
                                 weight > 0 ? "" : ", and trains on the task's data; to keep them out, name the other tasks in a stage"));
    }

    void temperatures(const Json& tasks, const Json& recipe) {
        const std::string instead = temperature_instead(recipe);
        for (const auto& [name, task] : tasks.items())
            if (const auto own = json_at<double>(task, "temperature", "task");
                own != default_temperature(json_at<std::string>(task, "type", "task")) && trains(recipe, name))
                note(fmt::format("tasks.{}.temperature", name), instead.empty(),
                     fmt::format("is {}, and nothing reads it: {}", own, instead));
    }

    /// Why the tasks' temperatures do not count; empty where they do.
    std::string temperature_instead(const Json& recipe) const {
        for (const char* own : {"temperature", "scale"})
            if (const Json value = json_or<Json>(recipe.at("objective"), own, Json(), "objective"); value.is_number())
                return fmt::format("objective {} has its own, {} {}", method_of(recipe, "objective"), own, value.get<double>());
        if (objective_ignores(recipe, "temperature")) return fmt::format("objective {} has no temperature", method_of(recipe, "objective"));
        const Json value = json_or<Json>(recipe.at("curriculum"), "temperature", Json(), "curriculum");
        return value.is_number()
                   ? fmt::format("curriculum {} has one for every batch, {}", method_of(recipe, "curriculum"), value.get<double>())
                   : "";
    }

    void batchings(const Json& tasks, const Json& recipe) {
        const std::string curriculum = method_of(recipe, "curriculum");
        for (const auto& [name, task] : tasks.items())
            if (const auto own = json_at<std::string>(task, "batching", "task");
                own != default_batching(json_at<std::string>(task, "type", "task")) && trains(recipe, name))
                note(fmt::format("tasks.{}.batching", name), !curriculum_ignores(recipe, "batching"),
                     fmt::format("is {}, and nothing reads it: curriculum {} makes batches {}", own, curriculum,
                                 curriculum == "static" ? "of all tasks" : "of a data set each"));
    }

    /// The temperature that a curriculum gives its batches, where the objective has none, or its own.
    void batch_temperature(const Json& recipe, const std::string& where) {
        const Json own = json_or<Json>(recipe.at("curriculum"), "temperature", Json(), "curriculum");
        const Catalogue::Entry* entry = catalogue_.find(ExtensionKind::curriculum, method_of(recipe, "curriculum"));
        const Field* field = entry ? entry->extension.schema.find("temperature") : nullptr;
        if (!field || !own.is_number() || own == field->default_value) return;
        note(where + ".temperature", !objective_ignores(recipe, "temperature"),
             fmt::format("is {}, and nothing reads it: {}", own.dump(), temperature_instead(recipe)));
    }

    bool is_on_tokens(const Json& recipe) const {
        const Catalogue::Entry* entry = catalogue_.find(ExtensionKind::objective, method_of(recipe, "objective"));
        return entry && entry->extension.on_tokens;
    }

    /// Of a curriculum that leaves examples out of the loss, which one on tokens has of texts, not of pairs.
    void noise_mask(const Json& recipe, const std::string& where) {
        const Json& curriculum = recipe.at("curriculum");
        const auto mask = json_or<std::string>(curriculum, "noise_mask", "none", "curriculum");
        if (mask == "none" || !json_or<bool>(curriculum, "instance_level", true, "curriculum")) return;
        note(where + ".noise_mask", !is_on_tokens(recipe),
             fmt::format("is {}, and nothing reads it: objective {} is a loss on tokens, and trains on masked examples as well; say "
                         "noise_mask: none",
                         mask, method_of(recipe, "objective")));
    }

    /// A part that is trained by itself, and scored by its own task's validation data, is never scored where there are none.
    void validation(const ResolvedRun& run, const Json& recipe) {
        const Catalogue::Entry* entry = catalogue_.find(ExtensionKind::variant, run.method);
        const Json training = training_of(recipe);
        if (!entry || !entry->extension.training.validated || json_at<std::int64_t>(training, "evaluate_every_steps", "training") == 0)
            return;
        const Training& how = entry->extension.training;
        const Json given = how.given.empty() ? Json() : json_or<Json>(run.settings.at("variant"), how.given, Json(), "variant");
        for (const auto& [name, task] : run.settings.at("tasks").items())
            if (trains_on(recipe, name, task) && !given.contains(name))
                note(fmt::format("tasks.{}.validation", name), !json_or<Json>(task, "validation", Json::array(), "tasks").empty(),
                     fmt::format("is empty, and variant {} ({}) is scored by it while it trains on this task alone: it trains to the end{}",
                                 faceter::quoted(run.variant), run.method,
                                 training.at("early_stopping").is_object() ? ", and early_stopping has no effect there" : ""));
    }

    /// What is said of scores during training, where there are none.
    void scores(const ResolvedRun& run, const Json& recipe, const std::string& where) {
        const Catalogue::Entry* entry = catalogue_.find(ExtensionKind::variant, run.method);
        const Json training = training_of(recipe), &named = training.at("evaluate_datasets");
        const auto every = json_at<std::int64_t>(training, "evaluate_every_steps", "training");
        const bool validated = entry && entry->extension.training.validated,
                   has_sets = !run.settings.at("evaluation").at("datasets").empty();
        const auto steps = json_or<std::int64_t>(training, "steps", 0, "training");
        const bool scored = validated || has_sets, late = steps > 0 && every > steps && run.settings.at("sample_limit") == 0;
        if (every > 0)
            note(where + ".evaluate_every_steps", scored && !late,
                 !scored ? fmt::format("is {}, and evaluation.datasets names nothing: nothing is scored during training", every)
                         : fmt::format("is {} of {} steps: nothing is scored during training{}", every, steps,
                                       training.at("early_stopping").is_object() ? ", and early_stopping has no effect" : ""));
        if (!named.empty())
            note(where + ".evaluate_datasets", every > 0 && !validated,
                 every == 0 ? "is set, and nothing reads it: evaluate_every_steps is 0"
                            : fmt::format("is set, and nothing reads it: variant {} ({}) is scored by tasks.*.validation while it trains",
                                          faceter::quoted(run.variant), run.method));
    }

    void training(const Json& recipe, const std::string& where, const std::string& objective) {
        const Json all = training_of(recipe);
        const auto number = [&](const char* key) { return json_or<std::int64_t>(all, key, 0, "training"); };
        const std::int64_t steps = number("steps"), warmup = number("warmup_steps"),
                           chunk = gradient_cache_chunk_of(recipe.at("objective")), batch = number("batch_size");
        if (number("epochs") != training_schema().find("epochs")->default_value)
            note(where + ".epochs", steps == 0, fmt::format("is {}, and nothing reads it: steps is {}", number("epochs"), steps));
        if (const Json ratio = all.at("warmup_ratio"); ratio != training_schema().find("warmup_ratio")->default_value)
            note(where + ".warmup_ratio", all.at("warmup_steps").is_null(),
                 fmt::format("is {}, and nothing reads it: warmup_steps is {}", ratio.dump(), warmup));
        if (steps > 0 && warmup > 0)
            note(where + ".warmup_steps", warmup <= steps,
                 fmt::format("is {} of {} steps: the learning rate is never that of learning_rate", warmup, steps));
        if (chunk > 0)
            note(objective + ".gradient_cache_chunk", chunk < batch,
                 fmt::format("is {}, and batches have {} pairs: it spares no memory", chunk, batch));
    }

    void mining(const Json& mine, const std::string& where) {
        const Schema& schema = *stage_schema().find("mine")->section;
        const Json all = filled_in(schema, mine);
        const auto negatives = json_at<std::int64_t>(all, "negatives", "mine"), depth = json_at<std::int64_t>(all, "depth", "mine");
        if (!json_at<bool>(all, "filter_given", "mine"))
            return note(where + ".negatives", negatives <= depth,
                        fmt::format("is {}, and only {} documents are looked at (depth)", negatives, depth));
        for (const char* key : {"negatives", "depth"})
            if (all.at(key) != schema.find(key)->default_value)
                note(where + "." + key, false,
                     fmt::format("is {}, and nothing reads it: with filter_given nothing is mined", all.at(key).dump()));
    }

    const Catalogue& catalogue_;
    std::map<std::string, std::string> remarks_;  ///< by the setting's place
    std::set<std::string> read_;
};

}  // namespace

std::vector<std::string> unread_settings(const Experiment& experiment, const Catalogue& catalogue) {
    Settings settings(catalogue);
    for (const ResolvedRun& run : experiment.runs())
        if (run.variant != start_variant) settings.add(run);
    std::vector<std::string> remarks = settings.unread();
    for (std::string& remark : remarks) remark = experiment.file().string() + ": " + remark;
    return remarks;
}

}  // namespace faceter
