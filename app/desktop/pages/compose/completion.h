#pragma once
#include <string>
#include <vector>

#include "pages/compose/prompt_offers.h"
#include "pages/compose/schema_guide.h"

namespace faceter::desktop {

/// What may be written at a place, with a line on each.
struct Completion {
    std::string text;    ///< what is put in
    std::string detail;  ///< "20 steps" or the first words of the description
};
struct Completions {
    std::size_t begin = 0;  ///< byte: what is replaced runs from here to the place
    std::vector<Completion> items;
};

/// Keys that are not there yet, or values: choices, true and false, methods, names of the file's own tasks and data sets, prompts of the
/// start model. `tree`: the last valid state.
Completions completeAt(std::string_view text, std::size_t byte, const SchemaGuide& guide, const YamlNode* tree,
                       const Prompts& prompts = {});

/// Type, unit, range, default and source of a setting, as a hover shows them; plain text of several lines.
std::string describeField(const Field& field);
/// "default: 32 pairs", "required", "not set".
std::string defaultText(const Field& field);

}  // namespace faceter::desktop
