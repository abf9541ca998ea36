#include "cli/reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/strings.h"

namespace faceter::cli {
namespace {

void collect(const Json& tree, const std::string& path, std::vector<ReferenceCommand>& all) {
    all.push_back({path, tree});
    for (const Json& sub : tree.at("commands")) collect(sub, path + (path.empty() ? "" : " ") + sub.at("name").get<std::string>(), all);
}

std::string upper_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
}

std::string usage(const ReferenceCommand& command) {
    std::string text = "faceter" + (command.path.empty() ? "" : " " + command.path);
    if (command.is_group()) return text + " COMMAND";
    for (const Json& option : command.tree.at("options"))
        if (option.at("required") && !long_name(option).empty()) text += " " + long_name(option) + " " + value_name(option);
    text += " [OPTION...]";
    for (const Json& option : command.tree.at("options")) {
        const std::string argument = option.at("argument").get<std::string>() + (option.at("many") ? "..." : "");
        if (long_name(option).empty() && !argument.empty()) text += option.at("required") ? " " + argument : " [" + argument + "]";
    }
    return text;
}

/// "-o, --output DIR"
std::string option_head(const Json& option) {
    if (option.at("names").empty()) return option.at("argument").get<std::string>();
    const std::string names = join(option.at("names").get<std::vector<std::string>>(), ", "), value = value_name(option);
    return value.empty() ? names : names + " " + value;
}

std::string option_text(const Json& option) {
    const std::string text = option.at("summary").get<std::string>();
    const std::vector<std::string> words = choices(option);
    const bool said = std::all_of(words.begin(), words.end(), [&](const auto& word) { return text.find(word) != std::string::npos; });
    const std::string all = said ? text : text + " (" + join(words, ", ") + ")", usual = option.at("default").get<std::string>();
    return usual.empty() || text.find("default") != std::string::npos ? all : fmt::format("{} (default: {})", all, usual);
}

/// Text for roff: backslashes, and what would be a request at the beginning of a line.
std::string roff(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\') {
            escaped += "\\e";
        } else if (c == '-') {
            escaped += "\\-";
        } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) {
            escaped += std::string("\\&") + c;
        } else {
            escaped += c;
        }
    }
    return escaped;
}

std::string roff_options(const Json& tree) {
    std::string text;
    for (const Json& option : tree.at("options"))
        text += fmt::format(".TP\n.B {}\n{}\n", roff(option_head(option)), roff(option_text(option)));
    return text;
}

/// Text of Markdown: what looks like a tag or like emphasis stays as it is written.
std::string markdown(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '<' || c == '*' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

/// The examples and what stands below them, as they are typed.
std::string roff_footer(const Json& tree) {
    const std::string footer(trim(tree.at("footer").get<std::string>()));
    return footer.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
}

std::string roff_head(const std::string& name, const std::string& version, const std::string& summary) {
    return fmt::format(".TH {} 1 \"\" \"Faceter {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", upper_case(name), version, roff(name),
                       roff(summary));
}

std::string roff_body(const ReferenceCommand& command, std::string_view level) {
    return fmt::format("{0} SYNOPSIS\n.B {1}\n{0} OPTIONS\n{2}{3}", level, roff(usage(command)), roff_options(command.tree),
                       roff_footer(command.tree));
}

std::string roff_page(const ReferenceCommand& command, const std::string& version) {
    std::string name = "faceter-" + command.path, text = roff_head(name, version, command.tree.at("summary"));
    text += command.is_group() ? "" : roff_body(command, ".SH");
    for (const ReferenceCommand& sub : all_commands(command.tree))
        if (!sub.path.empty())
            text +=
                fmt::format(".SH {}\n{}\n{}", roff(upper_case(command.path + " " + sub.path)),
                            roff(sub.tree.at("summary").get<std::string>()), roff_body({command.path + " " + sub.path, sub.tree}, ".SS"));
    return text + ".SH SEE ALSO\n.BR faceter (1)\n";
}

std::string roff_program(const Json& tree, const std::string& version) {
    std::string text = roff_head("faceter", version, "a workbench for task-specialised text embeddings");
    text += ".SH SYNOPSIS\n.B faceter\n.I COMMAND\n[OPTION...]\n.SH COMMANDS\n";
    for (const Json& sub : tree.at("commands"))
        text += fmt::format(".TP\n.BR faceter\\-{} (1)\n{}\n", roff(sub.at("name").get<std::string>()),
                            roff(sub.at("summary").get<std::string>()));
    return text + ".SH OPTIONS\n" + roff_options(tree) + ".SH NOTES" + "\n" + roff_footer(tree);
}

}  // namespace

std::vector<ReferenceCommand> all_commands(const Json& tree) {
    std::vector<ReferenceCommand> all;
    collect(tree, "", all);
    return all;
}

std::string long_name(const Json& option) {
    const auto& names = option.at("names");
    return names.empty() ? "" : names.back().get<std::string>();
}

std::vector<std::string> long_names(const Json& option) {
    std::vector<std::string> names;
    for (const Json& name : option.at("names"))
        if (name.get<std::string>().starts_with("--")) names.push_back(name);
    return names;
}

std::vector<std::string> choices(const Json& option) {
    const std::string value = option.at("value").get<std::string>();
    const std::size_t open = value.find('{'), close = value.rfind('}');
    if (open == std::string::npos || close == std::string::npos) return {};
    std::vector<std::string> words;
    for (const std::string_view word : split(std::string_view(value).substr(open + 1, close - open - 1), ',')) words.emplace_back(word);
    return words;
}

std::string value_name(const Json& option) {
    const std::string value = option.at("value").get<std::string>();
    return value.substr(0, value.find(':'));
}

std::map<std::string, std::string> man_pages(const Json& tree, const std::string& version) {
    std::map<std::string, std::string> pages{{"faceter.1", roff_program(tree, version)}};
    for (const Json& sub : tree.at("commands")) {
        const std::string name = sub.at("name").get<std::string>();
        pages[fmt::format("faceter-{}.1", name)] = roff_page({name, sub}, version);
    }
    return pages;
}

std::string markdown_reference(const Json& tree) {
    std::string text = "# Commands\n\nWhat `faceter COMMAND --help` says, on one page.\n";
    for (const ReferenceCommand& command : all_commands(tree)) {
        if (command.path.empty()) continue;
        text += fmt::format("\n## faceter {}\n\n{}.\n", command.path, markdown(command.tree.at("summary").get<std::string>()));
        if (command.is_group()) continue;
        text += fmt::format("\n    {}\n\n", usage(command));
        for (const Json& option : command.tree.at("options"))
            text += fmt::format("- `{}`: {}\n", option_head(option), markdown(option_text(option)));
        const std::string footer = command.tree.at("footer");
        for (const std::string_view line : split(trim(footer), '\n')) text += line.empty() ? "\n" : fmt::format("\n    {}", line);
        text += "\n";
    }
    return text;
}

}  // namespace faceter::cli
