#pragma once
#include <string>
#include <string_view>

#include "checkpoint/encoder_config.h"

namespace faceter {

/// A family's config.json with the members beside the released ones that transformers' own code reads (NomicBERT: released files speak to
/// code beside them; transformers' nomic_bert has other names). Others are as they were.
Json with_native_members(const Json& config, const EncoderConfig& encoder);
/// Why transformers' own code cannot hold this encoder, as "its ..."; empty: it can. Task experts and adapters are not looked at.
/// `longest`: tokens that a text may have, also behind the trained positions.
std::string beyond_native_code(const std::string& model_type, const EncoderConfig& encoder, std::size_t longest);
/// Whether transformers' own code calls the layers of such a checkpoint otherwise than the checkpoint does: weights follow as they are
/// read, an adapter, which finds its layers by their names, does not.
bool renames_layers(const std::string& model_type);
/// Why transformers cuts texts otherwise than a folder's tokenizer.json says, as "its ..."; empty: it does not. Of every qwen2 folder
/// transformers 5 takes vocabulary and merges from the file, and the rules by which texts are normalised and split from its own
/// Qwen2Tokenizer, whatever tokenizer_config.json names.
/// `rules`: tokenizer_rules() of the file.
std::string beyond_native_tokenizer(const std::string& model_type, const Json& rules);
/// How a tokenizer.json normalises and splits texts: its members "normalizer" and "pre_tokenizer", null where it has none. Its vocabulary,
/// which may have any size, is passed over. `name` stands in front of messages. Errors (data): not JSON.
Json tokenizer_rules(std::string_view text, std::string_view name);

}  // namespace faceter
