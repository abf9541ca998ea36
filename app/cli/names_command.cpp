#include <set>

#include "cli/commands.h"
#include "cli/reference.h"
#include "common/error.h"
#include "common/file_name.h"
#include "common/strings.h"
#include "launch/profile.h"
#include "record/run_names.h"
#include "settings/yaml.h"

namespace faceter::cli {
namespace {

struct NamesOptions {
    std::string of = "runs", project, experiment;
};

/// The runs, and the variants that they are of, which stand for their newest run: "MoTE" of "MoTE-1".
std::vector<std::string> names_in(const Project& project) {
    const std::vector<std::string> ids = project.run_ids();
    std::vector<std::string> names = names_of_runs(project.folder(), ids);
    std::set<std::string> variants;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::size_t dash = names[i].rfind('-');
        if (dash != std::string::npos && dash > 0 && parse_int(std::string_view(names[i]).substr(dash + 1)))
            variants.insert(names[i].substr(0, dash));
        if (names[i].empty()) names[i] = ids[i];
    }
    names.insert(names.end(), variants.begin(), variants.end());
    return names;
}

/// Of a file that may be half written.
std::vector<std::string> variants_of(const fs::path& experiment) {
    const Json json = yaml_to_json(parse_yaml(read_file(experiment, 1 << 20), experiment.string()));
    std::vector<std::string> names;
    if (!json.is_object() || !json.contains("variants") || !json["variants"].is_object()) return names;
    for (const auto& [name, settings] : json["variants"].items()) names.push_back(name);
    return names;
}

std::vector<std::string> names_of(const Cli& cli, const NamesOptions& options) {
    std::vector<std::string> names;
    if (options.of == "runs") return names_in(open_project(options.project));
    if (options.of == "chapters") return manual_chapters();
    if (options.of == "variants") return options.experiment.empty() ? names : variants_of(options.experiment);
    if (options.of == "profiles") return profile_names();
    const Catalogue catalogue = load_catalogue(cli);
    if (options.of == "plugins")
        for (const Manifest& plugin : catalogue.plugins().manifests) names.push_back(plugin.id);
    if (options.of == "methods")
        for (const ExtensionKind kind : {ExtensionKind::variant, ExtensionKind::objective})
            for (std::string& name : catalogue.names(kind)) names.push_back(std::move(name));
    return names;
}

/// A line each; one that a shell would take for more is left out.
int print_names(const Cli& cli, const NamesOptions& options) {
    for (const std::string& name : names_of(cli, options))
        if (safe_file_name(name) == name) fmt::print("{}\n", name);
    return 0;
}

}  // namespace

void add_names_command(Cli& cli) {
    const auto options = std::make_shared<NamesOptions>();
    CLI::App* hidden = add_command(cli, cli.app, "names", "", "", [&cli, options] { return print_names(cli, *options); });
    hidden->group("");
    hidden->add_option("--of", options->of)->check(CLI::IsMember({"runs", "chapters", "profiles", "plugins", "methods", "variants"}));
    hidden->add_option("--experiment", options->experiment);
    add_project_option(*hidden, options->project);
    add_plugin_option(cli, *hidden);
}

}  // namespace faceter::cli
