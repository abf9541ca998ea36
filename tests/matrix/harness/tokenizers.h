#pragma once
#include "matrix/harness/rows.h"

namespace faceter::matrix {

/// What a made tokenizer says of itself, for config.json.
struct MadeTokenizer {
    std::int64_t vocab_size = 0, pad_id = 0, bos_id = 0, eos_id = 0;
};

/// Writes tokenizer.json and tokenizer_config.json for the made language (words.h) into `folder`.
MadeTokenizer write_tokenizer(const fs::path& folder, Cutting cutting);

}  // namespace faceter::matrix
