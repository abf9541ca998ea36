#include <algorithm>

#include "cli/commands.h"
#include "cli/reference.h"
#include "common/command.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/strings.h"
#include "common/untrusted_json.h"
#include "experiment/machine.h"
#include "figure/command_tree.h"

namespace faceter::cli {
namespace {

const std::string contents_page = "README";

/// The options of commands that the worker serves are known to it alone.
Json worker_tree() {
    const CommandResult result = run_command({worker_program().string(), "commands"});
    if (result.code != 0) throw failure("{} cannot say what its commands are: {}", worker_program().string(), result.complaint);
    return parse_untrusted_json(result.output);
}

Json* find_command(Json& tree, const std::string& name) {
    for (Json& sub : tree.at("commands"))
        if (sub.at("name") == name) return &sub;
    return nullptr;
}

/// What the worker says of each command that it is handed, below our summary.
void take_handed_on(Json& ours, const Json& workers, const std::vector<std::pair<std::string, std::string>>& handed_on) {
    for (const auto& [name, summary] : handed_on)
        for (const Json& command : workers.at("commands")) {
            Json* found = command.at("name") == name ? find_command(ours, name) : nullptr;
            if (!found) continue;
            *found = command;
            found->at("summary") = summary;
        }
}

/// Its own 'run', which gets a run's folder, is not the 'run' that people call.
void merge(Json& ours, const Json& workers) {
    take_handed_on(ours, workers, worker_commands());
    for (const Json& command : workers.at("commands"))
        if (command.at("name") == "data") take_handed_on(*find_command(ours, "data"), command, worker_data_commands());
}

int write_reference(const Cli& cli, const std::string& form, const std::string& output) {
    Json tree = command_tree(cli.app);
    merge(tree, worker_tree());
    if (form == "man") {
        if (output.empty()) throw usage_error("manual pages are several files: give --output DIR");
        make_directories(output);
        for (const auto& [name, page] : man_pages(tree, FACETER_VERSION)) write_file_atomic(fs::path(output) / name, page);
        return 0;
    }
    const std::string text = form == "bash"       ? bash_completion(tree)
                             : form == "zsh"      ? zsh_completion(tree)
                             : form == "fish"     ? fish_completion(tree)
                             : form == "markdown" ? markdown_reference(tree)
                             : form == "settings" ? settings_reference(load_catalogue(cli))
                                                  : tree.dump(1) + "\n";
    if (output.empty())
        print_document(text);
    else
        write_file_atomic(output, text);
    return 0;
}

/// The installation's HTML page; its Markdown where it was built without cmark-gfm.
fs::path manual_page(const std::string& chapter) {
    const std::vector<std::string> chapters = manual_chapters();
    if (std::find(chapters.begin(), chapters.end(), chapter) == chapters.end())
        throw usage_error("the manual has no chapter {}{}", faceter::quoted(chapter), suggestion(chapter, chapters));
    try {
        return shared_resource("../doc/faceter/html/" + (chapter == contents_page ? "index" : chapter) + ".html");
    } catch (const Error&) {
        return shared_resource("resources/manual") / (chapter + ".md");
    }
}

void add_manual_command(Cli& cli) {
    struct Options {
        std::string chapter = contents_page;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    CLI::App* command = add_command(cli, cli.app, "manual", "Say where the manual's pages are on this machine",
                                    "  faceter manual\n  xdg-open \"$(faceter manual first_steps)\"", [options] {
                                        const std::string page = manual_page(options->chapter).string();
                                        if (options->json)
                                            print_json({{"page", page}});
                                        else
                                            say(stdout, "{}\n", page);
                                        return 0;
                                    });
    command->add_option("CHAPTER", options->chapter, "one chapter, such as own_data (default: the contents)");
    command->add_flag("--json", options->json, "as JSON");
}

}  // namespace

std::vector<std::string> manual_chapters() {
    std::vector<std::string> chapters;
    for (const auto& entry : fs::directory_iterator(shared_resource("resources/manual")))
        if (entry.path().extension() == ".md") chapters.push_back(entry.path().stem().string());
    std::sort(chapters.begin(), chapters.end());
    return chapters;
}

void add_reference_command(Cli& cli) {
    add_manual_command(cli);
    struct Options {
        std::string form, output;
    };
    const auto options = std::make_shared<Options>();
    CLI::App* command = add_command(cli, cli.app, "reference", "Write manual pages, all settings, or completion of shells",
                                    "  faceter reference bash > ~/.local/share/bash-completion/completions/faceter\n"
                                    "  faceter reference man --output ~/.local/share/man/man1\n"
                                    "  faceter reference settings > settings.md",
                                    [&cli, options] { return write_reference(cli, options->form, options->output); });
    command->add_option("FORM", options->form, "bash, zsh, fish, man, markdown (the commands), settings (of experiments) or json")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish", "man", "markdown", "settings", "json"}));
    add_plugin_option(cli, *command);
    command->add_option("--output", options->output, "write there: a folder for man, else a file (default: standard output)")
        ->type_name("PATH");
}

}  // namespace faceter::cli
