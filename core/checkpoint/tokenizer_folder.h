#pragma once
#include <filesystem>

namespace faceter {

/// Where a model keeps its tokenizer, and how it prepares a text for it: what load_tokenizer() takes.
struct TokenizerFolder {
    std::filesystem::path folder;
    bool lowercase_first = false;

    /// Needs neither weights nor configuration of the model, only the tokenizer's own files. Errors (data): modules.json is broken.
    static TokenizerFolder find(const std::filesystem::path& model);
};

}  // namespace faceter
