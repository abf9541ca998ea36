#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/reference.h"
#include "common/command.h"
#include "common/strings.h"

namespace faceter::cli {
namespace {

std::vector<std::string> sub_names(const Json& tree) {
    std::vector<std::string> names;
    for (const Json& sub : tree.at("commands")) names.push_back(sub.at("name"));
    return names;
}

/// What a command's arguments are chosen from, where that is written down: the forms of `reference`.
std::vector<std::string> argument_words(const Json& tree) {
    std::vector<std::string> words;
    for (const Json& option : tree.at("options"))
        if (option.at("names").empty())
            for (std::string& word : choices(option)) words.push_back(std::move(word));
    return words;
}

/// What may stand behind a command: its own commands, what its arguments may be, and its options by their long names.
std::vector<std::string> words_of(const Json& tree) {
    std::vector<std::string> words = sub_names(tree);
    for (std::string& word : argument_words(tree)) words.push_back(std::move(word));
    for (const Json& option : tree.at("options"))
        for (const std::string& name : long_names(option)) words.push_back(name);
    return words;
}

/// Whether an argument or an option's value may be the name of a run of the project; --only names runs that are not made yet.
bool takes_runs(const Json& option) {
    static const std::set<std::string> arguments{"RUN", "RUN_A", "RUN_B", "BEFORE", "AFTER", "run", "MODEL"};
    const std::string name = long_name(option);
    return name == "--baseline" || name == "--model" || arguments.contains(option.at("argument").get<std::string>());
}

/// Whether a command has such an argument.
bool is_of_runs(const Json& tree) {
    const Json& options = tree.at("options");
    return std::any_of(options.begin(), options.end(), [](const Json& option) { return option.at("names").empty() && takes_runs(option); });
}

/// What bash offers for an option's value; empty for a flag.
std::string bash_values(const Json& option) {
    const std::string value = value_name(option), words = join(choices(option), " ");
    if (value.empty()) return "";
    return !words.empty() ? words : value == "DIR" ? "-d" : takes_runs(option) ? "-r" : "-f";
}

constexpr std::string_view bash_frame = R"sh(
# Names of runs of the project that was typed, else of that of FACETER_PROJECT or this folder.
_faceter_runs() {
    local i folder project=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == --project ]] || continue
        folder=${COMP_WORDS[i+1]}
        if [[ $folder == = ]]; then folder=${COMP_WORDS[i+2]}; fi
        folder=${folder//[\\\"\']/}
        project=(--project "${folder/#\~/$HOME}")
    done
    "${COMP_WORDS[0]/#\~/$HOME}" names "${project[@]}" 2>/dev/null
}

# "-d" for a folder, "-r" for a run, "-f" for anything else that is a value, words to choose from, or nothing for what is no value.
_faceter() {
    local path= word i current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} values
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${path:+$path }${COMP_WORDS[i]}
        [[ -z $(_faceter_words "$word") ]] || path=$word
    done
    values=$(_faceter_values "$path $previous")
    if [[ -z $values && $current != -* ]] && _faceter_is_of_runs "$path"; then values=-r; fi
    COMPREPLY=()
    case $values in
        -d) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
        -r) mapfile -t COMPREPLY < <(compgen -W "$(_faceter_runs)" -- "$current") ;;
        -f) ;;
        ?*) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current") ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$(_faceter_words "$path")" -- "$current") ;;
    esac
    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then compopt -o default; fi
}
complete -F _faceter faceter
)sh";

/// A description between single quotes of zsh and fish, with what _arguments takes for its own syntax escaped.
std::string described(const std::string& text, bool zsh) {
    std::string escaped;
    for (const char c : text) {
        if (zsh && (c == '[' || c == ']' || c == ':' || c == '\\')) escaped += '\\';
        escaped += c == '\n' ? ' ' : c;
    }
    return zsh ? escaped : shell_word(escaped);
}

std::string zsh_value(const Json& option) {
    const std::string value = value_name(option);
    if (value.empty()) return "";
    const std::vector<std::string> words = choices(option);
    const std::string action = !words.empty()       ? "(" + join(words, " ") + ")"
                               : value == "DIR"     ? "_directories"
                               : takes_runs(option) ? "_faceter_runs"
                                                    : "_files";
    return fmt::format(":{}:{}", value, action);
}

std::string zsh_options(const Json& tree) {
    std::string text;
    for (const Json& option : tree.at("options"))
        for (const std::string& name : long_names(option))
            text += " \\\n            " + shell_word(fmt::format("{}{}[{}]{}", option.at("many") ? "*" : "", name,
                                                                 described(option.at("summary"), true), zsh_value(option)));
    return text;
}

std::string zsh_arguments(const Json& tree) {
    if (is_of_runs(tree)) return "run:_faceter_runs";
    const std::vector<std::string> words = argument_words(tree);
    return words.empty() ? "file:_files" : "word:(" + join(words, " ") + ")";
}

std::string zsh_commands(const Json& tree) {
    std::string text;
    for (const Json& sub : tree.at("commands"))
        text += " \\\n            " + shell_word(sub.at("name").get<std::string>() + ":" + described(sub.at("summary"), true));
    return text;
}

constexpr std::string_view fish_frame = R"sh(# made by `faceter reference fish`
function __faceter_runs
    set -l words (commandline -opc)
    set -l project
    if set -l at (contains -i -- --project $words); and test $at -lt (count $words)
        set project --project (string replace -r '^~' $HOME -- $words[(math $at + 1)])
    end
    faceter names $project 2>/dev/null
end
)sh";

/// Groups that have a command of this name: 'queue', 'profile' and 'router' have a 'list'.
std::vector<std::string> groups_with(const Json& tree, const std::string& name) {
    std::vector<std::string> groups;
    for (const Json& group : tree.at("commands")) {
        const std::vector<std::string> names = sub_names(group);
        if (std::find(names.begin(), names.end(), name) != names.end()) groups.push_back(group.at("name"));
    }
    return groups;
}

/// `tree` is that of the program.
std::string fish_condition(const std::string& path, const Json& tree) {
    if (path.empty()) return "__fish_use_subcommand";
    std::string all;
    for (const std::string_view word : split(path, ' '))
        all += fmt::format("{}__fish_seen_subcommand_from {}", all.empty() ? "" : "; and ", word);
    if (const std::vector<std::string> groups = groups_with(tree, path); !groups.empty())
        all += "; and not __fish_seen_subcommand_from " + join(groups, " ");
    return all;
}

std::string fish_option(const std::string& condition, const Json& option) {
    const std::string value = value_name(option);
    const std::vector<std::string> words = choices(option);
    const std::string wanted = value.empty()        ? ""
                               : !words.empty()     ? " -x -a " + shell_word(join(words, " "))
                               : value == "DIR"     ? " -x -a '(__fish_complete_directories)'"
                               : takes_runs(option) ? " -r -a '(__faceter_runs)'"
                                                    : " -r";
    std::string names;
    for (const std::string& name : long_names(option)) names += " -l " + name.substr(2);
    return names.empty() ? ""
                         : fmt::format("complete -c faceter -n {}{}{} -d {}\n", shell_word(condition), names, wanted,
                                       described(option.at("summary"), false));
}

}  // namespace

std::string bash_completion(const Json& tree) {
    std::string words, values, of_runs;
    for (const auto& [path, command] : all_commands(tree)) {
        words += fmt::format("        {}) echo {} ;;\n", shell_word(path), shell_word(join(words_of(command), " ")));
        if (is_of_runs(command)) of_runs += (of_runs.empty() ? "" : "|") + shell_word(path);
        for (const Json& option : command.at("options")) {
            const std::string kind = bash_values(option);
            for (const std::string& name : long_names(option))
                if (!kind.empty()) values += fmt::format("        {}) echo {} ;;\n", shell_word(path + " " + name), shell_word(kind));
        }
    }
    return fmt::format(
        "# bash completion of faceter: made by `faceter reference bash`\n_faceter_words() {{\n    case $1 in\n{}    esac\n}}\n"
        "_faceter_values() {{\n    case $1 in\n{}    esac\n}}\n_faceter_is_of_runs() {{\n    case $1 in\n        {}) ;;\n"
        "        *) return 1 ;;\n    esac\n}}{}",
        words, values, of_runs, bash_frame);
}

std::string zsh_completion(const Json& tree) {
    std::string known, cases;
    for (const ReferenceCommand& command : all_commands(tree)) {
        known += " " + shell_word(command.path);
        cases += fmt::format("        {})\n", shell_word(command.path));
        if (command.is_group())
            cases += fmt::format("            commands=({})\n            _describe command commands ;;\n", zsh_commands(command.tree));
        else
            cases += fmt::format("            _arguments -S{} \\\n            '*:{}' ;;\n", zsh_options(command.tree),
                                 zsh_arguments(command.tree));
    }
    return fmt::format(R"sh(#compdef faceter
# made by `faceter reference zsh`
_faceter_runs() {{
    local -a project runs
    local -i at=${{words[(I)--project]}}
    if (( at )); then project=(--project ${{${{(Q)words[at+1]}}/#\~/$HOME}}); fi
    runs=(${{(f)"$(faceter names $project 2>/dev/null)"}})
    compadd -a runs || _files
}}
_faceter() {{
    local -a commands known=({})
    local path_typed= next
    local -i used=1 i
    for ((i = 2; i < CURRENT; i++)); do
        next=${{path_typed:+$path_typed }}${{words[i]}}
        if (( ${{known[(Ie)$next]}} )); then path_typed=$next; used=i; fi
    done
    words=("${{(@)words[used,-1]}}")
    (( CURRENT -= used - 1 ))
    case $path_typed in
{}    esac
}}
_faceter "$@"
)sh",
                       known, cases);
}

std::string fish_completion(const Json& tree) {
    std::string text(fish_frame);
    for (const ReferenceCommand& command : all_commands(tree)) {
        const std::string condition = fish_condition(command.path, tree), names = join(sub_names(command.tree), " ");
        const std::string open =
            command.path.empty() ? condition : fmt::format("{}; and not __fish_seen_subcommand_from {}", condition, names);
        for (const Json& sub : command.tree.at("commands"))
            text += fmt::format("complete -c faceter -f -n {} -a {} -d {}\n", shell_word(open), sub.at("name").get<std::string>(),
                                described(sub.at("summary"), false));
        if (const std::string words = join(argument_words(command.tree), " "); !words.empty())
            text += fmt::format("complete -c faceter -f -n {} -a {}\n", shell_word(condition), shell_word(words));
        if (is_of_runs(command.tree)) text += fmt::format("complete -c faceter -n {} -a '(__faceter_runs)'\n", shell_word(condition));
        for (const Json& option : command.tree.at("options")) text += fish_option(condition, option);
    }
    return text;
}

}  // namespace faceter::cli
