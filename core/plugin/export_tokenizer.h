#pragma once
#include <optional>

#include "common/file.h"

namespace faceter {

/// Gives an exported folder that has a model of sentencepiece alone the tokenizer.json that other programs read without that library, and
/// returns that model's file; nothing where there is none to write. Errors (data): no tokenizer.json cuts a text of the export's check as
/// that model does.
std::optional<fs::path> complete_tokenizer(const fs::path& folder);

}  // namespace faceter
