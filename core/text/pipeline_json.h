#pragma once
#include <optional>
#include <string_view>

#include "text/pipeline.h"
#include "text/tokenizer_json.h"

namespace faceter {

/// Reads a tokenizer.json with a Unigram, BPE or WordPiece model and any of the steps that steps_json.cpp knows. What is not supported, and
/// what is broken, is a data error that names it. `name` stands in front of messages. `prefix_space` goes before what a ByteLevel that is
/// the only pre_tokenizer says of it.
PipelineSettings parse_pipeline_json(std::string_view text, std::string_view name, std::optional<bool> prefix_space = std::nullopt);

/// The steps of a tokenizer.json; Sequences are flattened.
void read_normalizers(const JsonElement& root, std::string_view name, NormalizerChain& chain);
/// True where the last step writes bytes as characters: that step is left out, the model does it (for words that it has not seen yet).
/// `prefix_space` becomes nothing where it changes nothing.
bool read_pre_tokenizers(const JsonElement& root, std::string_view name, std::vector<std::unique_ptr<PreTokenizerStep>>& steps,
                         std::optional<bool>& prefix_space);

}  // namespace faceter
