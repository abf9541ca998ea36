#include "experiment/start_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "checkpoint/adapter_targets.h"
#include "checkpoint/encoder_config.h"
#include "checkpoint/language_head.h"
#include "checkpoint/parameter_count.h"
#include "common/error.h"
#include "common/strings.h"
#include "experiment/builtin_settings.h"
#include "experiment/instruction_room.h"
#include "experiment/recipes.h"
#include "experiment/run_models.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

/// What is known of a start model once it was looked at.
struct StartModel {
    ModelFolder files;
    EncoderConfig config;
    bool routes_tokens = false;
    Json routing = Json::object();  ///< of its token-routed blocks, by the names of settings
    std::int64_t dim = 0;           ///< elements of an embedding
    AdapterModules layers;
    bool masks = false;                      ///< was found fit for masked-language modelling
    std::unique_ptr<Tokenizer> tokenizer{};  ///< once it was needed: tokenizer_of
};

bool has_router(const ModelFolder& folder) { return fs::exists(folder.folder / "router.json"); }

/// Asked of experiments alone: runs were begun from the model beneath such gates, and go on.
const char* gates_of(const ModelFolder& folder) { return has_router(folder) ? "gates that a router chooses from" : nullptr; }

/// What a model has more than one of; null for one encoder that embeds every text alike.
const char* several_of(const ModelFolder& folder) {
    if (!folder.description) return nullptr;
    const ModelDescription& model = *folder.description;
    if (model.has_task_experts()) return "task experts";
    if (model.num_encoders > 1) return "an encoder a task";
    return model.adapters.empty() ? nullptr : "adapters a task";
}

/// What to do in the place of naming such a model; a router's export for one task has its gates all the same.
std::string instead_of(const ModelFolder& folder, std::string_view use) {
    return has_router(folder) ? fmt::format("{} the model that its gates were trained on", use)
                              : fmt::format("export one of its tasks (faceter export RUN DIR --task TASK) and {} that", use);
}

void refuse_several(const ModelFolder& folder, const char* several) {
    if (several)
        throw settings_error("{}: has {}, and a run starts from one model; {}", folder.folder.string(), several,
                             instead_of(folder, "start from"));
}

Json routing_of(std::int64_t experts, std::int64_t top_k, bool renormalise) {
    return {{"experts", experts}, {"top_k", top_k}, {"weights", renormalise ? "renormalised" : "raw"}};
}

/// Of token-routed blocks; an empty object where there are none.
Json routing_of(const ModelFolder& folder, const RoutedBlocks& released) {
    if (released.every > 0) {
        Json routing = routing_of(released.num_experts, released.top_k, released.renormalise);
        routing["placement"] = released.every == 1 ? "every" : released.every == 2 ? "every_other" : "another";
        return routing;
    }
    if (!folder.description || !folder.description->has_routed_blocks()) return Json::object();
    const auto& blocks = folder.description->blocks;
    const auto is_routed = [](const ModelDescription::BlockShape& block) { return block.routed_experts > 0; };
    const ModelDescription::BlockShape& first = *std::find_if(blocks.begin(), blocks.end(), is_routed);
    Json routing = routing_of(first.routed_experts, first.top_k, first.renormalise);
    routing["placement"] = std::all_of(blocks.begin(), blocks.end(), is_routed) ? "every" : "every_other";
    return routing;
}

/// Adapters that a release brings for its tasks, stacked in its weights or in folders of their own.
std::vector<std::string> adapters_of_tasks(const ModelFolder& folder) {
    if (folder.config.contains("lora_adaptations"))
        return json_or<std::vector<std::string>>(folder.config, "lora_adaptations", {}, "config.json");
    std::vector<std::string> names;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.folder, ignored))
        if (fs::exists(entry.path() / "adapter_config.json", ignored) && fs::exists(entry.path() / "adapter_model.safetensors", ignored))
            names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

StartModel looked_at(const std::string& name, const fs::path& relative_to, std::vector<std::string>& remarks) {
    ModelFolder folder = ModelFolder::open(resolve_named_model(name, relative_to));
    refuse_several(folder, gates_of(folder));
    check_start_model(folder);
    for (std::string& remark : check_model(folder)) remarks.push_back(std::move(remark));
    if (const auto adapters = adapters_of_tasks(folder); !adapters.empty())
        remarks.push_back(fmt::format("{}: a run starts from its weights without the adapters of its tasks ({})", folder.folder.string(),
                                      join(adapters, ", ")));
    const EncoderConfig config =
        EncoderConfig::from_json(folder.config, (folder.encoder_folder / "config.json").string(), folder.weights());
    Json routing = routing_of(folder, config.routed);
    const std::int64_t dim = folder.dense.empty() ? config.hidden_dim : folder.dense.back().out_features;
    return {std::move(folder), config, !routing.empty(), std::move(routing), dim, adapter_modules(config)};
}

const Tokenizer& tokenizer_of(StartModel& start) {
    if (start.tokenizer) return *start.tokenizer;
    start.tokenizer = load_model_tokenizer(start.files, start.config, (start.files.encoder_folder / "config.json").string());
    return *start.tokenizer;
}

/// Tokens that a run reads of a text.
std::size_t longest_of(const ResolvedRun& run, const StartModel& start) {
    const auto own = json_or<std::size_t>(run.settings, "max_length", 0, "settings");
    return own > 0 ? own : start.files.max_seq_length;
}

/// Errors (settings): a start model that the run's variant cannot begin with.
void check_variant(const ResolvedRun& run, const StartModel& start, const std::string& file) {
    if (run.dense_start && start.routes_tokens)
        throw settings_error(
            "{}: variant '{}' ({}) needs a dense start model, and {} has token-routed blocks; name a dense model under 'model', or use "
            "a variant that keeps such blocks (token_routed_moe, instruction)",
            file, run.variant, run.method, start.files.folder.string());
    if (!run.two_blocks.empty() && start.config.num_layers < 2 && !start.routes_tokens)
        throw settings_error(
            "{}: variant '{}' ({}) begins at the second block ({}), and {} has one; set another value, or name a model of two blocks or "
            "more",
            file, run.variant, run.method, run.two_blocks, start.files.folder.string());
}

/// Errors (settings): settings of new token-routed blocks, where the start model's own stay.
void check_routing(const ResolvedRun& run, const StartModel& start, const std::string& file) {
    if (!start.routes_tokens) return;
    for (const auto& [key, value] : run.of_dense_start.items()) {
        const Json own = json_or<Json>(start.routing, key, Json(), "routing");
        if (own == value) continue;
        throw settings_error(
            "{}: variants.{}.{} is {}, and {} has token-routed blocks, which stay as they are{}; leave it out, or name a dense model under "
            "'model'",
            file, run.variant, key, value.dump(), start.files.folder.string(), own.is_null() ? "" : fmt::format(" ({})", own.dump()));
    }
}

/// Errors (settings): layers that the variant's settings name, and the start model does not have.
void check_layers(const ResolvedRun& run, const StartModel& start, const std::string& file) {
    try {
        require_adapter_targets(run.layers, start.layers);
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("{}: variant '{}' ({}), on {}: {}", file, run.variant, run.method,
                                              start.files.folder.string(), error.what()));
    }
}

/// Errors (settings): lengths of texts and prefixes of embeddings beyond those of the model that the run starts from.
void check_recipes(const ResolvedRun& run, const StartModel& start, const std::string& file) {
    if (run.method == "start") return;
    const std::size_t longest = longest_of(run, start);
    for (const Json& recipe : recipes_of(run.settings)) {
        const auto name = json_or<std::string>(recipe, "name", "", "stages");
        const std::string where = name.empty() ? file : fmt::format("{}: stage '{}'", file, name);
        for (const char* key : {"query_length", "document_length"})
            if (const auto length = json_or<std::size_t>(training_of(recipe), key, 0, "training"); length > longest)
                throw settings_error("{}: training.{} is {}, beyond max_length, which is {} here; name {} or less, or leave it out", where,
                                     key, length, longest, longest);
        for (const auto dim : json_or<std::vector<std::int64_t>>(recipe.at("objective"), "matryoshka_dims", {}, "objective"))
            if (dim > start.dim)
                throw settings_error("{}: objective.matryoshka_dims has {}, but the embeddings of {} have {} elements", where, dim,
                                     start.files.folder.string(), start.dim);
    }
}

/// What a loss compares by, where the model is scored, served and released by another similarity.
std::optional<std::string> other_similarity(const ResolvedRun& run, const StartModel& start, const std::string& file) {
    if (run.method == "start") return std::nullopt;
    const std::string own(similarity_name(start.files.similarity));
    for (const Json& recipe : recipes_of(run.settings)) {
        if (!recipe.at("objective").contains("similarity")) continue;
        const auto trained = json_at<std::string>(recipe.at("objective"), "similarity", "objective");
        if (trained == own) continue;
        return fmt::format("{}: objective.similarity is {}, and {} is scored by {}; {}", file, trained, start.files.folder.string(), own,
                           own == "dot" ? "say similarity: dot to train it so" : "no objective trains by that");
    }
    return std::nullopt;
}

/// Errors (settings): a stage of masked-language modelling on a model without such a head, or whose tokenizer has nothing to mask with.
void check_masked_language(const ResolvedRun& run, StartModel& start, const std::string& file) {
    const auto is_masked = [](const Json& recipe) {
        return json_or<std::string>(recipe.at("objective"), "method", "", "objective") == "masked_language";
    };
    const auto recipes = recipes_of(run.settings);
    if (start.masks || run.method == "start" || std::none_of(recipes.begin(), recipes.end(), is_masked)) return;
    const std::string where = fmt::format("{}: objective masked_language on {}", file, start.files.folder.string());
    const LanguageHead* head = language_head(start.files.model_type);
    if (!head)
        throw settings_error("{}: a model of type {} has no head for masked-language modelling; {} have", where,
                             faceter::quoted(start.files.model_type), families_with_language_head);
    const std::string name = (start.files.encoder_folder / "config.json").string();
    const Weights weights = start.files.weights();
    const bool tied = json_or<bool>(start.files.config, "tie_word_embeddings", true, name);
    if (!tied && weights.find(head->dense + ".weight") && weights.find(head->decoder))
        throw settings_error(
            "{}: its decoder {} is not tied to the word embeddings (tie_word_embeddings: false), which is not supported; remove the head's "
            "tensors to start with a fresh one",
            where, head->decoder);
    if (tokenizer_of(start).special().mask < 0)
        throw settings_error(
            "{}: its tokenizer has no mask token, which masked-language modelling needs; name one as mask_token in its "
            "tokenizer_config.json",
            where);
    start.masks = true;
}

/// Errors (settings): a length that leaves nothing of a text but the special tokens around it.
void check_room(const ResolvedRun& run, StartModel& start, const std::string& file) {
    const auto check = [&](const std::string& where, const Json& owner, const char* key) {
        const auto limit = json_or<std::size_t>(owner, key, 0, file);
        if (limit == 0 || limit > most_special) return;
        if (const std::size_t special = tokenizer_of(start).num_special(); limit <= special)
            throw settings_error("{}{} is {}, and {} special tokens stand around each text, which leaves nothing of it; name more", where,
                                 key, limit, special);
    };
    check(file + ": ", run.settings, "max_length");
    if (run.method == "start") return;
    for (const Json& recipe : recipes_of(run.settings)) {
        const auto name = json_or<std::string>(recipe, "name", "", "stages");
        const std::string where = fmt::format("{}: {}training.", file, name.empty() ? "" : fmt::format("stage '{}': ", name));
        for (const char* key : {"query_length", "document_length"}) check(where, training_of(recipe), key);
    }
}

/// Errors (settings): an analysis of stored forms shall cut embeddings to more elements than they have.
void check_analyses(const ResolvedRun& run, const StartModel& start, const std::string& file) {
    const Json analyses = json_or<Json>(run.settings, "analyses", Json::array(), "settings");
    for (std::size_t i = 0; i < analyses.size(); ++i) {
        if (json_at<std::string>(analyses[i], "method", "analysis") != "embedding_forms") continue;
        const Json forms = builtin_settings(ExtensionKind::analysis, "embedding_forms", analyses[i]);
        for (const auto prefix : json_at<std::vector<std::int64_t>>(forms, "prefixes", "analysis"))
            if (prefix > start.dim)
                throw settings_error("{}: analyses[{}].prefixes has {}, but the embeddings of {} have {} elements", file, i, prefix,
                                     start.files.folder.string(), start.dim);
    }
}

/// A model that judges or guides: `guides` a loss, which asks it for texts of the tasks that train.
struct Teacher {
    std::string name;
    bool guides = false;
    std::set<std::string> tasks{};  ///< whose texts a guide embeds
    auto operator<=>(const Teacher&) const = default;
};

/// The tasks with training data that a recipe trains.
std::set<std::string> trained_by(const Json& recipe, const Json& tasks) {
    std::set<std::string> trained;
    for (const auto& [name, task] : tasks.items())
        if (!task.at("train").empty() && trains(recipe, name)) trained.insert(name);
    return trained;
}

/// Of the objectives, curricula, filters and minings of a run's stages.
std::vector<Teacher> teachers_of(const Json& settings) {
    std::vector<Teacher> teachers;
    const std::set<std::string> none;
    for (const Json& recipe : recipes_of(settings))
        for (const std::string part : {"objective", "curriculum", "filter", "mine"})
            if (recipe.contains(part) && recipe[part].is_object())
                if (const auto name = json_or<std::string>(recipe[part], "teacher", "", part); !name.empty())
                    teachers.push_back({name, part == "objective", part == "objective" ? trained_by(recipe, settings.at("tasks")) : none});
    return teachers;
}

bool alike(const ModelDescription::RouteShape& a, const ModelDescription::RouteShape& b) {
    return a.instruction == b.instruction && a.encoder == b.encoder && a.expert == b.expert && a.adapter == b.adapter;
}

/// Errors (settings): a run as guide shall embed texts of a task that it does not know, and the tasks of the run that it knows show no one
/// way to do it.
void check_guide(const ModelFolder& folder, const Teacher& teacher, const Json& tasks) {
    if (!folder.description) return;
    std::set<std::string> unknown = teacher.tasks;
    std::vector<const ModelDescription::TaskShape*> known;
    for (const ModelDescription::TaskShape& task : folder.description->tasks) {
        unknown.erase(task.name);
        if (tasks.contains(task.name)) known.push_back(&task);
    }
    if (unknown.empty()) return;
    const std::string instead = fmt::format("give that task the name of one that it knows, or {}", instead_of(folder, "name"));
    if (const char* several = known.empty() ? several_of(folder) : nullptr)
        throw settings_error("{}: has {}, and knows nothing of task '{}', whose texts a loss asks it for; {}", folder.folder.string(),
                             several, *unknown.begin(), instead);
    for (const ModelDescription::TaskShape* task : known)
        if (!alike(task->query, known.front()->query) || !alike(task->document, known.front()->document))
            throw settings_error(
                "{}: embeds texts of task '{}' otherwise than those of '{}', and knows nothing of '{}', whose texts a loss asks it for; {}",
                folder.folder.string(), known.front()->name, task->name, *unknown.begin(), instead);
}

void check_teacher(const Teacher& teacher, const Json& tasks, const fs::path& relative_to) {
    const std::string& name = teacher.name;
    try {
        const ModelFolder folder = ModelFolder::open(resolve_named_model(name, relative_to));
        const char* several = gates_of(folder);
        if (!several && !teacher.guides) several = several_of(folder);
        if (several)
            throw settings_error("{}: has {}, and a teacher is one model; {}", folder.folder.string(), several, instead_of(folder, "name"));
        if (teacher.guides) check_guide(folder, teacher, tasks);
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("teacher {}: {}", faceter::quoted(name), error.what()));
    }
}

}  // namespace

void check_start_model(const ModelFolder& folder) { refuse_several(folder, several_of(folder)); }

std::size_t most_tokens(const ModelFolder& folder, const EncoderConfig& config) {
    const auto positions = static_cast<std::size_t>(config.length_limit);
    const bool is_table = config.max_positions > 0;
    return positions == 0 || is_table ? positions : std::max(positions, folder.max_seq_length);
}

void check_max_length(const Json& settings, const ModelFolder& folder, const EncoderConfig& config, const std::string& name) {
    const auto longest = json_or<std::size_t>(settings, "max_length", 0, name);
    if (const std::size_t most = most_tokens(folder, config); most > 0 && longest > most)
        throw settings_error("{}: max_length is {}, and the model in {} takes at most {} tokens; name {} or less, or leave it out", name,
                             longest, folder.folder.string(), most, most);
}

std::vector<std::string> check_start_models(const Experiment& experiment) {
    std::vector<std::string> remarks;
    std::map<std::string, StartModel> seen;
    std::set<Teacher> teachers;
    for (const ResolvedRun& run : experiment.runs()) {
        const std::string name = run.settings["model"];
        for (const Teacher& teacher : teachers_of(run.settings))
            if (teachers.insert(teacher).second)
                check_teacher(teacher, run.settings.at("tasks"), absolute_path(experiment.file()).parent_path());
        if (!seen.contains(name)) seen[name] = looked_at(name, absolute_path(experiment.file()).parent_path(), remarks);
        check_max_length(run.settings, seen[name].files, seen[name].config, experiment.file().string());
        check_room(run, seen[name], experiment.file().string());
        check_variant(run, seen[name], experiment.file().string());
        check_routing(run, seen[name], experiment.file().string());
        check_layers(run, seen[name], experiment.file().string());
        check_recipes(run, seen[name], experiment.file().string());
        check_masked_language(run, seen[name], experiment.file().string());
        check_analyses(run, seen[name], experiment.file().string());
        if (const auto remark = other_similarity(run, seen[name], experiment.file().string());
            remark && std::find(remarks.begin(), remarks.end(), *remark) == remarks.end())
            remarks.push_back(*remark);
        for (std::string& remark : instructions_without_room(
                 run, longest_of(run, seen[name]), [&]() -> const Tokenizer& { return tokenizer_of(seen[name]); },
                 experiment.file().string()))
            if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) remarks.push_back(std::move(remark));
    }
    return remarks;
}

}  // namespace faceter
