#include "launch/profile.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "common/error.h"
#include "common/strings.h"
#include "common/user_folders.h"
#include "experiment/machine.h"
#include "settings/check.h"

namespace faceter {
namespace {

const char* const name_pattern = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}";

/// A text setting and what it must look like; an empty text means "not set" and is left alone.
struct Rule {
    const char* key;      ///< dotted
    const char* pattern;  ///< the whole text, ECMAScript
    const char* expected;
};

const std::vector<Rule>& slurm_rules() {
    static const char* const word = "[A-Za-z0-9][A-Za-z0-9._-]*";
    static const char* const words = "[A-Za-z0-9][A-Za-z0-9._,-]*";
    static const char* const plain = "a name of letters, digits, '.', '_' and '-', beginning with a letter or digit";
    static const char* const path = "an absolute path";
    static const std::vector<Rule> rules = {
        {"partition", words, "names of letters, digits, '.', '_' and '-', several with commas between"},
        {"account", word, plain},
        {"memory", "[0-9]+[KMGT]?", "a number with K, M, G or T behind it, such as 32G"},
        {"time", "[0-9]+(:[0-9]{1,2}){0,2}|[0-9]+-[0-9]{1,2}(:[0-9]{1,2}){0,2}", "minutes, hours:minutes:seconds or days-hours"},
        {"modules", "[A-Za-z0-9][A-Za-z0-9._/+-]*", "names of modules, such as cuda/13.0"},
        {"faceter", "/.*", path},
        {"container.image", "/.*", path},
        {"container.binds", "/[^:,]*(:/[^:,]*)?(:r[ow])?", "absolute paths, such as /scratch or /here:/there:ro"},
        {"sbatch.qos", word, plain},
        {"sbatch.reservation", word, plain},
        {"sbatch.constraint", "[A-Za-z0-9(\\[][A-Za-z0-9._,&|()*\\[\\]-]*", "features, such as a100 or a100|h100"},
        {"sbatch.gres", "[A-Za-z0-9][A-Za-z0-9._:,/-]*", "resources, such as gpu:a100:1"},
        {"sbatch.nodelist", "[A-Za-z0-9][A-Za-z0-9._,\\[\\]-]*", "names of nodes"},
        {"sbatch.exclude", "[A-Za-z0-9][A-Za-z0-9._,\\[\\]-]*", "names of nodes"},
        {"sbatch.licenses", "[A-Za-z0-9][A-Za-z0-9._:,@-]*", "names of licenses"},
        {"sbatch.mail_user", "[A-Za-z0-9][A-Za-z0-9._+@-]*", "an address"},
    };
    return rules;
}

const std::vector<Rule>& ssh_rules() {
    static const std::vector<Rule> rules = {
        {"host", "([A-Za-z0-9_][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9._:-]*", "a host, or user@host; it may not begin with '-'"},
        {"folder", "/.*", "an absolute path on that machine"},
        {"faceter", "/.*|[A-Za-z0-9][A-Za-z0-9._-]*", "an absolute path, or the name of a program in PATH"},
        {"profile", name_pattern, "the name of a profile on that machine"},
    };
    return rules;
}

bool has_control_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

/// Nothing in a profile is a control character: not in a name, not in a value, not in a line of the set-up.
void refuse_control_characters(const YamlNode& node, Problems& problems) {
    if (node.kind == YamlNode::Kind::scalar && has_control_character(node.text))
        problems.add(node.position(), fmt::format("{} holds a control character or more than one line", faceter::quoted(node.text)));
    for (const YamlNode& item : node.items) refuse_control_characters(item, problems);
    for (const auto& entry : node.entries) {
        if (has_control_character(entry.key))
            problems.add(entry.value.position(), fmt::format("{} holds a control character", faceter::quoted(entry.key)));
        refuse_control_characters(entry.value, problems);
    }
}

const YamlNode* find_dotted(const YamlNode& root, std::string_view key) {
    const YamlNode* node = &root;
    for (const std::string_view part : split(key, '.'))
        if (node) node = node->find(part);
    return node;
}

void check_rule(const YamlNode& node, const Rule& rule, Problems& problems) {
    for (const YamlNode& item : node.items) check_rule(item, rule, problems);
    if (node.kind != YamlNode::Kind::scalar || node.text.empty() || (!node.quoted && scalar_to_json(node).is_null())) return;
    static constexpr std::size_t longest = 4096;  // a regular expression recurses
    if (node.text.size() > longest || !std::regex_match(node.text, std::regex(rule.pattern)))
        problems.add(node.position(), fmt::format("{} is {}; expected {}", rule.key, faceter::quoted(node.text), rule.expected));
}

void check_environment(const YamlNode& root, Problems& problems) {
    const YamlNode* environment = root.find("environment");
    if (!environment) return;
    static const std::regex name("[A-Za-z_][A-Za-z0-9_]{0,99}");
    for (const auto& entry : environment->entries)
        if (!std::regex_match(entry.key, name))
            problems.add(entry.value.position(), fmt::format("environment: {} is no name of a variable; expected letters, digits and '_'",
                                                             faceter::quoted(entry.key)));
}

/// A file that others may write would let them run what they like as this user.
void check_owner(const fs::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return;  // reading it says what is wrong
    if (info.st_uid != ::getuid() && info.st_uid != 0)
        throw settings_error("{}: belongs to another user; a profile must be your own", file.string());
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        throw settings_error("{}: others may write it; remove that permission (chmod go-w {})", file.string(), file.string());
}

std::vector<Field> common_fields() {
    return {choice("kind", {"slurm", "ssh"}, "", "What the profile is for.").must(), text("description", "", "One line for lists."),
            map("environment", text("", "", "Value."), "Variables of the runs.")};
}

Schema with_common(std::string name, std::string summary, std::vector<Field> fields) {
    std::vector<Field> all = common_fields();
    for (Field& field : fields) all.push_back(std::move(field));
    return {std::move(name), std::move(summary), std::move(all)};
}

Schema container_schema() {
    return {"container",
            "Runs inside of a container.",
            {text("image", "", "The image, an absolute path.").must(),
             choice("program", {"apptainer", "singularity"}, "apptainer", "What runs it."),
             list("binds", text("", "", "A path."), "Folders that are to be seen in it besides the project.")}};
}

/// The options of sbatch that a profile may give besides its own settings; '_' stands for '-'.
Schema sbatch_schema() {
    return {"sbatch",
            "Further options of sbatch.",
            {text("qos", "", "Quality of service."), text("reservation", "", "A reservation."),
             text("constraint", "", "Features that nodes must have."), text("gres", "", "Generic resources."),
             text("nodelist", "", "Nodes to use."), text("exclude", "", "Nodes not to use."), text("licenses", "", "Licenses."),
             choice("mail_type", {"NONE", "BEGIN", "END", "FAIL", "REQUEUE", "ALL"}, "NONE", "When to send mail."),
             text("mail_user", "", "Who gets it."), integer("nice", 0, "Lowers the priority.").at_least(0).at_most(2147483645),
             boolean("exclusive", false, "Whether nodes are shared with no other job.")}};
}

}  // namespace

Schema slurm_profile_schema() {
    return with_common("slurm profile", "How runs are started by SLURM.",
                       {text("partition", "", "Partition; empty: the default one."), text("account", "", "Who is charged."),
                        text("time", "", "Time limit of an attempt: minutes, hours:minutes:seconds or days-hours; empty: the partition's."),
                        integer("grace_s", 120, "How long before the end of its time a run is told to write a checkpoint.")
                            .at_least(10)
                            .at_most(65535)
                            .in("s"),
                        integer("nodes", 1, "Nodes of a run.").at_least(1).at_most(4096),
                        integer("tasks_per_node", 1, "Processes of a run on each node; they train together.").at_least(1).at_most(1024),
                        integer("cpus_per_task", 1, "Processor cores of each process.").at_least(1).at_most(4096).optional(),
                        integer("gpus_per_node", 0, "GPUs of each node.").at_least(0).at_most(64),
                        text("memory", "", "Memory of a node, such as 32G; empty: the default."),
                        integer("max_running", 1, "Runs of one submission at the same time; null: as many as the cluster lets.")
                            .at_least(1)
                            .at_most(10000)
                            .optional(),
                        list("modules", text("", "", "A module."), "Loaded before the run."),
                        list("setup", text("", "", "A line."), "Lines of bash before the run."),
                        text("faceter", "", "The program on the nodes; empty: where it is here."),
                        section("container", container_schema(), "A container to run in.").optional(),
                        section("sbatch", sbatch_schema(), "Further options of sbatch.")});
}

Schema ssh_profile_schema() {
    return with_common(
        "ssh profile", "How runs are started on another machine.",
        {text("host", "", "Host, user@host, or a Host of the configuration of ssh.").must(),
         text("folder", "", "The project over there, made when it is missing; data paths are relative to it.").must(),
         text("faceter", "faceter", "The program there."), integer("jobs", 1, "Runs at the same time.").at_least(1).at_most(1024),
         integer("devices", 1, "Processes of a run.").at_least(1).at_most(1024),
         text("profile", "", "A SLURM profile of that machine that its runs are submitted with; empty: they run there."),
         path("config", "", "Configuration file of ssh; empty: its own.")});
}

int Profile::processes() const {
    if (kind.empty()) return 1;
    return kind == "ssh" ? settings.at("devices").get<int>() : settings.at("nodes").get<int>() * settings.at("tasks_per_node").get<int>();
}

fs::path profile_folder() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const fs::path home = home_folder();
    const fs::path root = config && *config == '/' ? fs::path(config) : (home.empty() ? fs::path("/nonexistent") : home) / ".config";
    return root / "faceter" / "profiles";
}

std::vector<std::string> profile_names() {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(profile_folder(), error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == ".yaml") names.push_back(it->path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<ProfileSummary> profile_summaries() {
    std::vector<ProfileSummary> summaries;
    for (const std::string& name : profile_names()) {
        ProfileSummary& summary = summaries.emplace_back();
        summary.name = name;
        try {
            const Profile profile = read_profile(name);
            const auto setting = [&](const char* key) { return profile.settings[key].get<std::string>(); };
            summary.kind = profile.kind;
            summary.description = setting("description");
            summary.where = profile.kind == "ssh"          ? setting("host")
                            : setting("partition").empty() ? "default partition"
                                                           : "partition " + setting("partition");
        } catch (const Error& error) {
            summary.error = error.what();
        }
    }
    return summaries;
}

Profile parse_profile(std::string_view text, const fs::path& file) {
    const YamlNode root = parse_yaml(text, file.string());
    const YamlNode* kind = root.find("kind");
    const bool ssh = kind && kind->text == "ssh";
    Problems problems;
    Profile profile;
    profile.name = file.stem().string();
    profile.file = file;
    profile.settings = check_section(ssh ? ssh_profile_schema() : slurm_profile_schema(), root, "", {{}, &problems});
    refuse_control_characters(root, problems);
    check_environment(root, problems);
    for (const Rule& rule : ssh ? ssh_rules() : slurm_rules())
        if (const YamlNode* node = find_dotted(root, rule.key)) check_rule(*node, rule, problems);
    problems.throw_if_any();
    profile.kind = profile.settings["kind"].get<std::string>();
    if (!ssh && profile.settings["nodes"] > 1 && !profile.settings["container"].is_null())
        throw settings_error("{}: a container on more than one node is not supported; give nodes: 1, or load modules instead",
                             file.string());
    return profile;
}

Profile read_profile(std::string_view name) {
    if (!std::regex_match(std::string(name.substr(0, 100)), std::regex(name_pattern)))
        throw usage_error("{} is no name of a profile; it is a file in {}, without its ending", faceter::quoted(name),
                          profile_folder().string());
    const fs::path file = profile_folder() / (std::string(name) + ".yaml");
    if (!fs::exists(file))
        throw usage_error("no profile {} in {}{}; 'faceter profile template slurm' prints one to start from", faceter::quoted(name),
                          profile_folder().string(), suggestion(name, profile_names()));
    check_owner(file);
    return parse_profile(read_file(file, YamlLimits{}.bytes), file);
}

std::string profile_template(std::string_view kind) {
    const std::vector<std::string> kinds{"slurm", "ssh"};
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
        throw usage_error("no kind of profile {}{}", faceter::quoted(kind), suggestion(kind, kinds));
    return read_file(shared_resource(fmt::format("resources/profiles/{}.yaml", kind)), 1 << 20);
}

}  // namespace faceter
