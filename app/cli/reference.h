#pragma once
#include <map>
#include <string>
#include <vector>

#include "common/json.h"
#include "experiment/catalogue.h"

namespace faceter::cli {

/// A command of the tree that command_tree() gives, with how it is typed: "stats welch"; empty for the program itself.
struct ReferenceCommand {
    std::string path;
    Json tree;
    bool is_group() const { return !tree.at("commands").empty(); }
};
/// All of them, each group before its own.
std::vector<ReferenceCommand> all_commands(const Json& tree);

/// "--format" of "-f,--format"; empty for an argument.
std::string long_name(const Json& option);
/// All of them: {"--task", "--prompt-name"} of "--task,--prompt-name".
std::vector<std::string> long_names(const Json& option);
/// What stands for an option's value: {"text", "csv"} of "NAME:{text,csv}".
std::vector<std::string> choices(const Json& option);
/// "NAME" of "NAME:{text,csv}"; empty for a flag.
std::string value_name(const Json& option);

/// Manual pages of section 1: file name -> roff. One of the program, one of each of its commands.
std::map<std::string, std::string> man_pages(const Json& tree, const std::string& version);
/// The commands as a chapter of the manual.
std::string markdown_reference(const Json& tree);
/// Every setting of an experiment, and of the methods of the catalogue, as a chapter of the manual.
std::string settings_reference(const Catalogue& catalogue);
/// The chapters of the manual that is installed, in the order of the alphabet.
std::vector<std::string> manual_chapters();
/// Scripts that complete what is typed.
std::string bash_completion(const Json& tree);
std::string zsh_completion(const Json& tree);
std::string fish_completion(const Json& tree);

}  // namespace faceter::cli
