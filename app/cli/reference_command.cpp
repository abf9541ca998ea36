#include "cli/commands.h"
#include "cli/reference.h"
#include "common/command.h"
#include "common/error.h"
#include "common/untrusted_json.h"
#include "experiment/machine.h"
#include "figure/command_tree.h"

namespace faceter::cli {
namespace {

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

/// `ours` with what the worker says of commands that stand there as names alone, and with its commands in groups of ours.
void merge(Json& ours, const Json& workers) {
    for (const Json& command : workers.at("commands")) {
        Json* found = find_command(ours, command.at("name"));
        if (!found) continue;
        if (found->at("commands").empty()) {
            const Json summary = found->at("summary");
            *found = command;
            found->at("summary") = summary;
            continue;
        }
        for (const Json& sub : command.at("commands"))
            if (!find_command(*found, sub.at("name"))) found->at("commands").push_back(sub);
    }
}

int write_reference(const CLI::App& app, const std::string& form, const std::string& output) {
    Json tree = command_tree(app);
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
                                                  : tree.dump(1) + "\n";
    if (output.empty())
        print_document(text);
    else
        write_file_atomic(output, text);
    return 0;
}

}  // namespace

void add_reference_command(Cli& cli) {
    struct Options {
        std::string form, output;
    };
    const auto options = std::make_shared<Options>();
    CLI::App* command = add_command(cli, cli.app, "reference", "Write manual pages, or completion for bash, zsh and fish",
                                    "  faceter reference bash > ~/.local/share/bash-completion/completions/faceter\n"
                                    "  faceter reference man --output ~/.local/share/man/man1",
                                    [&cli, options] { return write_reference(cli.app, options->form, options->output); });
    command->add_option("FORM", options->form, "bash, zsh, fish, man, markdown or json")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish", "man", "markdown", "json"}));
    command->add_option("--output", options->output, "write there: a folder for man, else a file (default: standard output)")
        ->type_name("PATH");
}

}  // namespace faceter::cli
