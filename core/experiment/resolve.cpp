#include "experiment/resolve.h"

#include <algorithm>
#include <map>

#include "common/file_name.h"
#include "common/printable.h"
#include "common/strings.h"
#include "data/settings.h"
#include "experiment/experiment_schema.h"
#include "experiment/known_names.h"
#include "experiment/noise_rates.h"
#include "experiment/recipe_settings.h"
#include "experiment/result_names.h"
#include "experiment/run_models.h"
#include "experiment/setting_value.h"
#include "experiment/suite.h"
#include "experiment/sweep.h"
#include "experiment/task_defaults.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

bool is_map(const YamlNode* node) { return node && node->kind == YamlNode::Kind::map; }

/// The entries of `over` in place of those of `base`, and so within the schema's sections; either may be null.
YamlNode overlaid(const YamlNode* base, const YamlNode* over, const Schema& schema) {
    YamlNode all;
    if (base) all = *base;
    all.kind = YamlNode::Kind::map;
    if (!over) return all;
    all.source = over->source, all.line = over->line, all.column = over->column;
    for (YamlNode::Entry entry : over->entries) {
        const Field* field = schema.find(entry.key);
        const YamlNode* below = base ? base->find(entry.key) : nullptr;
        if (field && field->section && is_map(below) && is_map(&entry.value)) entry.value = overlaid(below, &entry.value, *field->section);
        std::erase_if(all.entries, [&](const auto& other) { return other.key == entry.key; });
        all.entries.push_back(std::move(entry));
    }
    return all;
}

class Resolver {
  public:
    Resolver(const YamlNode& root, const fs::path& file, const Catalogue& catalogue, Problems& problems, FoundModels& found)
        : root_(root),
          file_(file),
          catalogue_(catalogue),
          problems_(problems),
          found_(found),
          context_{absolute_path(file).parent_path(), &problems} {}

    Json resolve() {
        settings_ = check_section(experiment_schema(), root_, "", context_);
        if (settings_.contains("tasks") && settings_["tasks"].is_object()) tasks();
        variants();
        settings_["curriculum"] = method(ExtensionKind::curriculum, root_.find("curriculum"), "curriculum", "task_aware");
        settings_["objective"] = method(ExtensionKind::objective, root_.find("objective"), "objective", "infonce");
        stages();
        recipes();
        analyses();
        evaluation();
        suite();
        check_noise_rates(settings_, root_, problems_);
        result_names();
        recipe_settings();
        head();
        return std::move(settings_);
    }

  private:
    const YamlNode& at(const YamlNode* node) const { return node ? *node : root_; }
    void problem(const YamlNode* node, std::string_view message) { problems_.add(at(node).position(), message); }

    void head() {
        if (settings_["name"].is_null() || settings_["name"] == "") settings_["name"] = file_.stem().string();
        if (settings_["seeds"].empty()) problem(root_.find("seeds"), "seeds is an empty list; expected at least one seed");
        find_model(settings_["model"]);
        find_teachers(settings_);
        for (Json& stage : settings_["stages"]) find_teachers(stage);
    }

    /// A folder beside the file, and a run by its name, by the whole path; other names stay.
    void find_model(Json& model) {
        const std::string name = model;
        auto known = found_.find(name);
        if (known == found_.end()) known = found_.emplace(name, folder_of_model(name)).first;
        if (!known->second.empty()) model = known->second;
    }

    std::string folder_of_model(const std::string& name) const {
        std::error_code ignored;
        const fs::path folder = (context_.base_folder / name).lexically_normal();
        if (!fs::is_directory(folder, ignored)) return run_model(name).string();
        return name.empty() ? "" : folder.string();
    }

    void find_teachers(Json& recipe) {
        for (const char* part : {"objective", "curriculum", "filter", "mine"})
            if (recipe.contains(part) && recipe[part].is_object() && recipe[part].contains("teacher") &&
                recipe[part]["teacher"].is_string())
                find_model(recipe[part]["teacher"]);
    }

    void tasks() {
        const YamlNode* tasks = root_.find("tasks");
        double weights = 0;
        for (const auto& [name, task] : settings_["tasks"].items()) {
            const YamlNode* node = tasks ? tasks->find(name) : nullptr;
            settle_task(name, task, node);
            weights += task["weight"].get<double>();
        }
        if (settings_["tasks"].empty())
            problem(tasks, "tasks is empty; expected at least one task");
        else if (weights == 0)
            problem(tasks, "all tasks have weight 0, so no batch could be drawn");
        task_folders(tasks);
    }

    /// What belongs to a task, or to one of its roles, is kept in folders of that name: adapters, gates, exported models.
    void task_folders(const YamlNode* tasks) {
        std::map<std::string, std::string> owner_of;
        for (const auto& [name, task] : settings_["tasks"].items())
            for (const char* role : {"", ".query", ".document"}) {
                const std::string folder = safe_file_name(name + role);
                const auto [owner, fresh] = owner_of.emplace(folder, name + role);
                if (fresh) continue;
                const YamlNode* node = tasks ? tasks->find(name) : nullptr;
                return problem(node ? node : tasks,
                               fmt::format("tasks: {} and {} would be kept in one folder, {}; give a task another name, "
                                           "shorter or of other letters, digits and dots",
                                           faceter::quoted(owner->second), faceter::quoted(name + role), folder));
            }
    }

    void settle_task(const std::string& name, Json& task, const YamlNode* node) {
        const Schema schema = task_schema();
        const std::vector<std::string>& types = schema.find("type")->choices;
        if (task["type"].is_null()) {
            if (std::find(types.begin(), types.end(), name) == types.end())
                problem(node, fmt::format("tasks.{} has no type, and its name is none; expected type: one of {}", name, join(types, ", ")));
            else
                task["type"] = name;
        }
        const std::string type = task["type"].is_string() ? task["type"].get<std::string>() : "";
        if (task["temperature"].is_null()) task["temperature"] = default_temperature(type);
        if (task["batching"].is_null()) task["batching"] = default_batching(type);
        settle_instructions(name, task["instructions"], node ? node->find("instructions") : nullptr);
    }

    /// `text` stands for both roles; what remains is query and document.
    void settle_instructions(const std::string& name, Json& instructions, const YamlNode* node) {
        const Json both = instructions["text"];
        if (!both.is_null() && (!instructions["query"].is_null() || !instructions["document"].is_null()))
            problem(node, fmt::format("tasks.{}.instructions has 'text' and also 'query' or 'document'; expected either", name));
        Json settled = Json::object();
        for (const char* role : {"query", "document"})
            settled[role] = !both.is_null() ? both : instructions[role].is_null() ? Json("") : instructions[role];
        instructions = settled;
    }

    void variants() {
        const YamlNode* variants = root_.find("variants");
        settings_["variants"] = Json::object();
        if (!variants || variants->kind == YamlNode::Kind::null) return;
        if (variants->kind != YamlNode::Kind::map)
            return problem(variants,
                           fmt::format("variants is {}; expected a map such as {{IC: {{method: instruction}}}}", variants->kind_name()));
        for (const auto& entry : variants->entries) {
            if (const std::string wrong = wrong_in_variant_name(entry.key); !wrong.empty())
                problems_.add({file_.string(), entry.line, entry.column}, wrong);
            settings_["variants"][entry.key] = method(ExtensionKind::variant, &entry.value, "variants." + entry.key, "");
        }
    }

    std::string known_methods(ExtensionKind kind) const {
        const std::vector<std::string> names = catalogue_.names(kind);
        std::string rejected;
        for (const RejectedPlugin& plugin : catalogue_.plugins().rejected)
            rejected += fmt::format("; a plugin was rejected: {}: {}", plugin.file.string(), plugin.reason);
        if (names.empty())
            return fmt::format("; no plugin that offers one was found{}", rejected.empty() ? ", see faceter doctor" : rejected);
        return fmt::format(" (known: {}){}", join(names, ", "), rejected);
    }

    Json method(ExtensionKind kind, const YamlNode* node, const std::string& where, const std::string& fallback) {
        if (node && node->kind != YamlNode::Kind::map && node->kind != YamlNode::Kind::null) {
            problem(node, fmt::format("{} is {}; expected a map with 'method'", where, node->kind_name()));
            return {{"method", fallback}};
        }
        const YamlNode* named = node ? node->find("method") : nullptr;
        if (!named && fallback.empty()) {
            problem(node, fmt::format("{}.method is missing{}", where, known_methods(kind)));
            return {{"method", ""}};
        }
        const std::string name = named ? named->text : fallback;
        const Catalogue::Entry* entry = catalogue_.find(kind, name);
        if (!entry) {
            const auto near = nearest(name, catalogue_.names(kind));
            problem(named, fmt::format("unknown {} method {} in {}{}{}", extension_kind_name(kind), faceter::quoted(name), where,
                                       near ? fmt::format("; did you mean '{}'?", *near) : "", known_methods(kind)));
            return {{"method", name}};
        }
        YamlNode empty;
        empty.kind = YamlNode::Kind::map;
        if (!node || node->kind == YamlNode::Kind::null || !named) {
            empty.entries.push_back({"method", 0, 0, yaml_from_json(name, file_.string())});
            if (node)
                for (const auto& other : node->entries) empty.entries.push_back(other);
            node = &empty;
        }
        const Json settled =
            check_section(kind == ExtensionKind::analysis ? analysis_schema(*entry) : method_schema(*entry), *node, where, context_);
        excluded_by_itself(*entry, settled, *node, where);
        for (const Field& field : entry->extension.schema.fields) {
            above_another(field, settled, *node, where);
            unknown_names(field, settled, *node, where);
            names_of_two(field, settled, *node, where);
        }
        needed_by_itself(entry->extension.schema, settled, *node, where);
        return settled;
    }

    /// Each point of a sweep is checked by itself; the file as it stands need not be one.
    bool is_swept(const std::string& where, const std::string& key) const { return faceter::is_swept(root_, where + "." + key); }

    void above_another(const Field& field, const Json& method, const YamlNode& node, const std::string& where) {
        if (field.not_above.empty() || !method[field.key].is_number()) return;
        if (is_swept(where, field.key) || is_swept(where, field.not_above)) return;
        const Json most = json_or<Json>(method, field.not_above, Json(), where);
        if (most.is_number() && method[field.key].get<double>() > most.get<double>())
            problem(node.find(field.key) ? node.find(field.key) : &node,
                    fmt::format("{}.{} is {}, more than {}.{}, which is {}", where, field.key, method[field.key].dump(), where,
                                field.not_above, most.dump()));
    }

    /// Names of layers are known with the start model (check_start_models).
    void unknown_names(const Field& field, const Json& method, const YamlNode& node, const std::string& where) {
        const bool is_read = field.names_where.empty() || has_value(method, field.names_where);
        if (field.names.empty() || field.names.front() == layer_names || !is_read || !settings_["tasks"].is_object()) return;
        if (is_swept(where, field.key) || is_swept(where, Condition(field.names_where).key)) return;
        if (names_are_swept(field, method, where)) return;
        const KnownNames known(field, method, settings_["tasks"]);
        const Json& value = method[field.key];
        const YamlNode* own = node.find(field.key);
        std::vector<std::string> seen;
        bool all_are_known = true;
        const auto check = [&](const YamlNode* at, const std::string& name) {
            std::string reason = known.why_not(name);
            if (reason.empty() && std::find(seen.begin(), seen.end(), name) != seen.end())
                reason = fmt::format("names {} twice", faceter::quoted(name));
            if (!reason.empty()) problem(at ? at : &node, fmt::format("{}.{} {}", where, field.key, reason));
            all_are_known = all_are_known && reason.empty();
            seen.push_back(name);
        };
        if (value.is_string()) check(own, value.get<std::string>());
        if (value.is_array())
            for (std::size_t i = 0; i < value.size(); ++i)
                check(own && i < own->items.size() ? &own->items[i] : own, value[i].get<std::string>());
        if (!field.not_all.empty() && all_are_known && !seen.empty() && seen.size() == known.size())
            problem(own ? own : &node,
                    fmt::format("{}.{} names all that there are ({}): {}", where, field.key, join(seen, ", "), field.not_all));
        if (value.is_object())
            for (const auto& [name, item] : value.items()) check(own ? own->find(name) : nullptr, name);
    }

    /// A task may be called as something is that the method makes beside the tasks' own.
    void names_of_two(const Field& field, const Json& method, const YamlNode& node, const std::string& where) {
        if (field.names.size() < 2 || !settings_["tasks"].is_object() || names_are_swept(field, method, where)) return;
        const std::string name = KnownNames(field, method, settings_["tasks"]).met();
        if (!name.empty())
            problem(&node, fmt::format("{}: two of what {} may name would be called {}, or be kept in one folder, a task among them; give "
                                       "the task another name",
                                       where, field.key, faceter::quoted(name)));
    }

    /// Another setting is swept whose items are among what this one may name.
    bool names_are_swept(const Field& field, const Json& method, const std::string& where) const {
        const auto named = [&](const std::string& key) {
            return std::any_of(field.names.begin(), field.names.end(),
                               [&](const std::string& form) { return form.find(key) != form.npos; });
        };
        for (const auto& [key, value] : method.items())
            if (is_swept(where, key) && named(key)) return true;
        return false;
    }

    /// What a method's settings do not go together with among its own, as in "training=one_by_one".
    void excluded_by_itself(const Catalogue::Entry& entry, const Json& method, const YamlNode& node, const std::string& where) {
        for (const Field& field : entry.extension.schema.fields)
            for (const Exclusion& other : field.exclusions) {
                if (method[field.key] == field.default_value || !has_value(method, other.setting)) continue;
                const std::size_t at = other.setting.find('=');
                const std::string key = other.setting.substr(0, at), value = other.setting.substr(at + 1);
                if (is_swept(where, field.key) || is_swept(where, key)) continue;
                problem(node.find(field.key) ? node.find(field.key) : &node,
                        fmt::format("{}.{} is {} and {}.{} is {}: {}", where, field.key, method[field.key].dump(), where, key, value,
                                    other.reason));
            }
    }

    /// What a choice needs of the method's other settings, as a fixed router the gate.
    void needed_by_itself(const Schema& schema, const Json& method, const YamlNode& node, const std::string& where) {
        for (const Field& field : schema.fields)
            for (const Need& need : field.needed) {
                const Field* other = schema.find(need.setting);
                if (!other || json_or<Json>(method, field.key, Json(), where) != Json(need.value)) continue;
                if (is_swept(where, field.key) || is_swept(where, need.setting)) continue;
                const Json value = json_or<Json>(method, need.setting, other->default_value, where);
                const bool too_many = need.most > 0 && value.is_array() && value.size() > need.most;
                if (value != other->default_value && !too_many) continue;
                const std::string than = too_many ? fmt::format(", of {} at most, which has {}", need.most, value.size()) : "";
                problem(
                    node.find(field.key) ? node.find(field.key) : &node,
                    fmt::format("{}.{} is {} and needs {}.{}{}: {}", where, field.key, need.value, where, need.setting, than, need.reason));
            }
    }

    /// Each with its whole recipe: what a stage does not say is the experiment's.
    void stages() {
        const YamlNode* stages = root_.find("stages");
        settings_["stages"] = Json::array();
        if (!stages || stages->kind == YamlNode::Kind::null) return;
        if (stages->kind != YamlNode::Kind::sequence)
            return problem(stages, fmt::format("stages is {}; expected a list such as [{{name: first, tasks: [a]}}]", stages->kind_name()));
        std::vector<std::string> names;
        for (std::size_t i = 0; i < stages->items.size(); ++i) {
            const Json settled = stage(stages->items[i], fmt::format("stages[{}]", i));
            const auto name = json_or<std::string>(settled, "name", "", "stages");
            if (!name.empty() && std::find(names.begin(), names.end(), name) != names.end())
                problem(&stages->items[i],
                        fmt::format("two stages are called {}; checkpoints and curves tell them apart by name", faceter::quoted(name)));
            names.push_back(name);
            settings_["stages"].push_back(settled);
        }
    }

    Json stage(const YamlNode& node, const std::string& where) {
        Json settled = check_section(stage_schema(), node, where, context_);
        const YamlNode* training = node.find("training");
        if (training && training->kind != YamlNode::Kind::map && training->kind != YamlNode::Kind::null)
            problem(training,
                    fmt::format("{}.training is {}; expected a map such as {{learning_rate: 1e-5}}", where, training->kind_name()));
        const YamlNode recipe = overlaid(root_.find("training"), is_map(training) ? training : nullptr, training_schema());
        settled["training"] = check_section(training_schema(), recipe, where + ".training", context_);
        if (training) without_effect(*training, settled["training"], where + ".training");
        for (const auto& [part, kind] :
             {std::pair("curriculum", ExtensionKind::curriculum), std::pair("objective", ExtensionKind::objective)})
            settled[part] = stage_method(node.find(part), kind, part, where);
        stage_tasks(settled, node);
        return settled;
    }

    /// Whole, with its method: of the experiment's, which another method may have no settings of, a stage takes over everything or nothing.
    Json stage_method(const YamlNode* node, ExtensionKind kind, const std::string& part, const std::string& where) {
        if (!node || node->kind == YamlNode::Kind::null) return settings_[part];
        return method(kind, node, where + "." + part, "");
    }

    /// What is read of the whole run's training, whatever a stage says, and epochs that the experiment's steps stand in place of.
    void without_effect(const YamlNode& own, const Json& training, const std::string& where) {
        for (const char* key : {"keep_checkpoints", "rank_timeout_s"})
            if (own.find(key))
                problem(own.find(key),
                        fmt::format("{}.{} is one for the whole run, and has no effect in a stage; set it under 'training'", where, key));
        if (own.find("epochs") && !own.find("steps") && !training["steps"].is_null())
            problem(own.find("epochs"),
                    fmt::format("{}.epochs has no effect, because training.steps is {} for every stage that does not set "
                                "its own; set steps here: null, or a number in place of epochs",
                                where, training["steps"].dump()));
    }

    void stage_tasks(const Json& stage, const YamlNode& node) {
        if (!settings_.contains("tasks") || !settings_["tasks"].is_object() || !stage.contains("tasks")) return;
        std::vector<std::string> known;
        for (const auto& [name, task] : settings_["tasks"].items()) known.push_back(name);
        for (const auto& name : stage["tasks"].get<std::vector<std::string>>())
            if (std::find(known.begin(), known.end(), name) == known.end())
                problem(node.find("tasks"), fmt::format("unknown task {}{}", faceter::quoted(name), suggestion(name, known)));
    }

    /// What no part of a recipe shows by itself: the run's own, or those of its stages.
    void recipes() {
        const YamlNode* stages = root_.find("stages");
        if (settings_["stages"].empty()) return recipe(settings_, root_, "");
        for (std::size_t i = 0; i < settings_["stages"].size(); ++i)
            recipe(settings_["stages"][i], stages->items[i], fmt::format("stages[{}].", i));
    }

    /// Whether data sets are scored during such a training; where that is swept, some point may.
    bool is_evaluated(const Json& training, const std::string& where) const {
        return training["evaluate_every_steps"] != 0 || is_swept("training", "evaluate_every_steps") ||
               is_swept(where + "training", "evaluate_every_steps");
    }

    void recipe(const Json& recipe, const YamlNode& node, const std::string& where) {
        const Json& training = recipe["training"];
        if (training.is_object() && !training["early_stopping"].is_null() && !is_evaluated(training, where))
            problem(node.find("training") ? node.find("training") : &node,
                    fmt::format("{}training.early_stopping needs training.evaluate_every_steps, which is 0: nothing would ever be scored "
                                "to stop by; set "
                                "it, or leave early_stopping out",
                                where));
        for (const auto& [name, variant] : settings_["variants"].items())
            excluded(ExtensionKind::variant, variant, "variants." + name, recipe, node, where);
        excluded(ExtensionKind::objective, recipe["objective"], where + "objective", recipe, node, where);
    }

    /// What a method's own settings do not go together with in the recipe.
    void excluded(ExtensionKind kind, const Json& method, const std::string& named, const Json& recipe, const YamlNode& node,
                  const std::string& where) {
        const Catalogue::Entry* entry = catalogue_.find(kind, method["method"].get<std::string>());
        for (const Field& field : entry ? entry->extension.schema.fields : std::vector<Field>())
            for (const Exclusion& other : field.exclusions)
                if (method.contains(field.key) && method[field.key] != field.default_value && is_set(recipe, other.setting) &&
                    !is_swept(named, field.key) && !faceter::is_swept(root_, other.setting) &&
                    !faceter::is_swept(root_, where + other.setting))
                    problem(node.find("objective") ? node.find("objective") : &node,
                            fmt::format("{}.{} and {}{} are both set: {}", named, field.key, where, other.setting, other.reason));
    }

    /// Whether a dotted setting of a recipe has another value than its default.
    bool is_set(const Json& recipe, const std::string& setting) const {
        const std::string part = setting.substr(0, setting.find('.')), key = setting.substr(setting.find('.') + 1);
        if (!recipe.contains(part) || !recipe[part].contains(key)) return false;
        const Catalogue::Entry* entry = part == "training"
                                            ? nullptr
                                            : catalogue_.find(part == "objective" ? ExtensionKind::objective : ExtensionKind::curriculum,
                                                              recipe[part]["method"].get<std::string>());
        const Schema schema = part == "training" ? training_schema() : entry ? entry->extension.schema : Schema();
        const Field* field = schema.find(key);
        return field && recipe[part][key] != field->default_value;
    }

    void analyses() {
        const YamlNode* analyses = root_.find("analyses");
        settings_["analyses"] = Json::array();
        if (!analyses || analyses->kind == YamlNode::Kind::null) return;
        if (analyses->kind != YamlNode::Kind::sequence)
            return problem(analyses, fmt::format("analyses is {}; expected a list", analyses->kind_name()));
        for (std::size_t i = 0; i < analyses->items.size(); ++i)
            settings_["analyses"].push_back(method(ExtensionKind::analysis, &analyses->items[i], fmt::format("analyses[{}]", i), ""));
    }

    /// By name or type.
    bool has_task(const std::string& wanted) const {
        for (const auto& [name, task] : settings_["tasks"].items())
            if (name == wanted || task["type"] == wanted) return true;
        return false;
    }

    /// The suite's data sets become entries of datasets. Instructions stay those of the tasks: a variant without any must not get the
    /// suite's.
    void suite() {
        Json& evaluation = settings_["evaluation"];
        if (!evaluation.is_object() || evaluation["suite"].is_null() || evaluation["suite"] == "") return;
        const YamlNode* section = root_.find("evaluation");
        const YamlNode* named = section ? section->find("suite") : nullptr;
        if (evaluation["data_root"].is_null())
            return problem(named, "evaluation.suite needs evaluation.data_root, the folder whose sub-folders are its data sets");
        try {
            const std::string name = evaluation["suite"];
            const bool is_file = name.ends_with(".yaml");
            const Suite suite = is_file ? read_suite(context_.base_folder / name) : find_suite(name);
            const fs::path root = evaluation["data_root"].get<std::string>();
            const SuitePlan plan = plan_suite(suite, root, false);
            const std::string missing = describe_missing(suite, plan, root);
            if (plan.entries.empty() || (evaluation["missing"] == "fail" && !missing.empty()))
                return problem(named, missing + (plan.entries.empty() ? "" : "\n  (evaluation.missing: skip goes on without them)"));
            for (Json entry : plan.entries) add_suite_entry(std::move(entry), named);
        } catch (const Error& error) {
            problem(named, error.what());
        }
    }

    /// Scores are kept, compared and shown by the name of their data set. Only where all else is right: entries can then be read.
    void result_names() {
        if (!problems_.empty()) return;
        const YamlNode* section = root_.find("evaluation");
        const YamlNode* datasets = section ? section->find("datasets") : nullptr;
        const auto node_of = [&](std::size_t i) { return datasets && i < datasets->items.size() ? &datasets->items[i] : section; };
        try {
            for (const NameMeeting& meeting : meeting_names(result_owners(settings_)))
                problem(node_of(node_of(meeting.second) == section ? meeting.first : meeting.second), meeting.message);
        } catch (const Error& error) {
            problem(section, error.what());  // an entry without a path
        }
    }

    /// Only where all else is right, as above.
    void recipe_settings() {
        if (!problems_.empty()) return;
        try {
            check_recipe_settings(settings_, root_, problems_);
        } catch (const Error& error) {
            problem(root_.find("tasks"), error.what());  // an entry without a path
        }
    }

    /// A suite is for experiments of many tasks: a type that this one has no task of is no mistake.
    void settle_as(Json& entry, const YamlNode* suite) {
        const std::string as = entry["as"];
        if (has_task(as)) return;
        const Schema schema = task_schema();
        const std::vector<std::string>& types = schema.find("type")->choices;
        if (!as.empty() && std::find(types.begin(), types.end(), as) == types.end())
            problem(suite,
                    fmt::format("data set {} of the suite is scored as {}, which is no task of this experiment and no type of tasks{}",
                                faceter::quoted(entry["name"].get<std::string>()), faceter::quoted(as), suggestion(as, types)));
        entry.erase("as");
    }

    void add_suite_entry(Json entry, const YamlNode* suite) {
        if (entry.contains("as")) settle_as(entry, suite);
        Json whole = defaults_of(data_entry_schema());
        whole.update(entry);
        settings_["evaluation"]["datasets"].push_back(std::move(whole));
    }

    /// What a data set is scored as, and the task of the tree whose instruction and expert its texts get.
    void evaluation() {
        if (!settings_.contains("tasks") || !settings_["tasks"].is_object()) return;
        std::vector<std::string> names;
        for (const auto& [name, task] : settings_["tasks"].items()) names.push_back(name);
        const YamlNode* section = root_.find("evaluation");
        if (const YamlNode* datasets = section ? section->find("datasets") : nullptr)
            for (const YamlNode& item : datasets->items) {
                if (const YamlNode* as = item.find("as"); as && !as->text.empty() && !has_task(as->text))
                    problem(as, fmt::format("unknown task {}{}", faceter::quoted(as->text), suggestion(as->text, names)));
                check_scored_file(item);
                scored_as(item, names);
            }
        const YamlNode* tasks = root_.find("tasks");
        for (const std::string& name : names) {
            const YamlNode* task = tasks ? tasks->find(name) : nullptr;
            if (const YamlNode* validation = task ? task->find("validation") : nullptr)
                for (const YamlNode& item : validation->items) scored_as(item, names);
        }
    }

    /// `task` of an entry is a kind of data; a task of the tree is named by `as`.
    void scored_as(const YamlNode& item, const std::vector<std::string>& names) {
        const YamlNode* task = item.find("task");
        if (!task || task->text.empty()) return;
        const Schema known = task_schema();
        const std::vector<std::string>& kinds = known.find("type")->choices;
        if (std::find(kinds.begin(), kinds.end(), task->text) != kinds.end()) return;
        if (std::find(names.begin(), names.end(), task->text) != names.end())
            return problem(task,
                           fmt::format("task is {}, which is a task of this experiment; say as: {}, and leave task out or name the kind "
                                       "of data that is scored (known: {})",
                                       faceter::quoted(task->text), task->text, join(kinds, ", ")));
        problem(task, fmt::format("unknown task {}{}", faceter::quoted(task->text), suggestion(task->text, kinds)));
    }

    /// What a file holds is known where its format is named, and what none holds without.
    void check_scored_file(const YamlNode& item) {
        const auto text_of = [&](const char* key) {
            const YamlNode* value = item.find(key);
            return value ? value->text : std::string();
        };
        if (text_of("source") != "file") return;
        const std::string format = text_of("format"), task = text_of("task");
        const std::string scored_as = !task.empty() ? task : format == "labelled" ? "clustering" : "retrieval";
        if (const std::string reason = reason_not_scored(format, scored_as); !reason.empty())
            problem(item.find(task.empty() ? "format" : "task"), reason);
    }

    const YamlNode& root_;
    const fs::path& file_;
    const Catalogue& catalogue_;
    Problems& problems_;
    FoundModels& found_;
    CheckContext context_;
    Json settings_;
};

}  // namespace

std::string wrong_in_variant_name(const std::string& name) {
    constexpr std::size_t longest = 100;
    const bool good = name != start_variant && !name.empty() && name.size() <= longest && name.find_first_of("./") == std::string::npos &&
                      name.front() != '-' && printable(name) == name;
    if (good) return "";
    if (name.size() > longest)
        return fmt::format("{} cannot be a variant's name: it is longer than {} bytes", faceter::quoted(name), longest);
    return fmt::format(
        "{} cannot be a variant's name ('start' is the untrained model; '.' and '/' have a meaning, as has '-' in front; what a terminal "
        "does not show is left out)",
        faceter::quoted(name));
}

Json resolve_experiment(const YamlNode& root, const fs::path& file, const Catalogue& catalogue, Problems& problems, FoundModels& found) {
    return Resolver(root, file, catalogue, problems, found).resolve();
}

}  // namespace faceter
