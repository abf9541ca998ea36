#include "experiment/suite.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "common/error.h"
#include "common/strings.h"
#include "data/evaluation_set.h"
#include "data/settings.h"
#include "experiment/machine.h"
#include "settings/check.h"

namespace faceter {
namespace {

constexpr int deepest_extension = 8;
constexpr std::size_t shown_revision = 12;

/// Settings of a data entry that a suite may give; the others say where data lie, which is not its business.
constexpr std::array<std::string_view, 12> entry_keys{
    "split", "max_examples", "max_documents",     "max_queries",         "on_error", "exclude_same_id", "examples_per_label", "subsets",
    "as",    "role",         "query_instruction", "document_instruction"};
constexpr std::array<std::string_view, 4> routing_keys{"as", "role", "query_instruction", "document_instruction"};
constexpr std::string_view usual_split = "test";  // that of data entries
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> score_metrics{{{"retrieval", "ndcg_at_10"},
                                                                                      {"reranking", "map"},
                                                                                      {"classification", "accuracy"},
                                                                                      {"multilabel_classification", "accuracy"},
                                                                                      {"clustering", "v_measure"},
                                                                                      {"sts", "cosine_spearman"},
                                                                                      {"pair_classification", "cosine_ap"},
                                                                                      {"summarisation", "cosine_spearman"},
                                                                                      {"bitext_mining", "f1"}}};

template <typename Keys>
std::vector<Field> entry_fields(const Keys& keys) {
    std::vector<Field> fields;
    for (const std::string_view key : keys) fields.push_back(*data_entry_schema().find(key));
    return fields;
}

std::vector<std::string> task_types() { return {evaluation_task_types.begin(), evaluation_task_types.end()}; }

/// How data sets are scored: of one, or of a task type.
std::vector<Field> protocol_fields() {
    return {text("metric", "", "What the score is; only what is computed for the task type here."),
            text("differs", "", "In what version 2 of the mteb package scores it otherwise.")};
}

Schema part_schema() {
    return {"part",
            "One of the data sets of which a score is the mean.",
            {text("get", "", "Which data set to get.").must(), text("revision", "", "The commit of it.").must()}};
}

Schema set_schema() {
    Schema schema{"data set",
                  "A data set of the suite.",
                  {
                      text("name", "", "Our name, as tables show it.").must(),
                      text("mteb", "", "Its name in MTEB's results."),
                      choice("type", task_types(), "", "How it is scored.").must(),
                      list("folders", text("", "", "A name."), "Other names that its folder may have."),
                      text("get", "", "Which data set to get."),
                      text("revision", "", "The commit of it that MTEB's scores are of."),
                      list("parts", section("", part_schema(), "A part."), "Data sets of which its score is the mean, in sub-folders."),
                  }};
    for (Field& field : protocol_fields()) schema.fields.push_back(std::move(field));
    for (Field& field : entry_fields(entry_keys)) schema.fields.push_back(std::move(field));
    return schema;
}

Schema suite_schema() {
    Schema routing{"task type", "What the data sets of a task type get, unless one says otherwise.", entry_fields(routing_keys)};
    for (Field& field : protocol_fields()) routing.fields.push_back(std::move(field));
    routing.fields.push_back(text("split", "", "The part that is scored."));
    return {"suite",
            "A suite of evaluation data sets.",
            {
                text("name", "", "Identifier.").must(),
                text("title", "", "For headings; default: the name."),
                text("description", "", "One line."),
                text("get", "", "Where its data come from in general."),
                text("extends", "", "Another suite whose data sets are taken over."),
                list("types", choice("", task_types(), "", "A task type."), "Of these, only data sets of these task types; empty: all."),
                list("leave_out", text("", "", "A name."), "Of these, all but the data sets of these names."),
                map("tasks", section("", routing, "A task type."), "Task type -> task, role and instructions of its data sets."),
                list("datasets", section("", set_schema(), "A data set."), "The suite's own data sets."),
            }};
}

bool contains(const Json& list, const std::string& name) { return std::find(list.begin(), list.end(), Json(name)) != list.end(); }

/// However it is written.
bool is_among(const Json& list, const SuiteSet& set) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Json& name) { return plain_name(name.get<std::string>()) == plain_name(set.name); });
}

/// The metric that a node names, checked: another than the one that is computed would be a promise.
std::string metric_of(const Json& checked, const YamlNode& node, std::string_view task_type) {
    const std::string metric = checked["metric"];
    if (!metric.empty() && metric != score_metric(task_type))
        throw settings_error("{}: {} data sets are scored by {} here, not by {}; name that, or leave metric out",
                             node.find("metric")->position().text(), task_type, score_metric(task_type), faceter::quoted(metric));
    return metric;
}

/// What the file says of a data set, without defaults.
SuiteSet set_from(const Json& checked, const YamlNode& node) {
    SuiteSet set{checked["name"], checked["mteb"],    checked["type"], checked["folders"].get<std::vector<std::string>>(),
                 checked["get"],  checked["revision"]};
    for (const std::string_view key : entry_keys)
        if (node.find(key)) set.entry[std::string(key)] = checked[std::string(key)];
    set.split = set.entry.value("split", std::string());
    set.metric = metric_of(checked, node, set.task_type);
    set.differs = checked["differs"];
    for (const Json& part : checked["parts"]) set.parts.push_back({part["get"], part["revision"]});
    return set;
}

/// What a task type's entry says, for what a data set of it does not say.
void apply_task_default(SuiteSet& set, const Json& given, const YamlNode& node) {
    for (const std::string_view key : routing_keys)
        if (node.find(key) && !set.entry.contains(key)) set.entry[std::string(key)] = given[std::string(key)];
    const std::string split = given["split"];
    if (set.split.empty() && !split.empty() && split != usual_split) set.entry["split"] = split;
    if (set.split.empty()) set.split = split;
    if (set.metric.empty()) set.metric = metric_of(given, node, set.task_type);
    if (set.differs.empty()) set.differs = given["differs"];
}

void apply_task_defaults(Suite& suite, const Json& tasks, const YamlNode* node, const fs::path& file) {
    for (const auto& [type, routing] : tasks.items()) {
        const auto known = task_types();
        if (std::find(known.begin(), known.end(), type) == known.end())
            throw settings_error("{}: unknown task type {}{}", node ? node->entry(type)->value.position().text() : file.string(),
                                 faceter::quoted(type), suggestion(type, known));
        for (SuiteSet& set : suite.sets)
            if (set.task_type == type) apply_task_default(set, routing, *node->find(type));
    }
}

Suite read(const fs::path& file, int depth);

fs::path suite_file(const std::string& name_or_file, const fs::path& beside) {
    if (name_or_file.ends_with(".yaml") || name_or_file.find('/') != std::string::npos) return beside / name_or_file;
    if (const fs::path own = beside / (name_or_file + ".yaml"); !beside.empty() && fs::is_regular_file(own)) return own;
    const std::vector<std::string> names = suite_names();
    if (std::find(names.begin(), names.end(), name_or_file) == names.end())
        throw settings_error("unknown suite {}{}; give one of these, or a file that ends in .yaml", faceter::quoted(name_or_file),
                             suggestion(name_or_file, names));
    return shared_resource("resources/suites") / (name_or_file + ".yaml");
}

/// Of the suite that this one extends; none where it extends none.
std::vector<SuiteSet> extended_sets(const std::string& extended, const fs::path& file, int depth) {
    if (extended.empty()) return {};
    if (depth >= deepest_extension)
        throw settings_error("{}: suites extend each other more than {} deep", file.string(), deepest_extension);
    return read(suite_file(extended, file.parent_path()), depth + 1).sets;
}

/// What is left out is there: a misspelt name would leave nothing out.
void check_left_out(const YamlNode& node, const Json& left_out, const std::vector<SuiteSet>& sets) {
    std::vector<std::string> known;
    for (const SuiteSet& set : sets) known.push_back(set.name);
    for (std::size_t i = 0; i < left_out.size(); ++i) {
        const std::string name = left_out[i];
        const auto is_it = [&](const std::string& other) { return plain_name(other) == plain_name(name); };
        if (std::none_of(known.begin(), known.end(), is_it))
            throw settings_error("{}: leave_out names {}, which is no data set of the suite that this one extends{}",
                                 node.find("leave_out")->items[i].position().text(), faceter::quoted(name), suggestion(name, known));
    }
}

void take_over(Suite& suite, const Json& checked, const YamlNode& node, const fs::path& file, int depth) {
    std::vector<SuiteSet> sets = extended_sets(checked["extends"], file, depth);
    check_left_out(node, checked["leave_out"], sets);
    for (SuiteSet& set : sets)
        if ((checked["types"].empty() || contains(checked["types"], set.task_type)) && !is_among(checked["leave_out"], set))
            suite.sets.push_back(std::move(set));
}

Suite read(const fs::path& file, int depth) {
    const YamlNode node = read_yaml(file.string());
    const Json checked = resolve(suite_schema(), node);
    Suite suite{checked["name"], checked["title"], checked["description"], checked["get"], {}};
    if (suite.title.empty()) suite.title = suite.name;
    take_over(suite, checked, node, file, depth);
    for (std::size_t i = 0; i < checked["datasets"].size(); ++i)
        suite.sets.push_back(set_from(checked["datasets"][i], node.find("datasets")->items[i]));
    apply_task_defaults(suite, checked["tasks"], node.find("tasks"), file);
    if (suite.sets.empty()) throw settings_error("{}: the suite has no data set", file.string());
    std::set<std::string> names;
    for (const SuiteSet& set : suite.sets)
        if (!names.insert(set.name).second)
            throw settings_error("{}: two data sets are called {}", file.string(), faceter::quoted(set.name));
    return suite;
}

const std::vector<SuiteSet>& installed_sets() {
    static const std::vector<SuiteSet> all = [] {
        std::vector<SuiteSet> sets;
        for (const std::string& name : suite_names())
            for (SuiteSet& set : find_suite(name).sets) sets.push_back(std::move(set));
        return sets;
    }();
    return all;
}

std::vector<fs::path> folders_under(const fs::path& root) {
    std::error_code error;
    if (!fs::is_directory(root, error))
        throw data_error("{}: no such folder; give the folder whose sub-folders are the data sets", root.string());
    std::vector<fs::path> folders;
    for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (it->is_directory(ignored)) folders.push_back(it->path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

/// The folders of a data root by their names, and by what is plain of these.
class NamedFolders {
  public:
    explicit NamedFolders(const fs::path& root) {
        for (const fs::path& folder : folders_under(root)) {
            const std::string name = folder.filename().string();
            exact_.emplace(name, folder);
            plain_.emplace(plain_name(name), folder);
        }
    }

    /// The one of exactly that name, else one that is called so in another writing; null where there is none.
    const fs::path* find(const std::string& name) const {
        if (const auto exact = exact_.find(name); exact != exact_.end()) return &exact->second;
        const std::string plain = plain_name(name);
        const auto alike = plain.empty() ? plain_.end() : plain_.find(plain);
        return alike == plain_.end() ? nullptr : &alike->second;
    }

    /// By its name, its name in MTEB, or a further one.
    const fs::path* of(const SuiteSet& set) const {
        std::vector<std::string> names{set.name, set.mteb};
        names.insert(names.end(), set.folders.begin(), set.folders.end());
        for (const std::string& name : names)
            if (const fs::path* folder = find(name)) return folder;
        return nullptr;
    }

  private:
    std::map<std::string, fs::path> exact_, plain_;
};

}  // namespace

std::string plain_name(std::string_view name) {
    std::string plain;
    for (const char c : lowercase_ascii(name))
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80) plain += c;
    return plain;
}

std::string_view score_metric(std::string_view task_type) {
    const auto is_it = [&](const auto& one) { return one.first == task_type; };
    const auto found = std::find_if(score_metrics.begin(), score_metrics.end(), is_it);
    return found == score_metrics.end() ? std::string_view() : found->second;
}

Suite read_suite(const fs::path& file) { return read(file, 0); }

Suite find_suite(const std::string& name_or_file) { return read_suite(suite_file(name_or_file, {})); }

std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(shared_resource("resources/suites")))
        if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

const SuiteSet* set_by_mteb_name(std::string_view mteb) {
    for (const SuiteSet& set : installed_sets())
        if (!mteb.empty() && set.mteb == mteb) return &set;
    return nullptr;
}

const SuiteSet* set_by_name(std::string_view name) {
    for (const SuiteSet& set : installed_sets()) {
        if (plain_name(set.name) == plain_name(name)) return &set;
        for (const std::string& folder : set.folders)
            if (plain_name(folder) == plain_name(name)) return &set;
    }
    return nullptr;
}

SuitePlan plan_suite(const Suite& suite, const fs::path& data_root, bool instructions) {
    const NamedFolders folders(data_root);
    SuitePlan plan;
    for (const SuiteSet& set : suite.sets) {
        const fs::path* folder = folders.of(set);
        if (!folder) {
            plan.missing.push_back(set);
            continue;
        }
        Json entry = {{"name", set.name}, {"source", "folder"}, {"path", absolute_path(*folder).string()}, {"task", set.task_type}};
        entry.update(set.entry);
        if (!instructions)
            for (const char* key : {"query_instruction", "document_instruction"}) entry.erase(key);
        plan.entries.push_back(std::move(entry));
    }
    return plan;
}

std::string describe_missing(const Suite& suite, const SuitePlan& plan, const fs::path& data_root) {
    if (plan.missing.empty()) return {};
    std::string lines = fmt::format("suite {}: {} of {} data sets are not under {}", suite.name, plan.missing.size(), suite.sets.size(),
                                    data_root.string());
    const auto with_revision = [](const std::string& get, const std::string& revision) {
        return fmt::format("{}{}", get.empty() ? "" : "get " + get,
                           revision.empty() ? "" : ", revision " + revision.substr(0, shown_revision));
    };
    for (const SuiteSet& set : plan.missing) {
        lines += fmt::format("\n  {:<30} {:<24} {}", set.name, set.task_type, with_revision(set.get, set.revision));
        for (const SuiteSet::Part& part : set.parts) lines += "\n      " + with_revision(part.get, part.revision);
    }
    if (!suite.get.empty()) lines += "\n  " + suite.get;
    return lines;
}

}  // namespace faceter
