#include "cli/plugin_command.h"

#include <algorithm>

#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "experiment/machine.h"

// faceter plugin new: a folder with a method of one's own (resources/plugin_templates).

namespace faceter::cli {
namespace {

struct NewPlugin {
    std::string name, kind, output;
};

/// As faceter_plugin() of the CMake package takes it.
bool is_plugin_id(std::string_view name) {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

/// "my_loss" is class MyLoss.
std::string class_name(std::string_view id) {
    std::string name;
    for (const std::string_view word : split(id, '_'))
        if (!word.empty()) name += static_cast<char>(word.front() >= 'a' ? word.front() - 32 : word.front()) + std::string(word.substr(1));
    return name;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
}

void require_free_name(const Catalogue& catalogue, const NewPlugin& plugin) {
    if (!is_plugin_id(plugin.name))
        throw usage_error("{} is no plugin's name: small letters, digits and '_', a letter first, such as 'my_loss'",
                          faceter::quoted(plugin.name));
    if (const Manifest* other = catalogue.plugin(plugin.name))
        throw usage_error("there is a plugin '{}' already ({}); take another name", plugin.name, other->file.string());
    for (const ExtensionKind kind : extension_kinds)
        if (const Catalogue::Entry* other = catalogue.find(kind, plugin.name))
            throw usage_error("{} '{}' is offered by '{}' already; take another name", extension_kind_name(kind), plugin.name,
                              other->plugin);
}

void write_filled(const fs::path& templates, const NewPlugin& plugin, const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(templates)) {
        const std::string file = entry.path().filename().string();
        std::string text = read_file(entry.path());
        replace_all(text, "@NAME@", plugin.name);
        replace_all(text, "@CLASS@", class_name(plugin.name));
        write_file_atomic(folder / (file == "plugin.cpp" ? plugin.name + ".cpp" : file), text);
    }
}

int write_plugin(const Cli& cli, const NewPlugin& plugin) {
    require_free_name(load_catalogue(cli), plugin);
    const fs::path templates = shared_resource("resources/plugin_templates");
    const fs::path folder = absolute_path(plugin.output.empty() ? plugin.name : plugin.output);
    make_directories(folder.parent_path());
    if (!make_directory(folder)) throw usage_error("{}: it is there already; give another folder with --output", folder.string());
    for (const std::string& part : {std::string("common"), plugin.kind}) write_filled(templates / part, plugin, folder);
    say(stdout, "{}\n", folder.string());
    say(stderr, "next: its README.md says how to build, test and use it\n");
    return 0;
}

}  // namespace

void add_plugin_commands(Cli& cli) {
    const auto plugin = std::make_shared<NewPlugin>();
    CLI::App* group = add_command_group(cli, "plugin", "Methods of one's own: new");
    CLI::App* command = add_command(cli, *group, "new", "Write a plugin's folder that builds, with an experiment and tests",
                                    "  faceter plugin new my_loss --kind objective\n"
                                    "  cmake -S my_loss -B my_loss/build -DCMAKE_PREFIX_PATH=PREFIX     # where Faceter is installed",
                                    [&cli, plugin] { return write_plugin(cli, *plugin); });
    std::vector<std::string> kinds;
    for (const ExtensionKind kind : extension_kinds) kinds.emplace_back(extension_kind_name(kind));
    command->add_option("NAME", plugin->name, "what experiments call it: small letters, digits and '_'")->required();
    command->add_option("--kind", plugin->kind, "what it is: a variant of the model, an order of batches, a loss, or an analysis of runs")
        ->required()
        ->check(CLI::IsMember(kinds))
        ->type_name("KIND");
    command->add_option("--output", plugin->output, "the folder to make (default: NAME, here)")->type_name("DIR");
    add_plugin_option(cli, *command);
}

}  // namespace faceter::cli
