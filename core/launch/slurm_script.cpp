#include <algorithm>
#include <map>

#include "common/command.h"
#include "common/error.h"
#include "common/strings.h"
#include "experiment/machine.h"
#include "launch/examine.h"
#include "launch/slurm.h"

namespace faceter {
namespace {

/// Options of sbatch as lines of the script, or of srun as words. Values have passed the profile's patterns: none needs quotes.
class Directives {
  public:
    void add(const std::string& option, const std::string& value) {
        if (!value.empty()) words_.push_back(fmt::format("--{}={}", option, value));
    }
    void add(const std::string& option) { words_.push_back("--" + option); }
    void add(const std::string& option, const Json& value) {
        if (value.is_string()) return add(option, value.get<std::string>());
        if (value.is_number_integer()) add(option, std::to_string(value.get<std::int64_t>()));
    }
    const std::vector<std::string>& words() const { return words_; }
    std::string text() const { return "#SBATCH " + join(words_, "\n#SBATCH "); }

  private:
    std::vector<std::string> words_;
};

void add_more_options(const Json& more, Directives& directives) {
    for (const auto& [key, value] : more.items()) {
        std::string option = key;
        std::replace(option.begin(), option.end(), '_', '-');
        if (value.is_boolean()) {
            if (value.get<bool>()) directives.add(option);
        } else if (value != "NONE" && value != 0) {
            directives.add(option, value);
        }
    }
}

/// What each node gives, for how long, and where.
void add_place(const Json& settings, const Json& time, Directives& directives) {
    directives.add("cpus-per-task", settings["cpus_per_task"]);
    if (settings["gpus_per_node"] > 0) directives.add("gpus-per-node", settings["gpus_per_node"]);
    directives.add("mem", settings["memory"]);
    directives.add("time", time);
    directives.add("partition", settings["partition"]);
    directives.add("account", settings["account"]);
    add_more_options(settings["sbatch"], directives);
}

std::string directives_of(const Json& settings, const SlurmJob& job) {
    Directives directives;
    directives.add("job-name", job.name);
    const std::string at_once = settings["max_running"].is_null() ? "" : fmt::format("%{}", settings["max_running"].get<std::int64_t>());
    directives.add("array", fmt::format("0-{}{}", job.num_runs - 1, at_once));
    directives.add("requeue");
    directives.add("open-mode", std::string("append"));
    directives.add("signal", fmt::format("B:USR1@{}", settings["grace_s"].get<std::int64_t>()));
    directives.add("nodes", settings["nodes"]);
    directives.add("ntasks-per-node", settings["tasks_per_node"]);
    add_place(settings, settings["time"], directives);
    return directives.text();
}

std::string preparation_of(const Json& settings) {
    std::string lines;
    for (const auto& [name, value] : settings["environment"].items())
        lines += fmt::format("export {}={}\n", name, shell_word(value.get<std::string>()));
    for (const Json& module : settings["modules"])
        lines += fmt::format("module load {} || exit 5\n", shell_word(module.get<std::string>()));
    if (!settings["setup"].empty()) {
        lines += "set -e\n";
        for (const Json& line : settings["setup"]) lines += line.get<std::string>() + "\n";
        lines += "set +e\n";
    }
    if (!lines.empty()) lines.pop_back();
    return lines;
}

std::string container_of(const Json& settings, const SlurmJob& job) {
    const Json& container = settings["container"];
    if (container.is_null()) return "";
    std::string words = container["program"].get<std::string>() + " exec";
    if (settings["gpus_per_node"] > 0) words += " --nv";
    words += " --bind " + shell_word(job.project.string());
    for (const Json& bind : container["binds"]) words += " --bind " + shell_word(bind.get<std::string>());
    return words + " " + shell_word(container["image"].get<std::string>()) + " ";
}

struct ScriptParts {
    std::string preparation, command, end;
};

/// On one node `faceter attend` starts and watches the processes; on several, srun starts them, and attend keeps the record before and
/// after it.
ScriptParts parts_of(const Json& settings, const SlurmJob& job) {
    const std::string named = settings["faceter"].get<std::string>();
    const std::string faceter = shell_word(named.empty() ? job.faceter : named);
    ScriptParts parts{preparation_of(settings), "", ":"};
    const auto tasks = settings["tasks_per_node"].get<std::int64_t>();
    if (settings["nodes"] == 1) {
        parts.command = fmt::format("{}{} attend --ranks {} \"$run\"", container_of(settings, job), faceter, tasks);
        return parts;
    }
    const std::string worker = named.empty() ? job.worker : (fs::path(named).parent_path() / "faceter-worker").string();
    const std::string cpus =
        settings["cpus_per_task"].is_null() ? "" : fmt::format(" --cpus-per-task={}", settings["cpus_per_task"].get<std::int64_t>());
    if (!parts.preparation.empty()) parts.preparation += "\n";
    parts.preparation += fmt::format("attempt=$({} attend --begin \"$run\") || exit\nexport FACETER_ATTEMPT=$attempt", faceter);
    parts.command =
        fmt::format("srun --kill-on-bad-exit=1{} --output=\"$run/logs/$attempt/rank-%t.log\" {} run \"$run\"", cpus, shell_word(worker));
    parts.end = fmt::format("{} attend --end \"$code\" --attempt \"$attempt\" \"$run\"", faceter);
    return parts;
}

}  // namespace

std::string slurm_script(const Profile& profile, const SlurmJob& job) {
    const std::string folder = job.folder.string();
    if (std::any_of(folder.begin(), folder.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '%'; }))
        throw settings_error("{}: a path with a '%' or a control character cannot be handed to SLURM; move the project",
                             faceter::quoted(folder));
    const ScriptParts parts = parts_of(profile.settings, job);
    const std::map<std::string_view, std::string> places = {
        {"@directives@", directives_of(profile.settings, job)},
        {"@preparation@", parts.preparation},
        {"@command@ &", parts.command + " &"},
        {"@end@", parts.end},
        {"mapfile -t runs <@runs@", "mapfile -t runs <" + shell_word((job.folder / "runs").string())}};
    std::string script;
    const std::string source = read_file(shared_resource("resources/jobs/slurm.sh"), 1 << 20);
    for (const std::string_view line : split(source, '\n')) {
        const auto place = places.find(line);
        if (place == places.end())
            script += std::string(line) + "\n";
        else if (!place->second.empty())
            script += place->second + "\n";
    }
    while (script.ends_with("\n\n")) script.pop_back();
    return script;
}

std::vector<std::string> srun_command(const Profile& profile) {
    Directives directives;
    directives.add("nodes", std::string("1"));
    directives.add("ntasks", std::string("1"));
    add_place(profile.settings, Json("5"), directives);
    std::vector<std::string> words{"srun"};
    words.insert(words.end(), directives.words().begin(), directives.words().end());
    words.insert(words.end(), {"bash", "-s"});
    return words;
}

std::string examination_script(const Profile& profile) {
    const std::string named = profile.settings["faceter"].get<std::string>();
    const std::string program = named.empty() ? (program_folder() / "faceter").string() : named;
    SlurmJob here;
    here.project = fs::current_path();
    return fmt::format("exec 3>&1 >&2\n{}\nexec {}{} doctor --json </dev/null >&3\n", preparation_of(profile.settings),
                       container_of(profile.settings, here), shell_word(program));
}

std::vector<std::string> sbatch_command(const SlurmJob& job) {
    // The name stands in the script too, where SBATCH_JOB_NAME of the environment would come before it.
    return {"sbatch",
            "--parsable",
            "--job-name=" + job.name,
            "--chdir=" + job.project.string(),
            "--output=" + (job.folder / "slurm-%A_%a.out").string(),
            (job.folder / "job.sh").string()};
}

}  // namespace faceter
