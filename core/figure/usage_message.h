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

/// CLI11 takes "[a,b]" apart at an option of several values, and leaves empty members of "a,,b" out. With NULs, which no argument can hold,
/// brackets and empty members stay as they were typed until take_as_typed's check takes the NULs away.
inline std::string guarded(const std::string& word) {
    std::string guarded;
    for (const char c : word) {
        if (c == ',' && (guarded.empty() || guarded.back() == ',' || guarded.back() == '=')) guarded += '\0';
        guarded += c;
    }
    if (word.ends_with(',') || word.ends_with(']')) guarded += '\0';
    return guarded;
}

inline std::string unguarded(std::string word) {
    std::erase(word, '\0');
    return word;
}

/// Before all other checks of all options.
inline void take_as_typed(CLI::App& command) {
    for (CLI::Option* option : command.get_options())
        option->transform(CLI::Validator(
            [is_list = option->get_delimiter() != '\0'](std::string& word) {
                word = unguarded(word);
                return is_list && word.empty() ? std::string("a member of the list is empty") : std::string();
            },
            ""));
    for (CLI::App* sub : command.get_subcommands([](CLI::App*) { return true; })) take_as_typed(*sub);
}

/// app.parse of the words as they were typed.
inline void parse_as_typed(CLI::App& app, int argc, char** argv) {
    take_as_typed(app);
    std::vector<std::string> words;  // the last one first
    for (int i = argc - 1; i > 0; --i) words.push_back(guarded(argv[i]));
    app.parse(std::move(words));
}

/// CLI11's message for what it did not understand, with the nearest thing that it would have.
inline std::string explain(const CLI::App& command, const CLI::ParseError& error) {
    const std::vector<std::string> subcommands = command_names(command);
    for (const std::string& word : command.remaining(true)) {
        const std::string argument = unguarded(word);
        if (argument == "--") continue;  // CLI11 counts it among what it did not understand
        const std::string flag = argument.substr(0, argument.find('='));
        if (flag.starts_with("-"))
            return fmt::format("unknown flag '{}' of {}{}", flag, full_name(command), suggestion(flag, flag_names(command)));
        if (subcommands.empty()) return fmt::format("unexpected argument {} of {}", faceter::quoted(argument), full_name(command));
        return fmt::format("unknown command {}{}", faceter::quoted(argument), suggestion(argument, subcommands));
    }
    if (error.get_name() == "RequiredError" && !subcommands.empty() && command.get_subcommands().empty())
        return fmt::format("{} is followed by one of {}", full_name(command), join(subcommands, ", "));
    return unguarded(std::string(error.what()));
}

/// What is wrong with a command line, and whose help says more.
inline std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = chosen_command(app);
    return fmt::format("{}; see faceter {}--help", explain(command, error), &command == &app ? "" : full_name(command) + " ");
}

}  // namespace faceter
