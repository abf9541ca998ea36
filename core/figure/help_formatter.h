#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "common/progress.h"
#include "figure/text_width.h"

namespace faceter {

/// CLI11's help with descriptions that go on below themselves where they would leave the terminal.
class HelpFormatter : public CLI::Formatter {
  public:
    HelpFormatter() { column_width(names_width); }
    std::string make_option_desc(const CLI::Option* option) const override {
        constexpr int narrowest = 40;
        std::string text;
        for (const std::string& line : wrap(option->get_description(), std::max(narrowest, terminal_columns(stdout) - names_width)))
            text += (text.empty() ? "" : "\n") + line;
        return text;
    }

  private:
    static constexpr int names_width = 34;
};

}  // namespace faceter
