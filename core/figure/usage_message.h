#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "common/strings.h"

namespace faceter {

/// The innermost command that was named on the command line.
inline const CLI::App& chosen_command(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : chosen_command(*parsed.front());
}

/// As it is typed: "stats welch".
inline std::string full_name(const CLI::App& command) {
    const CLI::App* parent = command.get_parent();
    return parent && parent->get_parent() ? full_name(*parent) + " " + command.get_name() : command.get_name();
}

/// Those of a program or group that its help lists.
inline std::vector<std::string> command_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* sub :
         command.get_subcommands([](const CLI::App* one) { return !one->get_name().empty() && !one->get_group().empty(); }))
        names.push_back(sub->get_name());
    return names;
}

inline std::vector<std::string> flag_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

/// CLI11's message for what it did not understand, with the nearest thing that it would have.
inline std::string explain(const CLI::App& command, const CLI::ParseError& error) {
    const std::vector<std::string> subcommands = command_names(command);
    for (const std::string& argument : command.remaining(true)) {
        if (argument == "--") continue;  // CLI11 counts it among what it did not understand
        const std::string flag = argument.substr(0, argument.find('='));
        if (flag.starts_with("-"))
            return fmt::format("unknown flag '{}' of {}{}", flag, full_name(command), suggestion(flag, flag_names(command)));
        if (subcommands.empty()) return fmt::format("unexpected argument {} of {}", faceter::quoted(argument), full_name(command));
        return fmt::format("unknown command {}{}", faceter::quoted(argument), suggestion(argument, subcommands));
    }
    if (error.get_name() == "RequiredError" && !subcommands.empty() && command.get_subcommands().empty())
        return fmt::format("{} is followed by one of {}", full_name(command), join(subcommands, ", "));
    return error.what();
}

/// What is wrong with a command line, and whose help says more.
inline std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = chosen_command(app);
    return fmt::format("{}; see faceter {}--help", explain(command, error), &command == &app ? "" : full_name(command) + " ");
}

}  // namespace faceter
