#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "pages/compose/prompt_offers.h"
#include "settings/yaml_edit.h"

namespace faceter::desktop {

/// Something that is wrong with the experiment, at a place of its text and at a setting.
struct Problem {
    std::size_t line = 0, column = 0;  ///< from 1; 0: of the whole file
    std::string message;               ///< without the place
    YamlPath path;                     ///< of the setting; empty: of the file
};

/// What one look at the text told.
struct CheckReport {
    int revision = 0;
    std::shared_ptr<const YamlNode> tree;  ///< null: not valid YAML
    std::vector<Problem> problems;
    std::shared_ptr<const Experiment> experiment;  ///< null where there are problems
    Prompts prompts;                               ///< of the start model
};

/// What an experiment's file holds. Throws a settings error where that is no UTF-8: as a text it would not be saved as it was.
std::string readExperiment(const std::string& path);
/// Parses and checks an experiment as `faceter run` would (some milliseconds; for a background thread).
CheckReport checkText(const std::string& text, const std::filesystem::path& file, const Catalogue& catalogue, bool smoke);

}  // namespace faceter::desktop
