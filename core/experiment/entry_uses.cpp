#include "experiment/entry_uses.h"

#include <algorithm>
#include <span>

#include "common/error.h"
#include "data/debian_views.h"
#include "data/settings.h"
#include "experiment/recipes.h"
#include "settings/check.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

struct Unread {
    const char *setting, *reason;
    bool (*of)(const Json& entry) = [](const Json&) { return true; };  ///< of a whole entry
};

std::string word_of(const Json& entry, const char* setting) { return json_or<std::string>(entry, setting, "", "data entry"); }
std::string source_of(const Json& entry) { return word_of(entry, "source"); }

bool is_file(const Json& entry) { return source_of(entry) == "file"; }
bool is_folder(const Json& entry) { return source_of(entry) == "folder"; }
bool is_not_folder(const Json& entry) { return !is_folder(entry); }
bool is_debian(const Json& entry) { return source_of(entry).starts_with("debian"); }
bool is_not_debian(const Json& entry) { return !is_debian(entry); }
bool is_of_one_task(const Json& entry) { return is_file(entry) || is_folder(entry) || source_of(entry) == "debian"; }

/// How data are scored, where the entry alone tells.
std::string scored_as(const Json& entry) {
    const std::string task = word_of(entry, "task"), format = word_of(entry, "format"), view = word_of(entry, "view");
    if (!task.empty()) return task;
    if (is_file(entry) && !format.empty()) return format == "labelled" ? "clustering" : "retrieval";
    for (const DebianView& known : debian_views())
        if (is_debian(entry) && known.name == view) return known.task;
    return "";
}
bool is_scored_as_retrieval(const Json& entry) { return scored_as(entry) == "retrieval"; }
bool is_scored_otherwise(const Json& entry) { return !scored_as(entry).empty() && !is_scored_as_retrieval(entry); }

/// The records of a folder's layout, and those of a file without a format, tell when they are looked at.
bool has_no_pairs(const Json& entry) {
    const std::string format = word_of(entry, "format");
    return is_debian(entry) || source_of(entry) == "natural_instructions" ||
           (is_file(entry) && (format == "labelled" || format == "texts"));
}

constexpr const char* of_debian = "it is of the sources debian and debian_leaves";
constexpr const char* of_scored_retrieval = "it is of retrieval sets that are scored; max_examples limits training data";

constexpr Unread of_some_sources[] = {
    {"split", "a file has no parts; name the file of the part that is meant", is_file},
    {"view", of_debian, is_not_debian},
    {"sections", of_debian, is_not_debian},
    {"other_documents", of_debian, is_not_debian},
    {"min_examples", "it is of sources of many tasks (debian_leaves, medi, natural_instructions)", is_of_one_task},
    {"labels", "it chooses pairs by the label of their records, and these data are no such pairs", has_no_pairs},
};

constexpr const char* own_instructions = "say instructions: {query: ..., document: ...}, or give the task instructions";

constexpr const char* of_texts = "it is of the texts of an analysis; max_examples limits other data";

constexpr Unread of_training[] = {
    {"subsets",
     "it chooses the languages or other parts that are scored, and all that the data set has are trained on; name the folder or "
     "file of the part that is meant"},
    {"as", "it says whose instruction and expert texts get that are scored; training data are their task's"},
    {"role", "it is of texts that are scored"},
    {"query_instruction", own_instructions},
    {"document_instruction", own_instructions},
    {"max_documents", of_scored_retrieval},
    {"max_queries", of_scored_retrieval},
    {"exclude_same_id", "it is of retrieval sets that are scored"},
    {"examples_per_label", "it is of classification sets that are scored; max_examples limits training data"},
    {"count", of_texts},
};
constexpr const char* of_retrieval = "it is of retrieval sets; max_examples limits others";

constexpr Unread of_scores[] = {
    {"instructions",
     "it is of training data; what stands in front of texts that are scored is their task's, or query_instruction and "
     "document_instruction of the entry"},
    {"count", of_texts},
    {"subsets", "it chooses languages or other parts of a folder; name the file of the part that is meant", is_not_folder},
    {"labels", "of a folder that is scored all records count; it chooses training pairs, and those of a file", is_folder},
    {"max_examples", "a retrieval set is limited by max_queries and max_documents", is_scored_as_retrieval},
    {"max_queries", of_retrieval, is_scored_otherwise},
    {"max_documents", of_retrieval, is_scored_otherwise},
};
constexpr Unread of_validation[] = {{"as", "validation data are scored as their own task"}};

void check(const Json& owner, const char* key, const std::string& where, std::span<const Unread> unread, const std::string& file) {
    static const Json defaults = defaults_of(data_entry_schema());
    const Json entries = json_or<Json>(owner, key, Json::array(), where);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Json entry = whole_entry(entries[i]);
        const auto refuse = [&](std::span<const Unread> settings) {
            for (const auto& [setting, reason, of] : settings)
                if (of(entry) && json_or<Json>(entries[i], setting, defaults.at(setting), where) != defaults.at(setting))
                    throw settings_error("{}: {}.{}[{}].{} has no effect: {}", file, where, key, i, setting, reason);
        };
        refuse(unread);
        refuse(of_some_sources);
    }
}

bool is_scored(const Json& recipe) { return json_at<std::int64_t>(training_of(recipe), "evaluate_every_steps", "training") > 0; }

/// Some run of the experiment, or a stage of it, is scored during training, or would be where its stages did not say otherwise.
bool is_any_scored(const Experiment& experiment) {
    return std::any_of(experiment.runs().begin(), experiment.runs().end(), [](const ResolvedRun& run) {
        const std::vector<Json> recipes = recipes_of(run.settings);
        return run.method != "start" && (is_scored(run.settings) || std::any_of(recipes.begin(), recipes.end(), is_scored));
    });
}

bool names_sets(const Json& recipe) {
    const Json& training = recipe.at("training");
    return training.is_object() && !json_or<Json>(training, "evaluate_datasets", Json::array(), "training").empty();
}

void check_scored_sets(const Experiment& experiment) {
    const auto names = [](const ResolvedRun& run) {
        const Json& stages = run.settings.at("stages");
        return names_sets(run.settings) || std::any_of(stages.begin(), stages.end(), names_sets);
    };
    if (std::none_of(experiment.runs().begin(), experiment.runs().end(), names) || is_any_scored(experiment)) return;
    throw settings_error(
        "{}: training.evaluate_datasets needs training.evaluate_every_steps, which is 0: nothing is scored during training; set it, or "
        "leave evaluate_datasets out",
        experiment.file().string());
}

}  // namespace

void check_entry_uses(const Experiment& experiment) {
    const std::string file = experiment.file().string();
    for (const ResolvedRun& run : experiment.runs()) {
        for (const auto& [name, task] : run.settings.at("tasks").items()) {
            check(task, "train", "tasks." + name, of_training, file);
            check(task, "validation", "tasks." + name, of_scores, file);
            check(task, "validation", "tasks." + name, of_validation, file);
        }
        check(run.settings.at("evaluation"), "datasets", "evaluation", of_scores, file);
    }
    check_scored_sets(experiment);
}

}  // namespace faceter
