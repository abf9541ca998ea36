#include <fmt/format.h>

#include <algorithm>
#include <map>

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

/// Names of what an argument or an option's value may be, as `faceter names --of` prints them; empty: of nothing that it knows. --only
/// names runs that are not made yet, by the variants of the experiment.
std::string names_for(const Json& option) {
    static const std::map<std::string, std::string> known{
        {"RUN", "runs"},       {"RUN_A", "runs"},       {"RUN_B", "runs"},      {"BEFORE", "runs"},        {"AFTER", "runs"},
        {"run", "runs"},       {"MODEL", "runs"},       {"--model", "runs"},    {"--baseline", "runs"},    {"CHAPTER", "chapters"},
        {"PLUGIN", "plugins"}, {"PROFILE", "profiles"}, {"--only", "variants"}, {"--profile", "profiles"}, {"--method", "methods"}};
    const auto found = known.find(option.at("names").empty() ? option.at("argument").get<std::string>() : long_name(option));
    return found == known.end() ? "" : found->second;
}

/// The same of a command's arguments.
std::string names_for_arguments(const Json& tree) {
    for (const Json& option : tree.at("options"))
        if (option.at("names").empty() && !names_for(option).empty()) return names_for(option);
    return "";
}

/// What bash offers for an option's value; empty for a flag.
std::string bash_values(const Json& option) {
    const std::string value = value_name(option), words = join(choices(option), " ");
    if (value.empty()) return "";
    const std::string names = names_for(option);
    return !words.empty() ? words : value == "DIR" ? "-d" : !names.empty() ? "-n " + names : "-f";
}

constexpr std::string_view bash_frame = R"sh(
# Names of a kind: runs are of the project that was typed, else of that of FACETER_PROJECT or this folder; variants of the experiment.
_faceter_names() {
    local i folder file project=() experiment=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        file=${COMP_WORDS[i]//[\\\"\']/}
        if [[ $file == *.yaml ]]; then experiment=(--experiment "${file/#\~/$HOME}"); fi
        [[ ${COMP_WORDS[i]} == --project ]] || continue
        folder=${COMP_WORDS[i+1]}
        if [[ $folder == = ]]; then folder=${COMP_WORDS[i+2]}; fi
        folder=${folder//[\\\"\']/}
        project=(--project "${folder/#\~/$HOME}")
    done
    "${COMP_WORDS[0]/#\~/$HOME}" names --of "$1" "${project[@]}" "${experiment[@]}" 2>/dev/null
}

# "-d" for a folder, "-n KIND" for names, "-f" for anything else that is a value, words to choose from, or nothing for what is no value.
_faceter() {
    local path= word i current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} values
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${path:+$path }${COMP_WORDS[i]}
        [[ -z $(_faceter_words "$word") ]] || path=$word
    done
    values=$(_faceter_values "$path $previous")
    if [[ -z $values && $current != -* ]]; then values=$(_faceter_arguments "$path"); fi
    COMPREPLY=()
    case $values in
        -d) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
        -n\ *) mapfile -t COMPREPLY < <(compgen -W "$(_faceter_names "${values#-n }")" -- "$current") ;;
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
    const std::string names = names_for(option);
    const std::string action = !words.empty()   ? "(" + join(words, " ") + ")"
                               : value == "DIR" ? "_directories"
                               : !names.empty() ? "_faceter_" + names
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
    if (const std::string names = names_for_arguments(tree); !names.empty()) return fmt::format("{0}:_faceter_{0}", names);
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
function __faceter_names
    set -l words (commandline -opc)
    set -l project
    set -l experiment
    if set -l at (contains -i -- --project $words); and test $at -lt (count $words)
        set project --project (string replace -r '^~' $HOME -- $words[(math $at + 1)])
    end
    if set -l joined (string match -- '--project=*' $words)
        set project --project (string replace -r '^--project=' '' -- $joined[-1] | string replace -r '^~' $HOME)
    end
    if set -l files (string match -- '*.yaml' $words)
        set experiment --experiment (string replace -r '^~' $HOME -- $files[-1])
    end
    faceter names --of $argv[1] $project $experiment 2>/dev/null
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
    const std::string kind = names_for(option);
    const std::string wanted = value.empty()    ? ""
                               : !words.empty() ? " -x -a " + shell_word(join(words, " "))
                               : value == "DIR" ? " -x -a '(__fish_complete_directories)'"
                               : !kind.empty()  ? fmt::format(" -r -a '(__faceter_names {})'", kind)
                                                : " -r";
    std::string names;
    for (const std::string& name : long_names(option)) names += " -l " + name.substr(2);
    return names.empty() ? ""
                         : fmt::format("complete -c faceter -n {}{}{} -d {}\n", shell_word(condition), names, wanted,
                                       described(option.at("summary"), false));
}

/// Of its commands, and what each of them takes.
constexpr std::string_view zsh_frame = R"sh(#compdef faceter
# made by `faceter reference zsh`
_faceter_names() {{
    local -a project experiment names
    local -i at=${{words[(I)--project]}} joined=${{words[(I)--project=*]}} file=${{words[(I)*.yaml]}}
    if (( at )); then project=(--project ${{${{(Q)words[at+1]}}/#\~/$HOME}}); fi
    if (( joined )); then project=(--project ${{${{(Q)words[joined]#--project=}}/#\~/$HOME}}); fi
    if (( file )); then experiment=(--experiment ${{${{(Q)words[file]}}/#\~/$HOME}}); fi
    names=(${{(f)"$(faceter names --of $1 $project $experiment 2>/dev/null)"}})
    compadd -a names || _files
}}
_faceter_runs() {{ _faceter_names runs }}
_faceter_chapters() {{ _faceter_names chapters }}
_faceter_profiles() {{ _faceter_names profiles }}
_faceter_plugins() {{ _faceter_names plugins }}
_faceter_methods() {{ _faceter_names methods }}
_faceter_variants() {{ _faceter_names variants }}
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
)sh";

}  // namespace

std::string bash_completion(const Json& tree) {
    std::string words, values, arguments;
    for (const auto& [path, command] : all_commands(tree)) {
        words += fmt::format("        {}) echo {} ;;\n", shell_word(path), shell_word(join(words_of(command), " ")));
        if (const std::string names = names_for_arguments(command); !names.empty())
            arguments += fmt::format("        {}) echo '-n {}' ;;\n", shell_word(path), names);
        for (const Json& option : command.at("options")) {
            const std::string kind = bash_values(option);
            for (const std::string& name : long_names(option))
                if (!kind.empty()) values += fmt::format("        {}) echo {} ;;\n", shell_word(path + " " + name), shell_word(kind));
        }
    }
    return fmt::format(
        "# bash completion of faceter: made by `faceter reference bash`\n_faceter_words() {{\n    case $1 in\n{}    esac\n}}\n"
        "_faceter_values() {{\n    case $1 in\n{}    esac\n}}\n_faceter_arguments() {{\n    case $1 in\n{}    esac\n}}{}",
        words, values, arguments, bash_frame);
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
    return fmt::format(zsh_frame, known, cases);
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
        if (const std::string kind = names_for_arguments(command.tree); !kind.empty())
            text += fmt::format("complete -c faceter -n {} -a '(__faceter_names {})'\n", shell_word(condition), kind);
        for (const Json& option : command.tree.at("options")) text += fish_option(condition, option);
    }
    return text;
}

}  // namespace faceter::cli
