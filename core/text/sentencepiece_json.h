#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "text/piece_model.h"
#include "text/pipeline.h"
#include "text/sentencepiece_file.h"
#include "text/token_roles.h"

namespace faceter {

/// How a model numbers the pieces of its file and what it puts around a text.
struct SentencePieceArrangement {
    Vocabulary vocabulary;
    std::vector<std::int32_t> ids;  ///< of the file's pieces
    SpecialIds special;
};
/// As the model that `roles` (or else the file's name) tells of uses it. Errors (data): another kind of model.
SentencePieceArrangement arrange(const SentencePieceFile& file, const std::filesystem::path& path, const TokenRoles& roles);

/// The model file that load_tokenizer() takes in this folder; nothing where it takes other files.
std::optional<std::filesystem::path> lone_sentencepiece_model(const std::filesystem::path& folder);

/// The tokenizer.json of a folder that has such a model alone, as transformers converts it: the same vocabulary, the charsmap as its step
/// Precompiled, texts split at blanks first; merges of a BPE in the order of the pieces that they make. Its ids are the sentencepiece
/// library's but for texts with decomposed characters or with the names of special tokens in them. `path`: the model file. Errors (data): a
/// model that no tokenizer.json gives the ids of, with the reason.
std::string sentencepiece_tokenizer_json(const std::filesystem::path& path);

}  // namespace faceter
