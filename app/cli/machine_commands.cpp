#include "cli/commands.h"
#include "cli/doctor_command.h"
#include "cli/field_words.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "experiment/experiment_schema.h"

namespace faceter::cli {
namespace {

struct MachineOptions {
    std::string name;
    bool json = false;
};

Json rejected_json(const PluginList& plugins) {
    Json list = Json::array();
    for (const RejectedPlugin& plugin : plugins.rejected) list.push_back({{"file", plugin.file.string()}, {"reason", plugin.reason}});
    return list;
}

void print_extension(std::string_view kind, const Extension& extension) {
    fmt::print("\n");
    print_wrapped(printable(fmt::format("{} {}: {}", kind, extension.name, extension.summary)));
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
    print_wrapped(printable(fmt::format("{} {}: {}", plugin->id, plugin->version, plugin->summary)));
    if (!plugin->citation.empty()) print_wrapped(printable(plugin->citation));
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
    add_doctor_command(cli);
    CLI::App* listed = add_command(cli, cli.app, "plugins", "Methods that experiments may name, or the settings of one plugin's",
                                   "  faceter plugins mote", [&cli, options] { return plugins(cli, *options); });
    listed->add_option("PLUGIN", options->name, "id of a plugin");
    CLI::App* schema = add_command(cli, cli.app, "schema", "JSON Schema of experiment files, for editors",
                                   "  faceter schema > experiment.schema.json", [&cli] {
                                       print_json(experiment_json_schema(load_catalogue(cli)));
                                       return 0;
                                   });
    listed->add_flag("--json", options->json, "print as JSON");
    for (CLI::App* command : {listed, schema}) add_plugin_option(cli, *command);
}

}  // namespace faceter::cli
