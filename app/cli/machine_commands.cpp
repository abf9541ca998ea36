#include <algorithm>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/field_words.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "experiment/experiment_schema.h"
#include "experiment/machine.h"
#include "figure/text_width.h"
#include "launch/examine.h"
#include "record/leftovers.h"

namespace faceter::cli {
namespace {

struct MachineOptions {
    std::string name, project, profile;
    bool json = false, dry_run = false;
};

Json rejected_json(const PluginList& plugins) {
    Json list = Json::array();
    for (const RejectedPlugin& plugin : plugins.rejected) list.push_back({{"file", plugin.file.string()}, {"reason", plugin.reason}});
    return list;
}

/// What killed processes left in a project and in the cache; what is safe to remove is removed.
Json clean_project(const MachineOptions& options) {
    std::vector<Leftover> found = find_leftovers(open_project(options.project));
    for (Leftover& one : find_cache_leftovers()) found.push_back(std::move(one));
    Json list = Json::array();
    for (const Leftover& one : found) {
        const bool removed = one.removable && !options.dry_run;
        if (removed) remove_tree(one.path);
        list.push_back({{"path", one.path.string()}, {"what", one.what}, {"removable", one.removable}, {"removed", removed}});
    }
    return list;
}

void print_leftovers(const Json& leftovers) {
    for (const Json& one : leftovers) {
        const char* fate = one["removed"] ? "removed" : one["removable"] ? "can be removed" : "left";
        say(stdout, "{}: {} ({})\n", fate, one["path"].get<std::string>(), one["what"].get<std::string>());
    }
    if (leftovers.empty()) fmt::print("nothing is left over in the project\n");
}

int doctor(const Cli& cli, const MachineOptions& options) {
    Json facts = options.profile.empty() ? examine_installation(load_catalogue(cli)) : examine_through(read_profile(options.profile));
    const Json leftovers = options.project.empty() ? Json() : clean_project(options);
    if (options.json) {
        if (!options.project.empty()) facts["leftovers"] = leftovers;
        print_json(facts);
        return 0;
    }
    for (const auto& [key, value] : facts.items()) {
        if (key == "problems") continue;
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (key.ends_with("_bytes")) text = format_bytes(value.get<std::uint64_t>());
        if (value.is_array()) text = value.empty() ? "none" : join(value.get<std::vector<std::string>>(), ", ");
        std::string name = key.ends_with("_bytes") ? key.substr(0, key.size() - 6) : key;
        std::replace(name.begin(), name.end(), '_', ' ');
        say(stdout, "{:<22} {}\n", name, text.empty() ? "none" : text);
    }
    for (const Json& problem : facts["problems"]) say(stdout, "problem: {}\n", problem.get<std::string>());
    if (facts["problems"].empty()) fmt::print("all is well\n");
    if (!options.project.empty()) print_leftovers(leftovers);
    return 0;
}

void print_wrapped(const std::string& text) {
    for (const std::string& line : wrap(printable(text), terminal_columns(stdout))) fmt::print("{}\n", line);
}

void print_extension(std::string_view kind, const Extension& extension) {
    fmt::print("\n");
    print_wrapped(fmt::format("{} {}: {}", kind, extension.name, extension.summary));
    Table table;
    for (const char* name : {"setting", "default", "range", "what it is", "source"}) table.add_column(name, ColumnKind::text);
    for (const Field& field : extension.schema.fields)
        table.add_row({Cell::of(field.key), Cell::of(default_of(field)), Cell::of(range_of(field)), Cell::of(field.description),
                       Cell::of(field.source)});
    if (table.rows.empty())
        fmt::print("  no settings\n");
    else
        print_table(table, "text");
}

int show_plugin(const Catalogue& catalogue, const MachineOptions& options) {
    const Manifest* plugin = catalogue.plugin(options.name);
    if (!plugin) {
        std::vector<std::string> known;
        for (const Manifest& one : catalogue.plugins().manifests) known.push_back(one.id);
        throw usage_error("no plugin {}{}", faceter::quoted(options.name), suggestion(options.name, known));
    }
    if (options.json) {
        print_json(manifest_to_json(*plugin));
        return 0;
    }
    print_wrapped(fmt::format("{} {}: {}", plugin->id, plugin->version, plugin->summary));
    if (!plugin->citation.empty()) print_wrapped(plugin->citation);
    fmt::print("{}\n", plugin->file.string());
    const std::pair<const char*, const std::vector<Extension>*> offers[] = {{"variant", &plugin->variants},
                                                                            {"curriculum", &plugin->curricula},
                                                                            {"objective", &plugin->objectives},
                                                                            {"analysis", &plugin->analyses}};
    for (const auto& [kind, extensions] : offers)
        for (const Extension& extension : *extensions) print_extension(kind, extension);
    return 0;
}

int plugins(const Cli& cli, const MachineOptions& options) {
    const Catalogue catalogue = load_catalogue(cli);
    if (!options.name.empty()) return show_plugin(catalogue, options);
    Json list = Json::array();
    for (const ExtensionKind kind : extension_kinds)
        for (const std::string& name : catalogue.names(kind)) {
            const Catalogue::Entry& entry = *catalogue.find(kind, name);
            list.push_back(
                {{"kind", extension_kind_name(kind)}, {"method", name}, {"plugin", entry.plugin}, {"summary", entry.extension.summary}});
        }
    if (options.json) {
        print_json({{"methods", list}, {"rejected", rejected_json(catalogue.plugins())}});
        return 0;
    }
    Table table;
    for (const char* name : {"kind", "method", "plugin", "what it is"}) table.add_column(name, ColumnKind::text);
    for (const Json& row : list)
        table.add_row({Cell::of(row["kind"].get<std::string>()), Cell::of(row["method"].get<std::string>()),
                       Cell::of(row["plugin"].get<std::string>()), Cell::of(row["summary"].get<std::string>())});
    print_table(table, "text");
    for (const RejectedPlugin& plugin : catalogue.plugins().rejected)
        say(stderr, "rejected: {}: {}\n", plugin.file.string(), plugin.reason);
    return 0;
}

}  // namespace

void add_machine_commands(Cli& cli) {
    auto options = std::make_shared<MachineOptions>();
    CLI::App* examined = add_command(cli, cli.app, "doctor", "What this machine can do, or a profile's, and what is missing",
                                     "  faceter doctor\n  faceter doctor --profile gpu\n  faceter doctor --project ~/quickstart --dry-run",
                                     [&cli, options] { return doctor(cli, *options); });
    CLI::App* listed = add_command(cli, cli.app, "plugins", "Methods that experiments may name, or the settings of one plugin's",
                                   "  faceter plugins mote", [&cli, options] { return plugins(cli, *options); });
    listed->add_option("PLUGIN", options->name, "id of a plugin");
    CLI::App* schema = add_command(cli, cli.app, "schema", "JSON Schema of experiment files, for editors",
                                   "  faceter schema > experiment.schema.json", [&cli] {
                                       print_json(experiment_json_schema(load_catalogue(cli)));
                                       return 0;
                                   });
    CLI::Option* place =
        examined->add_option("--profile", options->profile, "ask a node of this profile's cluster (srun), or its other machine (ssh)")
            ->check(not_empty())
            ->type_name("NAME");
    examined->add_option("--project", options->project, "also remove what killed processes left in this project (and in the cache)")
        ->check(not_empty())
        ->excludes(place)
        ->type_name("DIR");
    examined->add_flag("--dry-run", options->dry_run, "only say what would be removed");
    for (CLI::App* command : {examined, listed}) command->add_flag("--json", options->json, "print as JSON");
    for (CLI::App* command : {examined, listed, schema}) add_plugin_option(cli, *command);
}

}  // namespace faceter::cli
