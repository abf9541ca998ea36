#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace faceter {

/// Where the tokenizer of a folder with config.json and weights lies: there, or, where that holds no tokenizer (checkpoint-500/ of a
/// training by transformers, another layout beside a release), in the folder above if that has one.
std::filesystem::path tokenizer_home(const std::filesystem::path& encoder_folder);
/// A sentence for whoever uses a folder whose tokenizer lies in the folder above.
std::optional<std::string> remark_on_home(const std::filesystem::path& encoder_folder);
/// A sentence where tokenizer.json splits texts otherwise than the class that transformers 5 takes for the folder: that class brings steps
/// of its own (Qwen2's, GPT-2's, BERT's), and those of the file, which are followed here, are not looked at there. Ids then differ.
std::optional<std::string> remark_on_steps(const std::filesystem::path& encoder_folder);

/// Where a model keeps its tokenizer, and how it prepares a text for it: what load_tokenizer() takes.
struct TokenizerFolder {
    std::filesystem::path folder;
    bool lowercase_first = false;

    /// Needs neither weights nor configuration of the model, only the tokenizer's own files. Errors (data): modules.json is broken.
    static TokenizerFolder find(const std::filesystem::path& model);
};

}  // namespace faceter
