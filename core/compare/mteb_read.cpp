#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "compare/mteb_results.h"
#include "experiment/suite.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_file_bytes = 16 << 20;
constexpr std::size_t max_files = 20'000, max_name = 200, max_subsets = 2000;
constexpr int max_depth = 8;

/// Python writes NaN and Infinity, which JSON does not have: they become null where they stand outside of texts.
std::string strict_json(std::string_view text) {
    std::string strict;
    strict.reserve(text.size());
    bool in_text = false;
    for (std::size_t i = 0; i < text.size();) {
        if (in_text && text[i] == '\\' && i + 1 < text.size()) {
            strict.append(text.substr(i, 2));
            i += 2;
            continue;
        }
        if (text[i] == '"') in_text = !in_text;
        bool replaced = false;
        for (const std::string_view word : {std::string_view("NaN"), std::string_view("-Infinity"), std::string_view("Infinity")})
            if (!in_text && !replaced && text.substr(i).starts_with(word)) {
                strict += "null";
                i += word.size();
                replaced = true;
            }
        if (!replaced) strict += text[i++];
    }
    return strict;
}

std::string checked_name(const Json& value, const char* what, const std::string& file) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty() || value.get_ref<const std::string&>().size() > max_name)
        throw data_error("{}: {} must be a text of 1 to {} bytes", file, what, max_name);
    const std::string name = value;
    if (!is_valid_utf8(name) ||
        std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
        throw data_error("{}: {} holds a control character or is not valid UTF-8", file, what);
    return name;
}

struct SubsetScores {
    std::string name;
    std::map<std::string, double> measures{};
    std::set<std::string> not_numbers{};  ///< measures that are NaN
    bool operator==(const SubsetScores&) const = default;
    bool has(const std::string& measure) const { return measures.contains(measure) || not_numbers.contains(measure); }
};

/// One subset's scores under our names, as fractions; what is no score (thresholds, lists, times) is left out.
SubsetScores subset_of(std::string name, const Json& scores) {
    static const std::map<std::string, std::string> groups{{"cos_sim", "cosine"},      {"dot", "dot"}, {"euclidean", "euclidean"},
                                                           {"manhattan", "manhattan"}, {"max", "max"}, {"similarity", "similarity"}};
    SubsetScores subset{std::move(name)};
    const auto take = [&](const std::string& measure, const Json& value) {
        if (measure.size() > max_name) return;
        if (value.is_null()) subset.not_numbers.insert(measure);
        if (value.is_number() && std::abs(value.get<double>()) <= 1.0 + 1e-6) subset.measures[measure] = value.get<double>();
    };
    for (const auto& [measure, value] : scores.items()) {
        if (measure == "evaluation_time" || measure.find("threshold") != std::string::npos) continue;
        const auto group = groups.find(measure);
        if (group != groups.end() && value.is_object()) {
            for (const auto& [inner, number] : value.items())  // before 1.11: {"cos_sim": {"spearman": ...}}
                if (inner.find("threshold") == std::string::npos) take(group->second + "_" + inner, number);
        } else {
            take(measure, value);
        }
    }
    return subset;
}

std::string guess_type(const SubsetScores& subset) {
    const auto has = [&](const char* measure) { return subset.has(measure); };
    if (has("ndcg_at_10")) return "retrieval";
    if (has("v_measure")) return "clustering";
    if (has("map") && has("mrr")) return "reranking";
    if (has("cosine_ap") || has("max_ap")) return "pair_classification";
    if (has("cosine_spearman")) return has("dot_spearman") ? "summarisation" : "sts";
    if (has("lrap")) return "multilabel_classification";
    if (has("accuracy") && has("f1"))  // version 2 has precision and recall of classifications too
        return has("precision") && has("recall") && !has("f1_weighted") ? "bitext_mining" : "classification";
    return "other";
}

std::string main_measure(const std::string& type) {
    const std::string_view metric = score_metric(type);
    return std::string(metric.empty() ? "main_score" : metric);
}

bool is_scores(const Json& object) {
    for (const auto& [name, value] : object.items())
        if ((value.is_number() || value.is_null()) && name != "evaluation_time") return true;
    return object.contains("cos_sim");
}

/// A subset that was scored twice would count twice in the mean; files that were merged have some again.
void add_once(std::vector<SubsetScores>& subsets, SubsetScores one, const std::string& file) {
    const auto same = std::find_if(subsets.begin(), subsets.end(), [&](const SubsetScores& before) { return before.name == one.name; });
    if (same == subsets.end())
        subsets.push_back(std::move(one));
    else if (*same != one)
        throw data_error("{}: subset {} stands twice in a split, with different scores; remove the one that does not count", file,
                         faceter::quoted(one.name));
}

/// {"test": [{hf_subset, main_score, ...}]}; before 1.11 {"test": {...}} or {"test": {"en": {...}}}.
std::vector<SubsetScores> read_split(const Json& split, const std::string& file) {
    std::vector<SubsetScores> subsets;
    if (split.is_array()) {
        if (split.size() > max_subsets) throw data_error("{}: more than {} subsets", file, max_subsets);
        for (const Json& one : split) {
            if (!one.is_object() || !one.contains("hf_subset"))
                throw data_error("{}: an entry of 'scores' is no object with 'hf_subset'", file);
            add_once(subsets, subset_of(checked_name(one["hf_subset"], "hf_subset", file), one), file);
        }
    } else if (split.is_object() && is_scores(split)) {
        subsets.push_back(subset_of("default", split));
    } else if (split.is_object()) {
        if (split.size() > max_subsets) throw data_error("{}: more than {} subsets", file, max_subsets);
        for (const auto& [name, one] : split.items())
            if (one.is_object()) subsets.push_back(subset_of(checked_name(name, "a subset", file), one));
    }
    if (subsets.empty()) throw data_error("{}: a split of 'scores' has no scores", file);
    return subsets;
}

struct TaskFile {
    std::string task, version, revision;
    std::map<std::string, Json> splits;
};

TaskFile open_task(const Json& json, const std::string& file) {
    if (!json.is_object()) throw data_error("{}: not a JSON object; a result file of MTEB is expected", file);
    TaskFile task;
    const auto text = [&](const char* key) {
        return json.contains(key) && json[key].is_string() ? json[key].get<std::string>().substr(0, max_name) : std::string();
    };
    task.version = text("mteb_version");
    task.revision = text("dataset_revision");
    if (json.contains("task_name")) {
        task.task = checked_name(json["task_name"], "task_name", file);
        if (!json.contains("scores") || !json["scores"].is_object()) throw data_error("{}: 'scores' is missing or no object", file);
        for (const auto& [split, scores] : json["scores"].items()) task.splits[split] = scores;
    } else if (json.contains("mteb_dataset_name")) {
        task.task = checked_name(json["mteb_dataset_name"], "mteb_dataset_name", file);
        for (const auto& [split, scores] : json.items())
            if (scores.is_object()) task.splits[split] = scores;
    } else {
        throw data_error("{}: neither 'task_name' nor 'mteb_dataset_name'; a result file of MTEB is expected", file);
    }
    if (task.splits.empty()) throw data_error("{}: no split has scores", file);
    return task;
}

/// The split that the suite scores where the file has it, else another, with a note.
std::string chosen_split(const TaskFile& task, const SuiteSet* set, const std::string& file, std::vector<std::string>& notes) {
    const std::string wanted = set ? set->entry.value("split", std::string("test")) : "test";
    if (task.splits.contains(wanted)) return wanted;
    const std::string taken = task.splits.contains("test") ? "test" : task.splits.begin()->first;
    if (set)
        notes.push_back(
            fmt::format("{}: {} is scored on its split {} here, and this score is of {}", file, set->name, wanted, faceter::quoted(taken)));
    return taken;
}

/// What is said where the suite's subsets are not those of the score; a file without languages has one subset, "default".
std::string note_on_subsets(const std::vector<SubsetScores>& taken, const Json& wanted, const std::string& file, const std::string& set) {
    std::vector<std::string> names;
    for (const SubsetScores& one : taken) names.push_back(one.name);
    const auto expected = wanted.get<std::vector<std::string>>();
    const auto is_taken = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    if (names == std::vector<std::string>{"default"} || std::all_of(expected.begin(), expected.end(), is_taken)) return "";
    return fmt::format("{}: {} is scored on {} here, and this score is of {}", file, set, join(expected, ", "),
                       faceter::quoted(join(names, ", "), 100));
}

/// The suite's subsets where the file has them, else all, with a note.
void choose(std::vector<SubsetScores>& subsets, const SuiteSet* set, const std::string& file, std::vector<std::string>& notes) {
    const Json wanted = set ? set->entry.value("subsets", Json::array()) : Json::array();
    std::vector<SubsetScores> kept;
    for (const SubsetScores& one : subsets)
        if (std::find(wanted.begin(), wanted.end(), Json(one.name)) != wanted.end()) kept.push_back(one);
    if (!kept.empty()) subsets = std::move(kept);
    if (set)
        if (const std::string note = note_on_subsets(subsets, wanted, file, set->name); !note.empty()) notes.push_back(note);
}

/// The measure that counts. Of a task that no suite of ours knows it is MTEB's main score, whatever the file's measures look like:
/// version 2 keeps rerankings as it keeps retrieval, and only main_score says that map_at_1000 counts.
std::string counting_measure(const std::string& type, const SuiteSet* set, const std::map<std::string, double>& measures) {
    const std::string usual = main_measure(type);
    const auto main = measures.find("main_score"), own = measures.find(usual);
    const bool is_main = own != measures.end() && main != measures.end() && std::abs(own->second - main->second) < 1e-9;
    return set || main == measures.end() || is_main ? usual : "main_score";
}

/// Nothing where it is NaN.
std::optional<double> main_score(const SubsetScores& subset, const std::string& metric, const std::string& file) {
    for (const std::string& name : {metric, std::string("main_score")})
        if (const auto found = subset.measures.find(name); found != subset.measures.end()) return found->second;
    if (subset.not_numbers.contains(metric) || subset.not_numbers.contains("main_score")) return {};
    throw data_error("{}: subset {} has neither {} nor main_score as a fraction between -1 and 1", file, faceter::quoted(subset.name),
                     metric);
}

Json percent_of(const std::map<std::string, double>& measures, const std::string& type) {
    Json metrics = Json::object();
    for (const auto& [name, value] : measures) {
        if (name == "main_score") continue;
        const bool is_label_measure = type == "classification" || type == "multilabel_classification";
        metrics[is_label_measure && name == "f1"            ? "macro_f1"
                : is_label_measure && name == "f1_weighted" ? "weighted_f1"
                                                            : name] = 100 * value;
    }
    return metrics;
}

/// In our form (EvaluationResult::to_json); nothing, with a note, where a subset's score is NaN.
std::optional<Json> result_from(const TaskFile& task, const std::string& file, std::vector<std::string>& notes) {
    const SuiteSet* set = set_by_mteb_name(task.task);
    const std::string split = chosen_split(task, set, file, notes);
    std::vector<SubsetScores> subsets = read_split(task.splits.at(split), file);
    choose(subsets, set, file, notes);
    const std::string type = set ? set->task_type : guess_type(subsets.front());
    const std::string metric = counting_measure(type, set, subsets.front().measures);
    double sum = 0;
    Json parts = Json::array();
    for (const SubsetScores& one : subsets) {
        const std::optional<double> score = main_score(one, metric, file);
        if (!score) {
            notes.push_back(fmt::format("{}: the score of subset {} is no number (NaN); {} is left out", file, faceter::quoted(one.name),
                                        set ? set->name : task.task));
            return {};
        }
        sum += *score;
        parts.push_back({{"name", one.name}, {"score", 100 * *score}, {"n", 0}, {"metrics", percent_of(one.measures, type)}});
    }
    Json result = {{"name", set ? set->name : task.task},
                   {"task_type", type},
                   {"task", ""},
                   {"metric", metric},
                   {"score", 100 * sum / static_cast<double>(subsets.size())},
                   {"n", 0},
                   {"metrics", subsets.size() == 1 ? parts[0]["metrics"] : Json::object()},
                   {"draws", Json::array()},
                   {"per_example", Json::array()},
                   {"settings",
                    {{"imported_from", "MTEB"},
                     {"mteb_task", task.task},
                     {"split", split},
                     {"mteb_version", task.version},
                     {"dataset_revision", task.revision}}}};
    if (subsets.size() > 1) result["subsets"] = parts;
    return result;
}

std::vector<fs::path> json_files(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error))
        throw data_error("{}: no such folder; a folder with result files of MTEB is expected", folder.string());
    std::vector<fs::path> files;
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (it.depth() >= max_depth || it->path().filename().string().starts_with('.')) it.disable_recursion_pending();
        if (it->path().extension() != ".json" || !it->is_regular_file(ignored) || it->path().filename() == "model_meta.json") continue;
        if (files.size() == max_files)
            throw data_error("{}: more than {} result files; import the models' folders one by one", folder.string(), max_files);
        files.push_back(it->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

using ModelKey = std::pair<std::string, std::string>;  // name and revision

/// What model_meta.json says; nothing where there is none, or none with a name.
std::optional<Json> card_of(const fs::path& folder) {
    const fs::path meta = folder / "model_meta.json";
    std::error_code ignored;
    if (!fs::is_regular_file(meta, ignored)) return {};
    Json card = parse_untrusted_json(strict_json(read_file(meta, max_file_bytes)));
    if (!card.is_object() || !card.contains("name")) throw data_error("{}: no JSON object with 'name'", meta.string());
    if (card["name"].is_null()) return {};
    return card;
}

std::string checked_folder_name(const fs::path& folder) {
    return checked_name(folder.filename().string(), "the folder's name", folder.string());
}

/// <model>/<revision> or, in older results, <model>.
ModelKey key_by_folders(const fs::path& root, const fs::path& folder) {
    const auto readable = [](const fs::path& path) {
        std::string name = checked_folder_name(path);
        if (const auto at = name.find("__"); at != std::string::npos) name.replace(at, 2, "/");
        return name;
    };
    if (folder == root || folder.parent_path() == root) return {readable(folder), ""};
    return {readable(folder.parent_path()), checked_folder_name(folder)};
}

/// One that ran with settings of its own, as a truncated dimension, is another model.
ModelKey as_experiment(const ModelKey& model, const fs::path& folder) {
    return {fmt::format("{} ({})", model.first, checked_folder_name(folder)), model.second};
}

bool is_below(const fs::path& folder, const fs::path& root) {
    const fs::path way = folder.lexically_relative(root);
    return !way.empty() && way != "." && *way.begin() != "..";
}

/// results/<model>/<revision>/<task>.json with model_meta.json; version 2 has <revision>/experiments/<settings>/<task>.json as well, where
/// model_meta.json names the plain model.
ModelKey model_of(const fs::path& root, const fs::path& folder) {
    if (const std::optional<Json> card = card_of(folder)) {
        const std::string file = (folder / "model_meta.json").string();
        const Json revision = card->value("revision", Json()), settings = card->value("experiment_kwargs", Json());
        const bool has_revision = revision.is_string() && !revision.get_ref<const std::string&>().empty();
        const ModelKey model{checked_name(card->at("name"), "name", file), has_revision ? checked_name(revision, "revision", file) : ""};
        return settings.is_object() && !settings.empty() ? as_experiment(model, folder) : model;
    }
    const fs::path plain = folder.parent_path().parent_path();
    const bool is_experiment = folder.parent_path().filename() == "experiments" && (is_below(plain, root) || card_of(plain));
    return is_experiment ? as_experiment(model_of(root, plain), folder) : key_by_folders(root, folder);
}

bool is_ours(const Json& result) {
    return result.at("settings").at("dataset_revision").get_ref<const std::string&>().starts_with("faceter:");
}

/// Scores of other protocols stand in one column with ours all the same.
void note_other_protocols(ImportedModel& model) {
    std::map<std::string, std::vector<std::string>> names_by_difference;
    for (const Json& result : model.results)
        if (const SuiteSet* set = set_by_name(result.at("name").get<std::string>()); set && !set->differs.empty() && !is_ours(result))
            names_by_difference[set->differs].push_back(set->name);
    for (const auto& [difference, names] : names_by_difference)
        model.notes.push_back(fmt::format("{}: {} {} scored otherwise here than by mteb: {}; hold these scores against those of mteb alone",
                                          model.model, join(names, ", "), names.size() == 1 ? "is" : "are", difference));
}

}  // namespace

std::vector<ImportedModel> read_mteb_results(const fs::path& given) {
    fs::path root = absolute_path(given);
    if (root.filename().empty()) root = root.parent_path();
    std::map<ModelKey, ImportedModel> models;
    std::map<ModelKey, std::set<std::string>> names;
    for (const fs::path& file : json_files(root)) {
        const std::string text = read_file(file, max_file_bytes);
        const Json json = parse_untrusted_json(strict_json(text));
        if (json.is_discarded()) throw data_error("{}: not valid JSON; a result file of MTEB is expected", file.string());
        const auto key = model_of(root, file.parent_path());
        ImportedModel& model = models[key];
        model.model = key.first;
        model.revision = key.second;
        model.fingerprint = hash128(model.fingerprint + hash128(text).hex()).hex();
        ++model.num_files;
        std::optional<Json> result = result_from(open_task(json, file.string()), file.string(), model.notes);
        if (!result) continue;
        const std::string name = result->at("name");
        if (!names[key].insert(name).second)
            model.notes.push_back(fmt::format("{}: {} has another result of {}; this one is left out", file.string(), key.first, name));
        else
            model.results.push_back(std::move(*result));
    }
    if (models.empty()) throw data_error("{}: holds no .json file; a folder with result files of MTEB is expected", root.string());
    std::vector<ImportedModel> all;
    std::vector<std::string> left_out;  // of models without a score
    for (auto& [key, model] : models) {
        note_other_protocols(model);
        if (model.results.empty())
            left_out.insert(left_out.end(), model.notes.begin(), model.notes.end());
        else
            all.push_back(std::move(model));
    }
    if (all.empty()) throw data_error("{}: none of its scores is a number: {}", root.string(), join(left_out, "; "));
    all.front().notes.insert(all.front().notes.begin(), left_out.begin(), left_out.end());
    return all;
}

}  // namespace faceter
