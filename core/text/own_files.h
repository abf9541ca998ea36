#pragma once
#include <filesystem>
#include <string_view>

#include "text/pipeline.h"
#include "text/token_roles.h"

namespace faceter {

// Tokenizers from their own files, for folders without a tokenizer.json.

/// A .model file as the model that `roles` (or else the file's name) tells of uses it: XLM-R (sentencepiece.bpe.model), T5 (spiece.model),
/// Llama (tokenizer.model) or DeBERTa (spm.model). Ids are those of the sentencepiece library; special tokens in the text are text. Throws
/// a data error.
PipelineSettings read_sentencepiece_tokenizer(std::string_view bytes, const std::filesystem::path& path, const TokenRoles& roles);

/// vocab.json and merges.txt of a byte-level BPE as RoBERTa, GPT-2 or Qwen2 use them.
/// The configuration's tokens are looked for in the text. Throws a data error.
PipelineSettings read_byte_level_tokenizer(std::string_view vocabulary, std::string_view merges, const std::filesystem::path& folder,
                                           const TokenRoles& roles);

}  // namespace faceter
