#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

#include "text/tokenizer.h"

namespace faceter {

/// A tokenizer, and one more than the largest id of its vocabulary: without the tokens added to it.
struct LoadedTokenizer {
    std::unique_ptr<Tokenizer> tokenizer;
    std::size_t words;
};
/// load_tokenizer() with what it knows of the vocabulary.
LoadedTokenizer load_with_words(const std::filesystem::path& model_folder, bool lowercase_first);

/// The tokenizer of a model that has embeddings for `rows` ids. Tokens that its files add beyond them, for which the model was not resized,
/// stand in its vocabulary as in transformers: encode() throws a data error for a text that holds one, and vocab_size() is `rows`. Throws a
/// data error (`name`, the model's configuration, in front) where the vocabulary itself passes them, or a token that goes around every
/// text.
std::unique_ptr<Tokenizer> load_tokenizer_for(std::size_t rows, std::string_view name, const std::filesystem::path& model_folder,
                                              bool lowercase_first);

}  // namespace faceter
