#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "settings/yaml_edit.h"

namespace faceter::desktop {

/// What a start model's release says stands in front of texts: name -> instruction.
using Prompts = std::map<std::string, std::string>;

/// The prompts of the model that an experiment names, where it lies on this machine: a folder (relative to `base`) or a model in the
/// cache of the hub, which is not asked. None where it cannot be read.
Prompts promptsOf(const YamlNode& experiment, const std::filesystem::path& base);

/// Whether a setting is what stands in front of texts.
bool takesPrompt(const YamlPath& path);

}  // namespace faceter::desktop
