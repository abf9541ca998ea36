#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>

#include "common/progress.h"
#include "figure/text_width.h"

namespace faceter {

/// CLI11's help with descriptions, of options and commands, that go on below themselves where they would leave the terminal.
class HelpFormatter : public CLI::Formatter {
  public:
    HelpFormatter() { column_width(static_cast<std::size_t>(names_width())); }
    std::string make_option_desc(const CLI::Option* option) const override { return wrapped(option->get_description(), names_width()); }
    std::string make_subcommand(const CLI::App* command) const override {
        std::ostringstream out;
        CLI::detail::format_help(out, command->get_display_name(true), wrapped(command->get_description(), names_width()),
                                 static_cast<std::size_t>(names_width()));
        return out.str();
    }
    std::string make_description(const CLI::App* app) const override { return wrapped(app->get_description(), 0) + "\n"; }

  private:
    static constexpr int narrowest = 40;

    /// Less where the terminal is narrow: descriptions of longer names begin below them.
    static int names_width() { return std::clamp(terminal_columns(stdout) - narrowest, 12, 34); }

    static std::string wrapped(const std::string& description, int indent) {
        std::string text;
        for (const std::string& line : wrap(description, std::max(narrowest, terminal_columns(stdout) - indent)))
            text += (text.empty() ? "" : "\n") + line;
        return text;
    }
};

}  // namespace faceter
