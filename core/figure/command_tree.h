#pragma once
#include <CLI/CLI.hpp>

#include "common/json.h"

namespace faceter {

/// What a command line understands, for manual pages and the completion of shells: {"name", "summary", "footer", "options": [{"names",
/// "value", "summary", "default", "required", "many"}], "commands": [...]}. An option without names is an argument; `value` is empty for
/// a flag, `default` where there is none.
inline Json command_tree(const CLI::App& command) {
    Json tree{{"name", command.get_name()}, {"summary", command.get_description()}, {"footer", command.get_footer()}};
    tree["options"] = Json::array();
    for (const CLI::Option* option : command.get_options()) {
        Json names = Json::array();
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        tree["options"].push_back({{"names", names},
                                   {"argument", option->get_positional() ? option->get_name(true) : ""},
                                   {"value", option->get_items_expected_max() > 0 ? option->get_type_name() : ""},
                                   {"summary", option->get_description()},
                                   {"default", option->get_default_str()},
                                   {"required", option->get_required()},
                                   {"many", option->get_items_expected_max() > 1}});
    }
    tree["commands"] = Json::array();
    for (const CLI::App* sub : command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
        tree["commands"].push_back(command_tree(*sub));
    return tree;
}

}  // namespace faceter
